import IsletCore
import IsletProtocol
import Testing

@Suite("Golden messages about widgets")
struct GoldenWidgetTests {
    private static let me = #""client":"0198c0de-0000-7000-8000-00000000c11e""#
    private static let weather = #""app":"com.example.weather""#
    private static let provider = #""provider":"0198c0de-0000-7000-8000-0000000000f2""#
    private static let forecast = "0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11"
    private static let clock = "0198c0de-2c00-7a3e-9f21-3b5c8d7e0a12"
    private static let gone = "0198c0de-2c00-7a3e-9f21-3b5c8d7e0a13"
    private static let begin = GoldenScenario.begin.milliseconds

    private static func address(_ id: String) -> String { #"\#(weather),"id":"\#(id)""# }
    private static func at(_ span: Milliseconds) -> String { "\(begin + span)" }
    /// The answer to a call for a timeline of one entry.
    private static func answer(_ call: Int, at span: Milliseconds, policy: String = "never") -> String {
        #"{"op":"provider.answer",\#(provider),"call":"\#(call)","entries":[{"date":\#(at(span))}],"#
            + #""policy":"\#(policy)"}"#
    }

    /// A day in which everything happens that a widget can meet.
    private static func day() -> GoldenWidgets {
        var rules = RuleSet.standard
        // So that a reload is held for want of budget.
        rules.widgetLearningBudget = 3
        var it = GoldenWidgets(rules: rules)
        it.send(
            """
            {"op":"provider.register",\(weather),\(provider),"widgets":[\
            {"kind":"Forecast","families":["systemSmall","systemMedium"],"displayName":"Forecast","parameters":[\
            {"name":"city","type":"enum","options":[{"value":"berlin","title":"Berlin"},{"value":"paris"}]},\
            {"name":"station","type":"entity","isOptional":true,"dynamicOptions":true}],\
            "placeholder":{"celsius":null},"providesRelevance":true,"providesRecommendations":true,\
            "rendering":{"modes":["fullColor","accented"]}},\
            {"kind":"Clock","families":["accessoryInline"]}]}
            """)
        forecastIsShown(&it)
        forecastIsTouched(&it)
        clockFails(&it)
        it.ask("widget.snapshot") { call, writer, engine in
            writer.providerCall(
                call, snapshotOf: 0, family: .systemSmall, configuration: Array(#"{"city":"paris"}"#.utf8),
                isPreview: true, now: GoldenScenario.begin, attempt: 1, within: 5_000, of: engine)
        }
        it.ask("widget.snapshot") { call, writer, engine in
            writer.providerCall(
                call, snapshotOf: 1, family: .accessoryInline, configuration: nil, isPreview: false,
                now: GoldenScenario.begin, attempt: 1, within: 5_000, of: engine)
        }
        it.ask("widget.options") { call, writer, engine in
            writer.providerCall(
                call, widgetOptionsOf: 0, Array("station".utf8), configuration: Array(#"{"city":"paris"}"#.utf8),
                query: "entitiesFor", identifiers: Array(#"["s1"]"#.utf8), now: GoldenScenario.begin, attempt: 1,
                within: 5_000, of: engine)
        }
        it.ask("widget.options") { call, writer, engine in
            writer.providerCall(
                call, widgetOptionsOf: 0, Array("station".utf8), configuration: nil, query: "suggestedEntities",
                identifiers: nil, now: GoldenScenario.begin, attempt: 2, within: 2_000, of: engine)
        }
        it.ask("widget.recommendations") { call, writer, engine in
            writer.providerCall(
                call, recommendationsOf: 0, now: GoldenScenario.begin, attempt: 1, within: 5_000, of: engine)
        }
        it.ask("widget.relevance") { call, writer, engine in
            writer.providerCall(
                call, relevanceOf: 0, now: GoldenScenario.begin, attempt: 1, within: 5_000, of: engine)
        }
        return it
    }

    /// Placed, with entries at their dates, reloaded by its policy, and held.
    private static func forecastIsShown(_ it: inout GoldenWidgets) {
        it.send(
            #"{"op":"widget.add","req":"w1-1",\#(me),\#(address(forecast)),"kind":"Forecast","family":"systemMedium","#
                + #""configuration":{ "city" : "berlin" },"rendering":{"mode":"accented"},"device":"phone-7"}"#)
        it.send(
            after: 40,
            #"{"op":"provider.answer",\#(provider),"call":"1","entries":[{"date":\#(at(-60_000))},"#
                + #"{"date":\#(at(0)),"content":{"celsius":2.00e1},"relevance":{"score":10,"duration":3600000},"#
                + #""url":"weather:\/\/berlin","links":{"tomorrow":"weather://berlin/1"}},"#
                + #"{"date":\#(at(3_600_000)),"content":{"celsius":21}},{"date":\#(at(3_660_000))}],"#
                + #""policy":{"after":\#(at(7_200_000))}}"#)
        it.wait(7_300_000)
        it.send(
            after: 30,
            #"{"op":"provider.answer",\#(provider),"call":"2","entries":[{"date":\#(at(7_300_000)),"#
                + #""content":{"login":true}}],"needsLogin":true}"#)
        it.send(after: 60_000, #"{"op":"widget.reload","req":"w1-2",\#(address(forecast)),"source":"push"}"#)
        it.send(after: 60_000, #"{"op":"widget.reload","req":"w1-3",\#(weather),"kind":"Forecast"}"#)
        it.wait(600_000)
        it.send(
            after: 20,
            #"{"op":"provider.answer",\#(provider),"call":"3","entries":[{"date":\#(at(9_000_000)),"url":"w://x"}],"#
                + #""policy":"never"}"#)
        it.send(after: 400_000, #"{"op":"widget.reload","req":"w1-4",\#(address(forecast))}"#)
        it.fail(4, .timedOut)
        it.send(after: 1_000, #"{"op":"device.event","device":"phone-7","event":"localeChange"}"#)
        it.send(
            after: 20,
            #"{"op":"provider.answer",\#(provider),"call":"5","entries":[{"date":\#(at(9_000_000)),"url":"w://x","#
                + #""links":{"tomorrow":"w://y"}}],"policy":"never"}"#)
        it.wait(600_000)
        it.send(after: 1_000, #"{"op":"widget.reload","req":"w1-5",\#(address(forecast))}"#)
    }

    /// Tapped, acting, configured, and not the first of its stack any more.
    private static func forecastIsTouched(_ it: inout GoldenWidgets) {
        it.send(after: 10, #"{"op":"widget.tap","req":"w2-1",\#(address(forecast))}"#)
        it.send(after: 10, #"{"op":"widget.tap","req":"w2-2",\#(address(forecast)),"link":"tomorrow"}"#)
        it.send(
            after: 10,
            #"{"op":"widget.tap","req":"w2-3",\#(address(forecast)),"action":"refresh","parameters":{"deep" : true}}"#)
        it.send(after: 100, #"{"op":"provider.answer",\#(provider),"call":"6"}"#)
        it.send(after: 20, answer(7, at: 9_100_000))
        it.send(after: 10, #"{"op":"widget.tap","req":"w2-4",\#(address(forecast)),"action":"refresh"}"#)
        it.send(after: 10, #"{"op":"provider.fail",\#(provider),"call":"8","message":"no network"}"#)
        it.send(after: 20, answer(9, at: 9_100_000))
        it.send(
            after: 1_000, #"{"op":"widget.configure","req":"w2-5",\#(address(forecast)),"rendering":{"mode":null}}"#)
        it.send(
            after: 1_000,
            #"{"op":"widget.configure","req":"w2-6",\#(address(forecast)),"configuration":{"city":"paris"}}"#)
        it.send(
            after: 10,
            #"{"op":"widget.configure","req":"w2-7",\#(address(forecast)),"configuration":{"city":"berlin"}}"#)
        it.send(after: 10, answer(11, at: 9_200_000, policy: "atEnd"))
    }

    /// One that comes to the top of the stack, and one that never gets an entry.
    private static func clockFails(_ it: inout GoldenWidgets) {
        it.send(
            after: 10,
            #"{"op":"widget.add","req":"w3-1",\#(address(gone)),"kind":"Forecast","family":"systemSmall","#
                + #""configuration":{"city":"paris"},"device":"phone-7"}"#)
        let now = it.now.milliseconds
        let call = it.open.keys.max() ?? 0
        it.send(
            after: 10,
            #"{"op":"provider.answer",\#(provider),"call":"\#(call)","entries":[{"date":\#(now),"#
                + #""relevance":{"score":0.5}},{"date":\#(now + 3_600_000)}],"policy":"never"}"#)
        it.wait(4_000_000)
        it.send(after: 10, #"{"op":"widget.remove","req":"w3-2",\#(address(gone))}"#)
        it.send(#"{"op":"widget.add","req":"w3-3",\#(address(clock)),"kind":"Clock","family":"accessoryInline"}"#)
        let first = it.open.keys.max() ?? 0
        it.send(after: 10, #"{"op":"provider.fail",\#(provider),"call":"\#(first)"}"#)
    }

    @Test("events are written exactly as their examples show them, and every one happens")
    func events() throws {
        let it = Self.day()
        #expect(it.dropped == [])
        for name in Set(it.events.map(\.name)).sorted() {
            try compare(it.events.filter { $0.name == name }.map(\.json), with: "good/events/\(name).jsonl")
        }
        #expect(Set(it.events.map(\.name)) == Set(WidgetEventName.allCases.map { "\($0.wireName)" }))
    }

    @Test("what goes to a provider is written exactly as its examples show it")
    func calls() throws {
        let it = Self.day()
        let ops = Set(it.calls.map(\.op)).subtracting(["provider.cancel"])
        for op in ops.sorted() {
            try compare(it.calls.filter { $0.op == op }.map(\.json), with: "good/calls/\(op).jsonl")
        }
        #expect(ops.count == 6 && it.calls.contains { $0.op == "provider.cancel" })
    }

    @Test("the merge patches of the events add up to the entities")
    func patches() throws {
        let it = Self.day()
        var replica = Replica()
        try replica.follow(it.events)
        let whole = try it.entities.map { try TestJSON(Array($0.utf8)) }
        #expect(whole.count == 2)
        for entity in whole {
            let id = try #require(entity["id"]?.string)
            #expect(replica.entities[id] == entity.memberTexts, "\(id)")
        }
    }

    @Test("a widget is written exactly as its examples show it")
    func entities() throws {
        let rows = Self.day().entities.map { #"{"widget":\#($0)}"# }
        let examples = try GoldenFiles.lines("good/bulk/snapshot-row.jsonl").map { String(decoding: $0, as: UTF8.self) }
        for row in rows where !examples.contains(row) { Issue.record("GOLDENgood/bulk/snapshot-row.jsonl\t\(row)") }
    }

    @Test("a tap on an activity is written exactly as its examples show it")
    func activityTaps() throws {
        var it = GoldenScenario()
        let pizza = #""app":"com.example.pizza","key":"order-1042""#
        it.send(#"{"op":"activity.start",\#(pizza),"type":"Delivery","attributes":{},"contentState":{}}"#)
        it.send(after: 1_000, #"{"op":"activity.tap","req":"t1-1",\#(Self.me),\#(pizza),"url":"pizza:\/\/order\/7"}"#)
        it.send(after: 1_000, #"{"op":"activity.tap","req":"t1-2",\#(pizza)}"#)
        try compare(
            it.events.filter { $0.name == "activity.tapped" }.map(\.json), with: "good/events/activity.tapped.jsonl")
    }

    // MARK: Reads

    @Test("a timeline is shown with its entries byte for byte, and what is shown at a date")
    func timeline() throws {
        var it = GoldenWidgets()
        it.send(
            #"{"op":"provider.register",\#(Self.weather),\#(Self.provider),"widgets":[{"kind":"Clock","families":["#
                + #""systemSmall"]}]}"#)
        it.send(#"{"op":"widget.add",\#(Self.address(Self.clock)),"kind":"Clock","family":"systemSmall"}"#)
        func read(_ span: Milliseconds?) -> String? {
            it.written(Self.clock) { record, writer, engine in
                writer.beginObject()
                writer.timeline(of: record, at: span.map { GoldenScenario.begin + $0 }, of: engine)
                writer.endObject()
            }
        }
        #expect(read(nil) == #"{"timeline":{"entries":[]}}"#)
        #expect(read(5) == #"{"timeline":{"entries":[]},"at":{"at":\#(Self.at(5))}}"#)
        let entries = [#"{ "date":\#(Self.at(0)) }"#, #"{"date":\#(Self.at(600_000)),"content":{"a" : 1}}"#]
        it.send(
            after: 10,
            #"{"op":"provider.answer",\#(Self.provider),"call":"1","entries":[\#(entries[0]) , \#(entries[1])]}"#)
        let whole =
            #"{"timeline":{"entries":[\#(entries[0]),\#(entries[1])],"policy":"atEnd","timelineAt":\#(Self.at(10)),"#
            + #""entryIndex":0,"next":{"at":\#(Self.at(600_000)),"cause":"entry"}}"#
        #expect(read(nil) == whole + "}")
        #expect(
            read(599_999) == whole + #","at":{"at":\#(Self.at(599_999)),"entryIndex":0,"entry":\#(entries[0])}}"#)
        #expect(
            read(600_000) == whole + #","at":{"at":\#(Self.at(600_000)),"entryIndex":1,"entry":\#(entries[1])}}"#)
        #expect(read(9) == whole + #","at":{"at":\#(Self.at(9))}}"#, "before it came")
    }

    @Test("a budget tells what was spent, what is exempt, and what is held")
    func budget() throws {
        var it = GoldenWidgets()
        it.send(
            #"{"op":"provider.register",\#(Self.weather),\#(Self.provider),"widgets":[{"kind":"Clock","families":["#
                + #""systemSmall"]}]}"#)
        it.send(#"{"op":"widget.add",\#(Self.address(Self.clock)),"kind":"Clock","family":"systemSmall"}"#)
        it.send(Self.answer(1, at: 0))
        func read() throws -> TestJSON {
            let now = it.now
            let text = it.written(Self.clock) { record, writer, engine in
                writer.beginObject()
                writer.budget(engine.budget(of: record, at: now))
                writer.endObject()
            }
            let json = try TestJSON(Array(try #require(text).utf8))
            return try #require(json["budget"])
        }
        let first = try read()
        let limit = Int64(it.engine.rules.widgetLearningBudget)
        #expect(first["limit"]?.integer == limit && first["spent"]?.integer == 0 && first["left"]?.integer == limit)
        #expect(first["spentAt"]?.elements.isEmpty == true && first["held"] == nil && first["freeAt"] == nil)
        #expect(first.memberTexts["isLearning"] == "true" && first.memberTexts["developerMode"] == "false")
        #expect(first.memberTexts["exempt"] == #"{"placement":1}"#)
        it.send(after: 600_000, #"{"op":"widget.reload",\#(Self.address(Self.clock))}"#)
        it.send(Self.answer(2, at: 0))
        it.send(after: 1_000, #"{"op":"widget.reload",\#(Self.address(Self.clock)),"source":"push"}"#)
        it.send(after: 1_000, #"{"op":"widget.reload",\#(Self.address(Self.clock))}"#)
        let second = try read()
        #expect(second["spent"]?.integer == 1 && second["left"]?.integer == limit - 1)
        #expect(second.memberTexts["spentAt"] == "[\(Self.at(600_000))]")
        #expect(second["lastReloadAt"]?.integer == Self.begin + 600_000)
        #expect(
            second.memberTexts["held"]
                == #"{"until":\#(Self.at(900_000)),"reason":"spacing","cause":"push","merged":1}"#)
    }

    @Test("a stack tells the rule of every place")
    func stack() throws {
        var it = GoldenWidgets()
        it.send(
            #"{"op":"provider.register",\#(Self.weather),\#(Self.provider),"widgets":[{"kind":"Clock","families":["#
                + #""systemSmall"]}]}"#)
        for id in [Self.forecast, Self.clock] {
            it.send(
                #"{"op":"widget.add",\#(Self.address(id)),"kind":"Clock","family":"systemSmall","device":"phone-7"}"#)
        }
        it.send(
            #"{"op":"provider.answer",\#(Self.provider),"call":"2","entries":[{"date":\#(Self.at(0)),"#
                + #""relevance":{"score":4,"duration":60000}},{"date":\#(Self.at(600_000)),"relevance":{"score":8}}]}"#)
        let device = Array("phone-7".utf8)
        var writer = JSONWriter()
        writer.beginObject()
        writer.stack(it.engine.smartStack(of: device, at: it.now), device: device.span, of: it.engine)
        writer.endObject()
        let row = #""app":"com.example.weather","kind":"Clock""#
        #expect(
            String(decoding: writer.copy(), as: UTF8.self)
                == #"{"device":"phone-7","stack":[{"id":"\#(Self.clock)",\#(row),"rule":"entryRelevance","score":0.5,"#
                + #""until":\#(Self.at(60_000))},{"id":"\#(Self.forecast)",\#(row),"rule":"placement"}]}"#)
    }

    @Test("decisions say what was decided, by which rule, and why it cost nothing")
    func decisions() throws {
        let it = Self.day()
        let text = it.written(Self.forecast) { record, writer, engine in
            writer.beginObject()
            let app = engine.widgets.kinds[record.kind].app
            writer.decisions(RememberedDecisions(aboutWidget: record.id, of: app, in: engine))
            writer.endObject()
        }
        let json = try TestJSON(Array(try #require(text).utf8))
        let decisions = try #require(json["decisions"]).elements
        // What was done to the entries of a timeline is told beside the timeline's own rule.
        let all = decisions.filter { $0["event"] != nil }
        let told = all.indices.filter { $0 == 0 || all[$0 - 1]["seq"]?.integer != all[$0]["seq"]?.integer }
            .map { all[$0] }
        #expect(all.count == told.count + 2)
        let mine = try it.events.map { try TestJSON(Array($0.json.utf8)) }.filter {
            $0["widget"]?["id"]?.string == Self.forecast
        }
        #expect(told.map { $0["event"]?.string } == mine.map { $0["event"]?.string })
        #expect(told.map { $0["seq"]?.integer } == mine.map { $0["seq"]?.integer })
        #expect(told.map { $0["exempt"]?.string } == mine.map { $0["exempt"]?.string })
        #expect(decisions.allSatisfy { $0["rule"]?.string?.isEmpty == false && $0["text"]?.string?.isEmpty == false })
        #expect(decisions.contains { $0["outcome"]?.string == "applied" && $0["event"] == nil }, "one was merged")
    }

    // MARK: Refusals

    /// What refusals about timelines, renderings, widget kinds and groups look like: they say what and where.
    static var refusals: [String] {
        let frame = Array(#"{"kind":"Forecast","call":"17","group":"group.com.example.weather"}"#.utf8)
        let kind = FrameRange(offset: 9, count: 8)
        let call = FrameRange(offset: 27, count: 2)
        let group = FrameRange(offset: 40, count: 25)
        var declaration = BadDeclaration(index: 1, member: "families[0]", reason: .unknownValue)
        declaration.array = .widgets
        let refusals: [Refusal] = [
            .notAMember(group), .groupUnknown(group), .kindUnknown(kind), .groupExists(group),
            .quotaExceeded(limit: 16_384),
            .badTimeline(call: call, BadTimeline(.entriesOutOfOrder, index: 3)),
            .badTimeline(call: call, BadTimeline(.tooManyEntries, limit: 256)), .badDeclaration(declaration),
            .badRendering(member: Array("mode".utf8), .unknownValue),
        ]
        return refusals.map { refusal in
            var writer = JSONWriter()
            writer.refused(Envelope(), frame.span, refusal)
            return String(decoding: writer.copy(), as: UTF8.self)
        }
    }

    /// Compares line by line; a difference is shown with what was written, so that an example can be made of it.
    private func compare(_ written: [String], with path: String) throws {
        let expected = (try? GoldenFiles.lines(path))?.map { String(decoding: $0, as: UTF8.self) } ?? []
        for (index, line) in written.enumerated() where index >= expected.count || expected[index] != line {
            Issue.record("GOLDEN\(path)\t\(line)")
        }
        #expect(written.count == expected.count, "\(path)")
    }
}
