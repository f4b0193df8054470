import IsletOracle
import Testing

/// The order of a Smart Stack is judged by what is known of its widgets: each lie is noticed.
@Suite struct StackOrderTests {
    private static let at: Int64 = 1_790_000_000_000
    private static let ids = (1...4).map { "01a0c453-8129-7edd-9805-20e8b4b559d\($0)" }

    private let witness = WidgetWitness(Oracle(OracleRules(), now: at))

    private func json(_ text: String) throws -> JSON { try #require(JSON(Array(text.utf8))) }

    /// Three are placed one after another.
    private func place() throws {
        for (number, id) in Self.ids.prefix(3).enumerated() {
            let event = try json(
                """
                {"seq":\(number + 1),"at":\(Self.at),"event":"widget.added","to":"loading","cause":"command",\
                "exempt":"placement","widget":{"id":"\(id)","app":"com.example.pizza","kind":"Weather",\
                "family":"systemMedium","device":"d0","state":"loading","revision":1,"addedAt":\(Self.at),\
                "cause":"command"}}
                """)
            witness.read(event, topic: "com.example.pizza/widget/Weather/\(id)")
        }
        #expect(witness.complaint == nil)
    }

    private func row(_ number: Int, _ rule: String, _ more: String = "", kind: String = "Weather") -> String {
        #"{"id":"\#(Self.ids[number])","app":"com.example.pizza","kind":"\#(kind)","rule":"\#(rule)"\#(more)}"#
    }

    private func fault(_ rows: [String], isAtRest: Bool = false) throws -> String? {
        witness.fault(
            ofStack: try rows.map { try json($0) }, known: Set(Self.ids.prefix(3)), at: Self.at + 10,
            isAtRest: isAtRest)
    }

    @Test func thoseWithoutARelevanceStandInTheOrderOfTheirPlacing() throws {
        try place()
        #expect(try fault((0...2).map { row($0, "placement") }, isAtRest: true) == nil)
        #expect(try fault([row(1, "placement"), row(0, "placement")]) != nil)
        // Of one that is another by now, nobody can say.
        #expect(try fault([row(3, "placement"), row(0, "placement")]) == nil)
    }

    @Test func theRelevanceOfEntriesComesBeforeThatOfKindsAndThatBeforePlaces() throws {
        try place()
        witness.saidRelevance("com.example.pizza", "Weather", Self.at..<Self.at + 100)
        let until = #","until":\#(Self.at + 100)"#
        let rows = [
            row(2, "entryRelevance", #","score":1"#), row(1, "entryRelevance", #","score":0.5"#),
            row(0, "widgetRelevance", until), row(3, "placement", kind: "Steps"),
        ]
        #expect(try fault(rows) == nil)
        for place in 0...2 {
            var wrong = rows
            wrong.swapAt(place, place + 1)
            #expect(try fault(wrong) != nil, "\(place)")
        }
        #expect(try fault([rows[2], row(1, "placement")]) != nil, "one of a kind is relevant, the other one is not")
    }

    @Test func aRelevanceThatNobodySaidOrThatIsOverIsNoticed() throws {
        try place()
        witness.saidRelevance("com.example.pizza", "Weather", Self.at..<Self.at + 5)
        witness.saidRelevance("com.example.pizza", "Weather", Self.at + 50..<Self.at + 60)
        #expect(try fault([row(0, "widgetRelevance", #","until":\#(Self.at + 5)"#)]) != nil)
        #expect(try fault([row(0, "widgetRelevance", #","until":\#(Self.at + 60)"#)]) != nil)
        #expect(try fault([row(0, "widgetRelevance", #","until":\#(Self.at + 90)"#)]) != nil)
        // It shows no entry, so none is relevant.
        #expect(try fault([row(0, "entryRelevance", #","score":1"#)], isAtRest: true) != nil)
        #expect(try fault([row(0, "entryRelevance")]) != nil)
        #expect(try fault([row(0, "placement", #","score":1"#)]) != nil)
    }
}
