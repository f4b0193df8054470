import IsletClient
import Testing
import islet

@Suite("The past of several apps")
struct PastMergeTests {
    private func event(_ app: String, _ seq: Int, at: Int) throws -> StreamEvent {
        let json = #"{"epoch":"e","seq":\#(seq),"at":\#(at),"event":"x","activity":{"id":"i","revision":1}}"#
        return try #require(StreamEvent(topic: "\(app)/activity/T/i", bytes: Array(json.utf8)))
    }

    private func told(_ events: [StreamEvent]) -> [String] { events.map { "\($0.app)\($0.seq)" } }

    @Test("is told by date, whichever comes first, and what happens later follows")
    func order() throws {
        var merge = PastMerge(["a": 3, "b": 2])
        #expect(try merge.take(event("a", 1, at: 10)).isEmpty)
        #expect(try merge.take(event("a", 2, at: 30)).isEmpty)
        #expect(try told(merge.take(event("b", 1, at: 20))) == ["a1", "b1"])
        #expect(try merge.take(event("a", 3, at: 40)).isEmpty)
        #expect(try merge.take(event("a", 4, at: 60)).isEmpty)
        #expect(try told(merge.take(event("b", 2, at: 50))) == ["a2", "a3", "b2", "a4"])
        #expect(try told(merge.take(event("a", 5, at: 55))) == ["a5"])
    }

    @Test("that is cut, or longer than there is room for, keeps nothing back")
    func cut() throws {
        var merge = PastMerge(["a": 3, "b": 2])
        _ = try merge.take(event("a", 3, at: 10))
        #expect(told(merge.giveUp("b")) == ["a3"])
        #expect(merge.giveUp("b").isEmpty)
        var small = PastMerge(["a": 9, "b": 9], countMax: 2)
        _ = try small.take(event("a", 1, at: 10))
        _ = try small.take(event("a", 2, at: 20))
        #expect(try told(small.take(event("a", 3, at: 30))) == ["a1", "a2", "a3"])
    }

    @Test("of one app alone is in order")
    func one() throws {
        var merge = PastMerge(["a": 3])
        #expect(try told(merge.take(event("a", 1, at: 10))) == ["a1"])
    }
}
