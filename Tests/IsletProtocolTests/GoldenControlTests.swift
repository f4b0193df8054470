import IsletCore
import IsletProtocol
import Testing

@Suite("Golden messages about controls")
struct GoldenControlTests {
    private static let me = #""client":"0198c0de-0000-7000-8000-00000000c11e""#
    private static let home = #""app":"com.example.home""#
    private static let provider = #""provider":"0198c0de-0000-7000-8000-0000000000f1""#
    private static let torch = #"\#(home),"id":"0198c0de-1c00-7a3e-9f21-3b5c8d7e0a01""#
    private static let warmer = #"\#(home),"id":"0198c0de-1c00-7a3e-9f21-3b5c8d7e0a02""#
    private static let garage = #"\#(home),"id":"0198c0de-1c00-7a3e-9f21-3b5c8d7e0a03""#
    private static let horn = #"\#(home),"id":"0198c0de-1c00-7a3e-9f21-3b5c8d7e0a04""#

    /// An evening in which everything happens that a control can meet.
    private static func evening() -> GoldenControls {
        var it = GoldenControls()
        it.send(
            """
            {"op":"provider.register",\(home),\(provider),"kinds":[\
            {"kind":"Warmer","template":"button","hasValue":true,"previewValue":{"celsius":20},"parameters":[\
            {"name":"room","type":"enum","options":[{"value":"kitchen","title":"Kitchen"},{"value":"hall"}]},\
            {"name":"sensor","type":"entity","isOptional":true,"dynamicOptions":true}]},\
            {"kind":"Torch","template":"toggle"},\
            {"kind":"Garage","template":"toggle","previewValue":true,"privacySensitive":true,\
            "authenticationPolicy":"requiresAuthentication"},\
            {"kind":"Horn","template":"button"}]}
            """)
        torchIsTapped(&it)
        warmerFails(&it)
        garageWaits(&it)
        it.send(#"{"op":"control.add","req":"h4-1",\#(horn),"kind":"Horn"}"#)
        it.send(after: 10, #"{"op":"control.tap","req":"h4-2",\#(horn)}"#)
        it.send(after: 90, #"{"op":"provider.answer",\#(provider),"call":"14","status":"Beep","url":"horn:\/\/last"}"#)
        it.askOptions("sensor", #"{"room":"hall"}"#)
        it.askOptions("sensor", nil)
        return it
    }

    /// A toggle: placed, tapped, slow, and disabled in the end.
    private static func torchIsTapped(_ it: inout GoldenControls) {
        it.send(#"{"op":"control.add","req":"h1-1",\#(me),\#(torch),"kind":"Torch"}"#)
        it.send(
            after: 40,
            #"{"op":"provider.answer",\#(provider),"call":"1","value":true,"status":"Bright \u2600","#
                + #""tint":"yellow","actionHint":"Switch"}"#)
        it.send(after: 5_000, #"{"op":"control.tap","req":"h1-2",\#(me),\#(torch)}"#)
        it.send(after: 300, #"{"op":"provider.answer",\#(provider),"call":"2","status":"Off now"}"#)
        it.send(after: 30, #"{"op":"provider.answer",\#(provider),"call":"3","value":false}"#)
        it.send(after: 1_000, #"{"op":"control.reload","req":"h1-3",\#(torch),"source":"push"}"#)
        it.wait(1_000)
        it.fail(4, .timedOut)
        it.wait(2_000)
        it.send(after: 20, #"{"op":"provider.answer",\#(provider),"call":"5","value":false,"disabled":true}"#)
    }

    /// A button with a value: configured while it is asked for, and its provider throws.
    private static func warmerFails(_ it: inout GoldenControls) {
        it.send(
            #"{"op":"control.add","req":"h2-1",\#(warmer),"kind":"Warmer","configuration":{ "room" : "kitchen" },"#
                + #""device":"tablet-1"}"#)
        it.send(
            after: 50,
            #"{"op":"provider.answer",\#(provider),"call":"6","value":{"celsius":2.050e1},"isActive":true}"#)
        it.send(after: 1_000, #"{"op":"control.configure","req":"h2-2",\#(warmer),"configuration":{"room":"hall"}}"#)
        it.send(after: 10, #"{"op":"provider.fail",\#(provider),"call":"7","message":"no sensor"}"#)
        it.send(after: 100, #"{"op":"control.tap","req":"h2-3",\#(warmer)}"#)
        it.fail(8, .providerLost)
        it.send(after: 10, #"{"op":"control.remove","req":"h2-4",\#(warmer)}"#)
    }

    /// A toggle that a locked device hides, and whose action waits for the person.
    private static func garageWaits(_ it: inout GoldenControls) {
        it.send(#"{"op":"control.add","req":"h3-1",\#(garage),"kind":"Garage","device":"phone-7"}"#)
        it.send(after: 20, #"{"op":"provider.answer",\#(provider),"call":"10","value":false,"status":"Closed"}"#)
        it.send(after: 500, #"{"op":"device.event","device":"phone-7","event":"lock"}"#)
        it.send(after: 500, #"{"op":"control.tap","req":"h3-2",\#(garage)}"#)
        it.wait(60_000)
        it.send(after: 10, #"{"op":"provider.answer",\#(provider),"call":"11","value":false}"#)
        it.send(after: 500, #"{"op":"control.tap","req":"h3-3",\#(garage)}"#)
        it.send(after: 500, #"{"op":"device.event","device":"phone-7","event":"unlock"}"#)
        it.send(after: 10, #"{"op":"provider.fail",\#(provider),"call":"12","message":"the motor is stuck"}"#)
    }

    @Test("events are written exactly as their examples show them, and every one happens")
    func events() throws {
        let it = Self.evening()
        #expect(it.dropped == [])
        for name in Set(it.events.map(\.name)).sorted() {
            try compare(it.events.filter { $0.name == name }.map(\.json), with: "good/events/\(name).jsonl")
        }
        #expect(Set(it.events.map(\.name)) == Set(ControlEventName.allCases.map { "\($0.wireName)" }))
    }

    @Test("what goes to a provider is written exactly as its examples show it")
    func calls() throws {
        let it = Self.evening()
        for op in Set(it.calls.map(\.op)).sorted() {
            try compare(it.calls.filter { $0.op == op }.map(\.json), with: "good/calls/\(op).jsonl")
        }
        #expect(Set(it.calls.map(\.op)).count == 4)
        var writer = JSONWriter()
        writer.providerPing(at: it.now)
        try compare([String(decoding: writer.copy(), as: UTF8.self)], with: "good/calls/provider.ping.jsonl")
        writer.removeAll()
        writer.providerDropped(EntityID(high: 0x0198_C0DE_0000_7000, low: 0x8000_0000_0000_00F1), reason: "faults")
        try compare([String(decoding: writer.copy(), as: UTF8.self)], with: "good/calls/provider.dropped.jsonl")
    }

    @Test("the merge patches of the events add up to the entities")
    func patches() throws {
        let it = Self.evening()
        var entities: [String: [String: String]] = [:]
        for event in it.events {
            let json = try TestJSON(Array(event.json.utf8))
            let control = try #require(json["control"])
            let id = try #require(control["id"]?.string)
            if event.name == "control.removed" {
                entities[id] = nil
                continue
            }
            for (name, value) in control.memberTexts { entities[id, default: [:]][name] = value == "null" ? nil : value }
        }
        let whole = try it.entities.map { try TestJSON(Array($0.utf8)) }
        #expect(whole.count == 3)
        for entity in whole {
            let id = try #require(entity["id"]?.string)
            #expect(entities[id] == entity.memberTexts, "\(id)")
        }
    }

    @Test("a control is written exactly as its examples show it")
    func entities() throws {
        let rows = Self.evening().entities.map { #"{"control":\#($0)}"# }
        let examples = try GoldenFiles.lines("good/bulk/snapshot-row.jsonl").map { String(decoding: $0, as: UTF8.self) }
        for row in rows where !examples.contains(row) { Issue.record("GOLDENgood/bulk/snapshot-row.jsonl\t\(row)") }
    }

    /// What refusals about kinds, configurations and calls look like: they say what and where.
    static var refusals: [String] {
        let frame = Array(#"{"kind":"Torch","call":"17"}"#.utf8)
        let kind = FrameRange(offset: 9, count: 5)
        let call = FrameRange(offset: 24, count: 2)
        let declared = Array(#"{"kind":"Torch","template":"toggle","tint":"yellow"}"#.utf8)
        let offered = Array(#"{"kind":"Torch","template":"toggle"}"#.utf8)
        let refusals: [Refusal] = [
            .kindUnknown(kind), .providerUnknown(call: nil), .providerUnknown(call: call),
            .badConfiguration(parameter: Array("room \"x\"".utf8)),
            .badDeclaration(BadDeclaration(index: 2, member: "parameters[0].type", reason: .unknownValue)),
            .badDeclaration(BadDeclaration(index: 0, member: "", reason: .wrongType)),
            .kindConflict(
                KindConflict(
                    kind: Array("Torch".utf8), member: "tint", declared: declared, offered: offered, placed: 0)),
            .badAnswer(call: call, .wrongType), .unknownCall(call), .unavailable(.noProvider),
            .unavailable(.providerFailed), .unavailable(.providerTimedOut),
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
