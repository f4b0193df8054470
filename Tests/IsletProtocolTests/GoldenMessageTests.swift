import IsletCore
import IsletProtocol
import Testing

@Suite("Golden messages of the service")
struct GoldenMessageTests {
    private static let me = #""client":"0198c0de-0000-7000-8000-00000000c11e""#
    private static let first = #""app":"com.example.pizza","key":"order-1042","device":"phone-7""#

    /// A morning in which everything happens that an activity can meet.
    private static func morning() -> GoldenScenario {
        var rules = RuleSet.standard
        rules.heartbeatStaleAfter = 3_600_000
        rules.maximumPerApp = 1
        var it = GoldenScenario(rules: rules)
        let date = GoldenScenario.begin.milliseconds
        it.send(
            """
            {"op":"activity.start","req":"c7-1",\(me),\(first),"type":"Delivery","attributes":{"order":1042},\
            "contentState":{"eta":12,"stage":"oven"},"staleDate":\(date + 600_000),"relevanceScore":12.5,\
            "pushType":"token"}
            """)
        it.send(
            after: 60_000,
            #"{"op":"activity.update","req":"c7-2",\#(me),\#(first),"contentState":{"eta":7},"staleDate":"#
                + #"\#(date + 300_000),"relevanceScore":12.5,"alert":{"title":"Nearly there","body":"Seven minutes"}}"#)
        it.send(
            after: 1_000,
            #"{"op":"activity.update","req":"c7-3",\#(first),"contentState":{"eta":7},"staleDate":"#
                + #"\#(date + 300_000),"relevanceScore":12.5}"#)
        it.send(
            after: 1_000,
            #"{"op":"activity.update","req":"c7-4",\#(first),"contentState":{"eta":9},"timestamp":"#
                + #"\#(date + 1_000)}"#)
        it.send(
            after: 300_000, #"{"op":"activity.update","req":"c7-5",\#(first),"contentState":{"eta":2},"source":"push"}"#
        )
        it.send(#"{"op":"activity.update","req":"c7-6",\#(first),"contentState":{"eta":1},"ifRevision":3}"#)
        it.send(#"{"op":"activity.start","req":"c7-7",\#(first),"type":"Delivery","attributes":{},"contentState":{}}"#)
        it.send(#"{"op":"activity.get","req":"c7-8",\#(first)}"#)
        it.send(
            after: 1_000,
            #"{"op":"activity.end","req":"c7-9",\#(first),"contentState":{"eta":0},"dismissalPolicy":{"after":"#
                + #"\#(date + 1_000_000)}}"#)
        it.send(#"{"op":"activity.update","req":"c7-10",\#(first),"contentState":{"eta":5}}"#)
        it.wait(1_000_000)
        it.send(#"{"op":"activity.explain","req":"c7-11",\#(first)}"#)
        // A scheduled one that is renewed, falls silent, and meets the end of its 8 hours.
        let second = #""app":"com.example.pizza","key":"order-1043""#
        let later = date + 3_600_000
        it.send(
            #"{"op":"activity.start","req":"c8-1",\#(second),"type":"Delivery","attributes":{"order":1043},"#
                + #""contentState":{"eta":40},"startDate":\#(later),"alert":{"title":"It begins"}}"#)
        it.send(#"{"op":"activity.update","req":"c8-2",\#(second),"contentState":{"eta":35}}"#)
        it.wait(3 * 3_600_000)
        it.send(#"{"op":"activity.heartbeat","req":"c8-3",\#(second)}"#)
        it.send(#"{"op":"activity.renew","req":"c8-4",\#(second),"contentState":{"eta":20}}"#)
        it.wait(13 * 3_600_000)
        // Ways to go at once.
        for (number, ending) in [
            #""op":"activity.end","dismissalPolicy":"immediate""#, #""op":"activity.dismiss","by":"person""#,
            #""op":"activity.end","dismissalPolicy":"immediate","source":"push""#,
        ].enumerated() {
            let key = #""app":"com.example.pizza","key":"order-\#(2000 + number)""#
            it.send(
                #"{"op":"activity.start",\#(key),"type":"Delivery","attributes":{},"contentState":{},"#
                    + #""staleDate":\#(date + 600_000),"style":"transient"}"#)
            it.send("{\(ending),\(key)}")
        }
        it.send(#"{"op":"activity.get","req":"c9-1","app":"com.example.pizza","key":"order-9999"}"#)
        it.send(#"{"op":"activity.get","req":"c9-2","app":"com.example.pizza","key":"order-1043","staleDate":1}"#)
        it.send(#"{"op":"activity.explode","req":"c9-3"}"#)
        it.send(#"{"op":"activity.end","req":"c9-4","app":"com.example.pizza","key":"k","timestamp":1763700600}"#)
        it.send(#"{"op":"activity.end","req":"c9-5","app":"com.example.pizza"}"#)
        it.send(#"{"op":"activity.end","req":5,"app":"com.example.pizza"}"#)
        it.send("{")
        it.send(
            #"{"op":"activity.start","req":"c9-6","app":"com.example.pizza","type":"Delivery","attributes":{"text":""#
                + String(repeating: "x", count: 4_200) + #""},"contentState":{}}"#)
        for number in 7...8 {
            it.send(
                #"{"op":"activity.start","req":"c9-\#(number)","app":"com.example.pizza","device":"phone-8","#
                    + #""type":"Delivery","attributes":{},"contentState":{}}"#)
        }
        return it
    }

    @Test("events are written exactly as their examples show them")
    func events() throws {
        let it = Self.morning()
        for name in Set(it.events.map(\.name)).sorted() {
            try compare(it.events.filter { $0.name == name }.map(\.json), with: "good/events/\(name).jsonl")
        }
        #expect(Set(it.events.map(\.name)).count == 6, "every event happens")
    }

    @Test("answers are written exactly as their examples show them")
    func answers() throws {
        let it = Self.morning()
        let explanations = it.answers.filter { $0.contains(#""decisions":"#) }
        let entities = it.answers.filter { $0.contains(#""attributes":"#) && !explanations.contains($0) }
        let errors = it.answers.filter { $0.contains(#""ok":false"#) }
        let changes = it.answers.filter { $0.contains(#""outcome":"#) && !explanations.contains($0) }
        #expect(explanations.count + entities.count + errors.count + changes.count == it.answers.count)
        try compare(explanations, with: "good/answers/explain.jsonl")
        try compare(entities, with: "good/answers/get.jsonl")
        try compare(errors + GoldenControlTests.refusals + GoldenWidgetTests.refusals, with: "good/answers/error.jsonl")
        // Those about controls, which follow, are the server's; the end-to-end tests hold them against the schema.
        try compare(changes, with: "good/answers/change.jsonl", isBeginning: true)
    }

    @Test("a watermark is written exactly as its examples show it")
    func watermarks() throws {
        let it = Self.morning()
        try compare(
            [it.watermark(isClosing: false), it.watermark(isClosing: true)], with: "good/stream/watermark.jsonl")
    }

    /// Compares line by line; a difference is shown with what was written, so that an example can be made of it.
    private func compare(_ written: [String], with path: String, isBeginning: Bool = false) throws {
        let expected = (try? GoldenFiles.lines(path))?.map { String(decoding: $0, as: UTF8.self) } ?? []
        for (index, line) in written.enumerated() where index >= expected.count || expected[index] != line {
            Issue.record("GOLDEN\(path)\t\(line)")
        }
        #expect(written.count == expected.count || isBeginning && written.count < expected.count, "\(path)")
    }
}
