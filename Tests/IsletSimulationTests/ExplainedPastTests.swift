import IsletOracle
import Testing

/// What `explain` says is judged by the events: each lie is noticed.
@Suite struct ExplainedPastTests {
    private static let at: Int64 = 1_790_000_000_000

    private func json(_ text: String) throws -> JSON { try #require(JSON(Array(text.utf8))) }

    private func events() throws -> [JSON] {
        try [
            """
            {"seq":7,"at":\(Self.at),"event":"control.added","to":"loading","cause":"command","by":{"req":"a"},\
            "control":{"id":"c","state":"loading","revision":1,"cause":"command"}}
            """,
            """
            {"seq":9,"at":\(Self.at + 5),"event":"control.failed","from":"loading","to":"preview","cause":"timeout",\
            "control":{"id":"c","state":"preview","revision":2,"cause":"timeout","failure":"timedOut"}}
            """,
        ].map { try json($0) }
    }

    private static let added = """
        {"at":\(at),"rule":"apple-semantics 4.2 C2","text":"t","outcome":"applied","event":"control.added","seq":7,\
        "revision":1,"to":"loading","cause":"command","by":{"req":"a"}}
        """
    private static let failed = """
        {"at":\(at + 5),"rule":"apple-semantics 4.2 C4","text":"t","outcome":"applied","event":"control.failed",\
        "seq":9,"revision":2,"from":"loading","to":"preview","cause":"timeout","failure":"timedOut"}
        """
    private static let ignored = """
        {"at":\(at + 9),"rule":"equal configuration","text":"t","outcome":"ignored","reason":"unchanged",\
        "from":"preview","to":"preview","cause":"timeout","by":{"req":"b"}}
        """

    private func fault(_ decisions: [String]) throws -> String? {
        ExplainedPast(.control, try events()).fault(of: try decisions.map { try json($0) })
    }

    @Test func whatIsSoIsNoFault() throws {
        #expect(try fault([Self.added, Self.failed, Self.ignored]) == nil)
        #expect(try fault([]) == nil)
        // Those that are read from files say nothing of failures.
        let stored = Self.failed.replacing(#","failure":"timedOut""#, with: "")
        #expect(try fault([Self.added, stored]) == nil)
    }

    @Test(
        "a lie about an event is noticed",
        arguments: [
            ("C4", "C7"), ("\"seq\":9", "\"seq\":8"), ("\(at + 5)", "\(at + 6)"), ("preview", "shown"),
            ("\"cause\":\"timeout\"", "\"cause\":\"provider\""), ("timedOut", "threw"), ("applied", "ignored"),
            ("\"revision\":2", "\"revision\":3"), ("control.failed", "control.shown"),
            ("\"seq\":9", "\"seq\":9,\"by\":{\"req\":\"x\"}"),
        ])
    func lies(_ truth: String, _ lie: String) throws {
        #expect(try fault([Self.added, Self.failed.replacing(truth, with: lie)]) != nil)
    }

    @Test func aReasonIsThatOfItsOwnFailure() throws {
        let failed = Self.failed.replacing("timedOut", with: "threw")
        let event = try events()[1].text.replacing("\"timedOut\"", with: "\"threw\",\"failureReason\":\"db down\"")
        func fault(_ decisions: String...) throws -> String? {
            ExplainedPast(.control, [try events()[0], try json(event)]).fault(of: try decisions.map { try json($0) })
        }
        let told = failed.replacing("\"threw\"", with: "\"threw\",\"failureReason\":\"db down\"")
        #expect(try fault(Self.added, told) == nil)
        #expect(try fault(Self.added, failed) == nil, "those that memory has no event of any more do not say")
        #expect(try fault(Self.added, told.replacing("db down", with: "db up")) != nil)
        let early = Self.added.replacing("\"revision\":1", with: "\"revision\":1,\"failureReason\":\"db down\"")
        #expect(try fault(early, told) != nil, "nothing had failed")
    }

    @Test(
        "a lie about what did nothing is noticed",
        arguments: [
            ("\"to\":\"preview\"", "\"to\":\"shown\""), ("\"cause\":\"timeout\"", "\"cause\":\"provider\""),
            ("\"reason\":\"unchanged\",", ""), ("\(at + 9)", "\(at + 4)"),
            ("\"outcome\":\"ignored\",\"reason\":\"unchanged\"", "\"outcome\":\"applied\""),
        ])
    func liesWithoutAnEvent(_ truth: String, _ lie: String) throws {
        #expect(try fault([Self.added, Self.failed, Self.ignored.replacing(truth, with: lie)]) != nil)
    }

    @Test func whatIsLeftOutIsNoticed() throws {
        #expect(try fault([Self.added]) != nil)
        #expect(try fault([Self.failed, Self.added]) != nil)
        let past = ExplainedPast(.control, try events())
        #expect(past.leftOut(by: [try json(Self.failed)]) == 1)
        #expect(past.leftOut(by: [try json(Self.ignored)]) == 2)
        #expect(past.leftOut(by: [try json(Self.added), try json(Self.failed)]) == 0)
    }

    @Test func whatALockHidesOfThePastIsWhatTellsOfTheContent() throws {
        let event = try json(
            """
            {"seq":1,"interaction":{"kind":"K"},\
            "control":{"id":"c","revision":3,"value":true,"tint":null,"state":"shown"}}
            """)
        let hidden = try json(#"{"seq":1,"control":{"id":"c","revision":3,"tint":null,"state":"shown"}}"#)
        #expect(WitnessedControl.withoutContent(event) == hidden)
    }
}
