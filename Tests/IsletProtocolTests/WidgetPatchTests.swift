import IsletCore
import IsletProtocol
import Testing

@Suite("Merge patches of widgets")
struct WidgetPatchTests {
    private static let kinds =
        #"[{"kind":"F","families":["systemSmall","systemLarge"],"parameters":[{"name":"c","type":"string","#
        + #""isOptional":true}],"rendering":{"modes":["fullColor","accented"]}}]"#

    @Test("whatever happens, the patches add up to the entities", arguments: 1...12)
    func randomLives(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var rules = RuleSet(name: "test", date: "2026-11-01")
        // Small, so that reloads are held.
        rules.widgetDailyBudget = 4
        rules.widgetLearningBudget = 6
        var it = GoldenWidgets(rules: rules)
        it.send(#"{"op":"provider.register","app":"a","provider":"\#(Self.id(0))","widgets":\#(Self.kinds)}"#)
        var replica = Replica()
        for step in 0..<400 {
            Self.something(&it, &random)
            try replica.follow(it.events)
            let whole = try it.entities.map { try TestJSON(Array($0.utf8)) }
            #expect(whole.count == replica.entities.count, "seed \(seed), step \(step)")
            for entity in whole {
                let id = try #require(entity["id"]?.string)
                let isSame = replica.entities[id].map { $0 } == entity.memberTexts
                if !isSame {
                    Issue.record("seed \(seed), step \(step): \(replica.entities[id] ?? [:]) is \(entity.memberTexts)")
                    return
                }
            }
        }
        let names = Set(it.events.map(\.name))
        #expect(names.count >= WidgetEventName.allCases.count - 1, "seed \(seed): \(names.sorted())")
    }

    private static func id(_ number: Int) -> String { "0198c0de-0000-7000-8000-00000000000\(number)" }

    private static func something(_ it: inout GoldenWidgets, _ random: inout SeededGenerator) {
        let address = #""app":"a","id":"\#(id(Int.random(in: 1...4, using: &random)))""#
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1:
            let family = Bool.random(using: &random) ? "systemSmall" : "systemLarge"
            let device = random.chance(2, in: 3) ? #","device":"d""# : ""
            it.send(#"{"op":"widget.add",\#(address),"kind":"F","family":"\#(family)"\#(device)}"#)
        case 2:
            let number = Int.random(in: 0...3, using: &random)
            let parts = [
                #""configuration":{"c":"\#(number)"}"#, #""rendering":{"mode":"accented"}"#, #""rendering":{}"#,
            ]
            it.send(#"{"op":"widget.configure",\#(address),\#(parts.randomElement(using: &random) ?? "")}"#)
        case 3: if random.chance(1, in: 4) { it.send(#"{"op":"widget.remove",\#(address)}"#) }
        case 4: it.send(#"{"op":"widget.reload",\#(address)}"#)
        case 5: it.send(#"{"op":"widget.reload","app":"a","kind":"F","source":"push"}"#)
        case 6: it.send(#"{"op":"widget.visible",\#(address)}"#)
        case 7: it.send(#"{"op":"widget.tap",\#(address)}"#)
        case 8: it.send(#"{"op":"widget.tap",\#(address),"link":"more"}"#)
        case 9: it.send(#"{"op":"widget.tap",\#(address),"action":"go","parameters":{"n":1}}"#)
        case 10:
            let events = [
                #""event":"appForeground","app":"a""#, #""event":"appBackground","app":"a""#,
                #""event":"developerModeOn""#, #""event":"developerModeOff""#, #""event":"localeChange""#,
                #""event":"standByStart""#, #""event":"standByEnd""#, #""event":"locationChange""#,
            ]
            it.send(#"{"op":"device.event","device":"d",\#(events.randomElement(using: &random) ?? "")}"#)
        case 11: wait(&it, &random)
        default:
            guard let call = it.open.keys.sorted().randomElement(using: &random) else { return wait(&it, &random) }
            let failures: [CallFailure] = [.timedOut, .threw, .providerLost, .noProvider, .busy, .badAnswer]
            if random.chance(1, in: 5) { return it.fail(call, failures.randomElement(using: &random) ?? .threw) }
            it.send(#"{"op":"provider.answer","provider":"\#(id(0))","call":"\#(call)"\#(timeline(it.now, &random))}"#)
        }
    }

    private static func wait(_ it: inout GoldenWidgets, _ random: inout SeededGenerator) {
        let spans: [Milliseconds] = [1_000, 60_000, 600_000, 3_600_000, 40_000_000]
        let late: Milliseconds = random.chance(1, in: 3) ? 900_000 : 0
        it.wait(spans.randomElement(using: &random) ?? 0, late: late)
    }

    /// Entries some of which are past, all ahead, close to each other, or too many to tell apart.
    private static func timeline(_ now: Instant, _ random: inout SeededGenerator) -> String {
        var date = now.milliseconds + Milliseconds.random(in: -4_000_000...1_000_000, using: &random)
        var entries: [String] = []
        for number in 0..<Int.random(in: 1...6, using: &random) {
            let relevance = random.chance(1, in: 3) ? #","relevance":{"score":\#(number),"duration":60000}"# : ""
            let content = #""content":{"n":\#(random.next() % 1_000)},"url":"u\#(number)""#
            entries.append(#"{"date":\#(date),\#(content)\#(relevance)}"#)
            date += random.chance(1, in: 3) ? 60_000 : Milliseconds.random(in: 0...3_000_000, using: &random)
        }
        let policy = [
            "", #","policy":"never""#, #","policy":"atEnd""#, #","policy":{"after":\#(now.milliseconds + 1_200_000)}"#,
        ]
        if random.chance(1, in: 8) { return #","entries":[\#(entries[0])],"needsLogin":true"# }
        return #","entries":[\#(entries.joined(separator: ","))]\#(policy.randomElement(using: &random) ?? "")"#
    }
}

/// What a subscriber makes of the events.
struct Replica {
    /// The members of each entity with their exact bytes.
    private(set) var entities: [String: [String: String]] = [:]
    private var taken = 0

    /// Takes those events that it has not taken yet.
    mutating func follow(_ events: [(name: String, json: String)]) throws {
        for event in events[taken...] {
            let json = try TestJSON(Array(event.json.utf8))
            let widget = try #require(json["widget"], "\(event.json)")
            let id = try #require(widget["id"]?.string)
            if event.name == "widget.removed" {
                entities[id] = nil
                continue
            }
            if event.name == "widget.added" {
                #expect(entities[id] == nil)
            } else {
                let from = try #require(json["from"]?.string)
                #expect(entities[id]?["state"] == "\"\(from)\"", "\(event.json)")
            }
            for (name, value) in widget.memberTexts {
                entities[id, default: [:]][name] = value == "null" ? nil : value
            }
            #expect(entities[id]?["state"] == json["to"].map { "\"\($0.string ?? "")\"" }, "\(event.json)")
            #expect(entities[id]?["cause"] == json["cause"].map { "\"\($0.string ?? "")\"" }, "\(event.json)")
        }
        taken = events.count
    }
}
