import IsletClient
import Testing
import islet

@Suite("An entity's past")
struct EntityStoryTests {
    private func event(_ revision: Int, _ patch: String, at: Int? = nil, to: String? = nil) -> String {
        let state = to.map { #","to":"\#($0)""# } ?? ""
        return #"{"at":\#(at ?? revision * 1_000)\#(state),"activity":{"id":"i","revision":\#(revision)\#(patch)}}"#
    }

    private func story(_ events: [String], isComplete: Bool = true, now: String) throws -> EntityStory {
        EntityStory(
            try events.map { try #require(RawObject(Array($0.utf8))) }, isComplete: isComplete, noun: "activity",
            current: try #require(RawObject(Array(now.utf8))))
    }

    private let now = #"{"id":"i","key":"k","state":"stale","revision":4,"contentState":{"eta":2}}"#

    @Test("says nothing of since when it was in its state, which is the present's alone")
    func stateDate() throws {
        let present = #"{"id":"i","key":"k","state":"stale","stateAt":4000,"revision":4,"contentState":{"eta":2}}"#
        let story = try story([event(3, ""), event(4, "", to: "stale")], isComplete: false, now: present)
        for chapter in story.chapters {
            let past = story.past(chapter)
            #expect(past.members["stateAt"] == nil && !past.unknown.contains("stateAt"))
            #expect(past.members["key"]?.string == "k")
        }
    }

    @Test("is put together from its events; what was cleared is gone, and what was replaced is whole")
    func complete() throws {
        let story = try story(
            [
                event(1, #","key":"k","contentState":{"eta":9,"by":"Kim"},"staleDate":5000"#, to: "active"),
                event(2, #","contentState":{"eta":5},"staleDate":null"#, to: "active"), event(3, "", to: "active"),
                event(4, #","contentState":{"eta":2}"#, to: "stale"),
            ], now: now)
        #expect(story.isComplete)
        let second = story.past(try #require(story.chapter(revision: 2)))
        #expect(second.unknown.isEmpty && second.members["staleDate"] == nil)
        #expect(second.members["contentState"]?.description == #"{"eta":5}"# && second.members["key"]?.string == "k")
        #expect(second.members["state"]?.string == "active" && second.members["revision"]?.integer == 2)
        #expect(story.chapter(at: 999) == nil && story.chapter(at: 1_000)?.revision == 1)
        #expect(story.chapter(at: 2_999)?.revision == 2 && story.chapter(at: 9_000)?.revision == 4)
        #expect(story.chapter(revision: 5) == nil)
    }

    @Test("without its beginning: what has not changed since is known, and the rest is named, not guessed")
    func cut() throws {
        let story = try story(
            [event(3, #","relevanceScore":1"#), event(4, #","contentState":{"eta":2}"#, to: "stale")],
            isComplete: false, now: now)
        #expect(!story.isComplete)
        let third = story.past(try #require(story.chapter(revision: 3)))
        #expect(third.members["key"]?.string == "k" && third.members["relevanceScore"]?.integer == 1)
        #expect(third.unknown.contains("contentState") && !third.unknown.contains("key"))
    }

    @Test("with a hole in it: nothing is carried over the hole")
    func hole() throws {
        let story = try story(
            [event(1, #","key":"k","contentState":{"eta":9}"#), event(4, #","staleDate":5"#, to: "stale")], now: now)
        #expect(!story.isComplete)
        let last = story.past(try #require(story.chapter(revision: 4)))
        #expect(last.members["contentState"]?.description == #"{"eta":2}"#, "it is as it is now")
        let first = story.past(try #require(story.chapter(revision: 1)))
        #expect(first.members["contentState"]?.description == #"{"eta":9}"#)
    }

    @Test("of two pasts the differences are told by member, with dates as dates and texts that cannot command")
    func diff() throws {
        let story = try story(
            [
                event(1, #","contentState":{"eta":9,"by":"Kim"},"staleDate":1767225600000"#, to: "active"),
                event(2, #","contentState":{"eta":5,"note":"\u001b[2J"},"staleDate":1767225660000"#, to: "active"),
            ], now: #"{"id":"i","revision":2}"#)
        let (one, two) = (try #require(story.chapter(revision: 1)), try #require(story.chapter(revision: 2)))
        let lines = EntityDiff(story.past(one), story.past(two)).lines(style: Style(isOn: false))
        #expect(
            lines.sorted() == [
                "  contentState.eta   9 → 5", "  staleDate          2026-01-01 00:00:00 UTC → 2026-01-01 00:01:00 UTC",
                "+ contentState.note  ␛[2J", "- contentState.by    Kim",
            ])
        #expect(EntityDiff(story.past(two), story.past(two)).lines(style: Style(isOn: false)).isEmpty)
    }
}
