import IsletClient
import Testing
import islet

private let id = RecordedSample.id
private let other = RecordedSample.other

@Suite("A recording that begins with a snapshot")
struct RecordedSnapshotTests {
    private let now = RecordedSample.now

    private func header(_ seq: Int = 5, prefix: String = "") -> String {
        #"{"recording":1,"at":\#(now),"apps":{"com.a":{"epoch":"e","seq":\#(seq)}}"#
            + (prefix.isEmpty ? "" : #","prefix":"\#(prefix)""#) + #","ruleSet":{}}"#
    }

    private func row(_ id: String, state: String = "active", revision: Int = 3, _ more: String = "") -> String {
        #"{"topic":"com.a/activity/Ride/\#(id)","row":{"activity":{"id":"\#(id)","app":"com.a","type":"Ride","#
            + #""key":"k","state":"\#(state)","revision":\#(revision),"attributes":{"n": 1},"contentState":{"eta":12},"#
            + #""relevanceScore":0,"style":"standard"\#(more.isEmpty ? "" : "," + more)}},"seq":6}"#
    }

    private func end(_ rows: [(id: String, revision: UInt64)], seq: Int = 6) -> String {
        let digest = rows.reduce(0) { $0 ^ Entity.digest(of: "com.a/activity/Ride/\($1.id)", revision: $1.revision) }
        let digits = String(digest, radix: 16)
        return #"{"snapshotEnd":{"com.a":{"seq":\#(seq),"entities":\#(rows.count),"digest":""#
            + String(repeating: "0", count: 16 - digits.count) + digits + #""}}}"#
    }

    private func update(_ seq: Int, _ id: String, revision: Int, _ more: String = "", at: Int64 = 9) -> String {
        #"{"topic":"com.a/activity/Ride/\#(id)","event":{"epoch":"e","seq":\#(seq),"at":\#(now + at),"#
            + #""event":"activity.updated","from":"active","to":"active","cause":"command","#
            + #""activity":{"id":"\#(id)","revision":\#(revision),"contentState":{"eta":1}\#(more)}}}"#
    }

    private func sample(_ lines: [String]) throws -> RecordedSample {
        var sample = RecordedSample()
        for line in lines { try sample.take(line) }
        sample.finish()
        return sample
    }

    @Test("Its entities begin when it was taken, and events change them")
    func wholeLife() throws {
        let sample = try sample([
            header(), row(id, #""staleDate":1767225660000"#), end([(id, 3)]), update(7, id, revision: 4),
        ])
        #expect(sample.recording.lack == nil && sample.recording.rows == 1 && sample.recording.count == 2)
        #expect(sample.recording.beginning == now)
        #expect(sample.recording.gaps.isEmpty)
        #expect(
            sample.verdicts.map(RecordedSample.text) == [
                #"activity.start {"app":"com.a","id":"\#(id)","type":"Ride","attributes":{"n": 1},"#
                    + #""contentState":{"eta":12},"staleDate":1767225660000,"key":"k"}"#,
                #"activity.update {"app":"com.a","id":"\#(id)","contentState":{"eta":1},"staleDate":1767225660000}"#,
            ])
    }

    @Test("What it has already is left out, and what is missing behind it is a gap")
    func borders() throws {
        let lines = [header(), row(id), end([(id, 3)])]
        let sample = try sample(lines + [update(6, id, revision: 3), update(9, id, revision: 4)])
        #expect(sample.recording.repeated == 1 && sample.recording.count == 2)
        #expect(sample.recording.gaps.map { "\($0.app) \($0.first) \($0.last)" } == ["com.a 7 8"])
        let part = [header(prefix: "com.a/activity/Ride/")] + lines.dropFirst()
        #expect(try self.sample(part + [update(9, id, revision: 4)]).recording.gaps.isEmpty)
        let app = [header(prefix: "com.a/")] + lines.dropFirst()
        #expect(try self.sample(app + [update(9, id, revision: 4)]).recording.gaps.count == 1)
    }

    @Test("Ended ones come first, and end, so that another one may have their key")
    func ended() throws {
        let sample = try sample([
            header(), row(id), row(other, state: "ended", #""endedAt":1767225500000,"dismissAt":1767229100000"#),
            end([(id, 3), (other, 3)]),
        ])
        let texts = sample.verdicts.map(RecordedSample.text)
        #expect(
            texts.first?.hasSuffix(
                #"activity.end {"app":"com.a","id":"\#(other)","dismissalPolicy":{"after":1767229100000}}"#) == true)
        #expect(texts.last?.hasPrefix(#"activity.start {"app":"com.a","id":"\#(id)""#) == true)
        guard case .send(let commands) = sample.verdicts[0] else { Issue.record("nothing is sent"); return }
        #expect(commands.map(\.isPreparation) == [true, false])
    }

    @Test("One that waits for its date is scheduled, and one that has begun is not")
    func scheduled() throws {
        let date = #""startDate":1767225700000"#
        let pending = try sample([header(), row(id, state: "pending", date), end([(id, 3)])])
        #expect(pending.last.hasSuffix(#""startDate":1767225700000,"alert":{}}"#))
        let begun = try sample([header(), row(id, date), end([(id, 3)])])
        #expect(!begun.last.contains("startDate"))
    }

    @Test("What counts from a start is done by a command where it would come later")
    func activeLimit() throws {
        let ended =
            #"{"topic":"com.a/activity/Ride/\#(id)","event":{"epoch":"e","seq":7,"at":\#(now + 9),"#
            + #""event":"activity.ended","from":"active","to":"ended","cause":"activeLimit","#
            + #""activity":{"id":"\#(id)","revision":4,"state":"ended","endedAt":\#(now + 9),"#
            + #""dismissAt":\#(now + 99)}}}"#
        let sample = try sample([header(), row(id), end([(id, 3)]), ended])
        #expect(
            sample.last
                == #"activity.end {"app":"com.a","id":"\#(id)","dismissalPolicy":{"after":\#(now + 99)}}"#)
    }

    @Test("A timestamp of before the snapshot is not sent: there nothing is that old")
    func timestamps() throws {
        let old = try sample([
            header(), row(id), end([(id, 3)]), update(7, id, revision: 4, #","timestamp":\#(now - 1)"#),
        ])
        #expect(!old.last.contains("timestamp"))
        let new = try sample([
            header(), row(id), end([(id, 3)]), update(7, id, revision: 4, #","timestamp":\#(now + 1)"#),
        ])
        #expect(new.last.contains(#""timestamp":\#(now + 1)"#))
    }

    @Test("One that is cut says so, also where lines are missing in its middle")
    func cut() throws {
        #expect(try sample([header(), row(id)]).recording.lack?.contains("ends within it") == true)
        let less = try sample([header(), row(id), end([(id, 3), (other, 3)])])
        #expect(less.recording.lack?.contains("1 of 2 entities") == true)
        let changed = try sample([header(), row(id, revision: 4), end([(id, 3)])])
        #expect(changed.recording.lack != nil)
        #expect(try sample([header(), end([])]).recording.lack == nil)
        var sample = RecordedSample()
        try sample.take(header())
        try sample.take(#"{"topic":"com.a/acti"#, isCut: true)
        sample.finish()
        #expect(sample.recording.lack != nil && sample.recording.cutLine == 2)
    }

    @Test("Lines that stand elsewhere are refused")
    func misplaced() throws {
        func error(_ lines: [String]) -> RecordingError? {
            #expect(throws: RecordingError.self) { try sample(lines) }
        }
        #expect(error([header(), end([]), header()]) == .misplaced(line: 3))
        #expect(error([row(id)]) == .misplaced(line: 1))
        #expect(error([header(), end([]), row(id)]) == .misplaced(line: 3))
        #expect(error([end([])]) == .misplaced(line: 1))
        #expect(error([update(7, id, revision: 4), header()]) == .misplaced(line: 2))
        #expect(error([#"{"recording":2}"#]) == .laterForm(line: 1))
        #expect(error([#"{"recording":1}"#]) == .notAnEvent(line: 1))
        #expect(error([header(), #"{"topic":"com.b/activity/Ride/x","row":{"activity":{"revision":1}},"seq":1}"#])
            == .notAnEvent(line: 2))
        #expect(error([header(), #"{"topic":"com.a/activity/Ride/x","row":{"control":{"revision":1}},"seq":1}"#])
            == .notAnEvent(line: 2))
    }

    @Test("A group that another app owns later was removed and made again")
    func owners() throws {
        func set(_ owner: String, _ seq: Int, by: String) -> String {
            #"{"topic":"\#(owner)/group/g/k","event":{"epoch":"e","seq":\#(seq),"at":\#(now),"event":"group.set","#
                + #""group":{"group":"g","key":"k","revision":\#(seq),"value":\#(seq),"by":"\#(by)"}}}"#
        }
        let sample = try sample([
            set("com.a", 1, by: "com.b"), set("com.b", 2, by: "com.b"), set("com.b", 3, by: "com.a"),
        ])
        let texts = sample.verdicts.map(RecordedSample.text)
        #expect(
            texts[1].hasPrefix(
                #"group.remove {"app":"com.a","group":"g"}; group.create {"app":"com.b","group":"g"}; group.set "#))
        #expect(texts[2].hasPrefix(#"group.admit {"app":"com.b","group":"g","member":"com.a"}; group.set "#))
    }
}
