import IsletOracle
import Testing

/// The witness of widgets judges others: what it lets pass, and what it does not.
@Suite struct WidgetWitnessTests {
    private static let at: Int64 = 1_790_000_000_000
    private static let hour: Int64 = 3_600_000
    private static let id = "01a0c453-8129-7edd-9805-20e8b4b559d9"
    private static let topic = "com.example.pizza/widget/Weather/\(id)"

    private let witness = WidgetWitness(Oracle(OracleRules(), now: at))

    private func json(_ text: String) throws -> JSON { try #require(JSON(Array(text.utf8))) }

    private func timeline(_ call: String, first date: Int64) throws -> WitnessedTimeline {
        let entries = try [date, date + Self.hour].map { try json(#"{"date":\#($0),"content":{"m":"\#(call)"}}"#) }
        return WitnessedTimeline(
            call: call, entries: entries, policy: .after(Self.at + Self.hour / 2), needsLogin: false)
    }

    private func ask(_ call: String, attempt: Int) throws {
        let frame = try json(
            """
            {"call":"\(call)","op":"widget.timeline","app":"com.example.pizza","kind":"Weather","widget":"\(Self.id)",\
            "family":"systemMedium","now":\(Self.at),"attempt":\(attempt),"within":300}
            """)
        witness.called(frame, committed: 1, run: 1, at: 0)
    }

    private func tellAdded() throws {
        let event = try json(
            """
            {"seq":1,"at":\(Self.at),"event":"widget.added","to":"loading","cause":"command","exempt":"placement",\
            "widget":{"id":"\(Self.id)","app":"com.example.pizza","kind":"Weather","family":"systemMedium",\
            "state":"loading","revision":1,"addedAt":\(Self.at),"cause":"command"}}
            """)
        witness.read(event, topic: Self.topic)
    }

    /// A timeline came, and all its entries are ahead.
    private func tellTimeline(next: String) throws {
        let event = try json(
            """
            {"seq":2,"at":\(Self.at),"event":"widget.timeline","from":"loading","to":"placeholder","cause":"provider",\
            "widget":{"id":"\(Self.id)","state":"placeholder","revision":2,"entries":2,"cause":"provider",\
            "policy":{"after":\(Self.at + Self.hour / 2)},"timelineAt":\(Self.at),"next":\(next)}}
            """)
        witness.read(event, topic: Self.topic)
    }

    private func tellEntry(of timeline: WitnessedTimeline, _ index: Int, revision: Int, at date: Int64) throws {
        let event = try json(
            """
            {"seq":\(revision),"at":\(date),"event":"widget.entry","from":"\(index == 0 ? "placeholder" : "shown")",\
            "to":"shown","cause":"entry","lateBy":0,"widget":{"id":"\(Self.id)","state":"shown","cause":"entry",\
            "revision":\(revision),"entry":\(timeline.entries[index].text),"entryIndex":\(index),\
            "next":{"at":\(Self.at + Self.hour / 2),"cause":"policy"}}}
            """)
        witness.read(event, topic: Self.topic)
    }

    @Test func aTimelineThatCameTooLateIsNotTakenForTheOneThatWasShownWhenTheStreamIsReadAgain() throws {
        let next = #"{"at":\#(Self.at + Self.hour / 4),"cause":"entry"}"#
        try tellAdded()
        try ask("late", attempt: 1)
        try ask("second", attempt: 2)
        witness.answered(try timeline("second", first: Self.at + Self.hour / 4))
        try tellTimeline(next: next)
        #expect(witness.complaint == nil)
        witness.answered(try timeline("late", first: Self.at))

        witness.forget()
        try tellAdded()
        try tellTimeline(next: next)
        #expect(witness.complaint == nil)
    }

    @Test func ofTwoTimelinesThatAreAllAheadItIsTheOneWhoseEntryIsShown() throws {
        let policy = #"{"at":\#(Self.at + Self.hour / 2),"cause":"policy"}"#
        let second = try timeline("second", first: Self.at + 2 * Self.hour)
        try tellAdded()
        try ask("late", attempt: 1)
        try ask("second", attempt: 2)
        witness.answered(try timeline("late", first: Self.at + Self.hour))
        witness.answered(second)
        try tellTimeline(next: policy)
        try tellEntry(of: second, 0, revision: 3, at: Self.at + 2 * Self.hour)
        #expect(witness.complaint == nil)
        try tellEntry(of: try timeline("late", first: Self.at + Self.hour), 1, revision: 4, at: Self.at + 3 * Self.hour)
        #expect(witness.complaint?.contains("another entry than 1") == true)
    }

    @Test func anEntryThatIsDueAndNotShownIsNoticed() throws {
        try tellAdded()
        try ask("only", attempt: 1)
        witness.answered(try timeline("only", first: Self.at))
        try tellTimeline(next: #"{"at":\#(Self.at + Self.hour),"cause":"entry"}"#)
        #expect(witness.complaint?.contains("it should show entry 0") == true)
    }
}
