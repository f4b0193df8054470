import IsletCore
import IsletProtocol
import Testing

@Suite("Declarations of control kinds")
struct KindDeclarationTests {
    /// The declarations of an array, or the first mistake as `index member reason`.
    private func read(_ text: String) -> (kinds: [ControlKindDeclaration], mistake: String) {
        let frame = Array(#"{"kinds":\#(text)}"#.utf8)
        do {
            return (try KindDeclarations.read(frame.span, at: FrameRange(9..<frame.count - 1)), "ok")
        } catch .badDeclaration(let bad) {
            return ([], "\(bad.index) \(bad.member) \(bad.reason)")
        } catch {
            return ([], "\(error)")
        }
    }

    @Test("all members are read, and texts keep their bytes")
    func whole() throws {
        let json = #"""
            {"kind":"W\u0061rmer","template":"button","displayName":"W\u00e4rmer","description":"d","tint":"red",
            "actionHint":"Warm","previewValue":{ "celsius" : 2.0e1 },"hasValue":true,"parameters":[
            {"name":"room","type":"enum","title":"Room","default":"h\u0061ll","options":[
            {"value":"hall","title":"Hall"}]},
            {"name":"step","type":"number","default":1}, {"name":"e","type":"entity","isOptional":true,
            "dynamicOptions":true}],"reloadsSiblings":true,"privacySensitive":true,
            "authenticationPolicy":"requiresLocalDeviceAuthentication","promptsForUserConfiguration":true,
            "valueDeadline":10,"actionDeadline":60000}
            """#
        let kind = try #require(read("[ \(json) ]").kinds.first)
        var expected = ControlKindDeclaration(kind: Array("Warmer".utf8), template: .button)
        expected.displayName = Array(#""W\u00e4rmer""#.utf8)
        expected.description = Array(#""d""#.utf8)
        expected.tint = Array(#""red""#.utf8)
        expected.actionHint = Array(#""Warm""#.utf8)
        expected.previewValue = Array(#"{ "celsius" : 2.0e1 }"#.utf8)
        expected.hasValue = true
        var room = KindParameter(name: Array("room".utf8), type: .enum)
        room.title = Array(#""Room""#.utf8)
        room.defaultValue = Array(#""h\u0061ll""#.utf8)
        room.options = [.init(value: Array(#""hall""#.utf8), title: Array(#""Hall""#.utf8))]
        var step = KindParameter(name: Array("step".utf8), type: .number)
        step.defaultValue = [UInt8(ascii: "1")]
        var entity = KindParameter(name: Array("e".utf8), type: .entity)
        entity.isOptional = true
        entity.hasDynamicOptions = true
        expected.parameters = [room, step, entity]
        expected.reloadsSiblings = true
        expected.isPrivacySensitive = true
        expected.authenticationPolicy = .requiresLocalDeviceAuthentication
        expected.promptsForUserConfiguration = true
        expected.valueDeadline = 10
        expected.actionDeadline = 60_000
        expected.json = Array(json.utf8)
        #expect(kind == expected)
        #expect(try KindDeclarations.readOne(kind.json.span) == kind, "what is stored reads back")
    }

    @Test("what is absent or null has its default")
    func defaults() throws {
        let nulls = #"{"kind":"T","template":"toggle","previewValue":null,"hasValue":null,"valueDeadline":null}"#
        for json in [#"{"kind":"T","template":"toggle"}"#, nulls] {
            let kind = try #require(read("[\(json)]").kinds.first)
            #expect(kind.hasValue && kind.previewValue == Array("false".utf8))
            #expect(kind.valueDeadline == 1_000 && kind.actionDeadline == 10_000)
            #expect(kind.authenticationPolicy == .alwaysAllowed && kind.parameters.isEmpty)
        }
        let button = try #require(read(#"[{"kind":"B","template":"button"}]"#).kinds.first)
        #expect(!button.hasValue && button.previewValue.isEmpty)
    }

    @Test("each mistake is named with its place")
    func mistakes() {
        let long = String(repeating: "x", count: 257)
        func toggle(_ members: String) -> String { #"[{"kind":"T","template":"toggle",\#(members)}]"# }
        func parameter(_ members: String) -> String { toggle(#""parameters":[{"name":"p",\#(members)}]"#) }
        let many = Array(repeating: #"{"value":"a"}"#, count: 101).joined(separator: ",")
        let parameters = (0..<33).map { #"{"name":"p\#($0)","type":"string"}"# }.joined(separator: ",")
        let kinds = (0..<65).map { #"{"kind":"k\#($0)","template":"toggle"}"# }.joined(separator: ",")
        let cases: [(String, String)] = [
            ("[]", "badField(IsletCore.Field.kinds, IsletCore.Refusal.BadField.outOfRange)"),
            ("[\(kinds)]", "badField(IsletCore.Field.kinds, IsletCore.Refusal.BadField.outOfRange)"),
            (#"[5]"#, "0  wrongType"), (#"[{"kind":"T","template":"toggle"},{}]"#, "1 kind missing"),
            (#"[{"kind":"T","template":"toggle"},{"kind":"\u0054","template":"toggle"}]"#, "1 kind twice"),
            (#"[{"kind":"a b","template":"toggle"}]"#, "0 kind badCharacters"),
            (#"[{"kind":"","template":"toggle"}]"#, "0 kind badCharacters"),
            (#"[{"kind":"\ud800","template":"toggle"}]"#, "0 kind badCharacters"),
            (#"[{"kind":7,"template":"toggle"}]"#, "0 kind wrongType"),
            (#"[{"kind":"T"}]"#, "0 template missing"),
            (#"[{"kind":"T","template":"slider"}]"#, "0 template unknownValue"),
            (toggle(#""colour":null"#), "0 colour unknown"), (toggle(#""tint":"a","tint":"b""#), "0 tint twice"),
            (toggle(#""tint":"\#(long)""#), "0 tint tooLong"),
            (toggle(#""displayName":{}"#), "0 displayName wrongType"),
            (toggle(#""previewValue":1"#), "0 previewValue wrongType"),
            (toggle(#""hasValue":false"#), "0 hasValue notAllowedHere"),
            (
                #"[{"kind":"B","template":"button","previewValue":"\#(String(repeating: "x", count: 4_095))"}]"#,
                "0 previewValue tooLong"
            ),
            (toggle(#""reloadsSiblings":1"#), "0 reloadsSiblings wrongType"),
            (toggle(#""authenticationPolicy":"never""#), "0 authenticationPolicy unknownValue"),
            (toggle(#""valueDeadline":9"#), "0 valueDeadline outOfRange"),
            (toggle(#""actionDeadline":60001"#), "0 actionDeadline outOfRange"),
            (toggle(#""actionDeadline":1e4"#), "0 actionDeadline wrongType"),
            (toggle(#""parameters":{}"#), "0 parameters wrongType"),
            (toggle(#""parameters":[\#(parameters)]"#), "0 parameters tooLong"),
            (toggle(#""parameters":[{"name":"p","type":"string"},7]"#), "0 parameters[1] wrongType"),
            (
                toggle(#""parameters":[{"name":"p","type":"string"},{"name":"p","type":"string"}]"#),
                "0 parameters[1].name twice"
            ),
            (parameter(#""type":"date""#), "0 parameters[0].type unknownValue"),
            (parameter(#""title":"x""#), "0 parameters[0].type missing"),
            (parameter(#""type":"string","default":1"#), "0 parameters[0].default wrongType"),
            (parameter(#""type":"integer","default":1.5"#), "0 parameters[0].default wrongType"),
            (parameter(#""type":"enum""#), "0 parameters[0].options missing"),
            (
                parameter(#""type":"enum","options":[{"value":"a"}],"default":"b""#),
                "0 parameters[0].default unknownValue"
            ),
            (parameter(#""type":"enum","options":[{"value":1}]"#), "0 parameters[0].options[0].value wrongType"),
            (
                parameter(#""type":"string","options":[{"value":"a"},{"title":"b"}]"#),
                "0 parameters[0].options[1].value missing"
            ),
            (parameter(#""type":"string","options":[{"value":"a","x":1}]"#), "0 parameters[0].options[0].x unknown"),
            (parameter(#""type":"string","options":[\#(many)]"#), "0 parameters[0].options tooLong"),
            (parameter(#""type":"enum","dynamicOptions":true,"default":"any""#), "ok"),
        ]
        for (text, expected) in cases { #expect(read(text).mistake == expected, "\(text.prefix(120))") }
    }

    @Test("what was stored and is no declaration is refused")
    func stored() {
        for text in ["", "{", "5", "{}", #"{"kind":"T","template":"toggle","x":1}"#] {
            #expect(throws: Refusal.self) { try KindDeclarations.readOne(Array(text.utf8).span) }
        }
    }

    @Test("a configuration fits its parameters, or the first that does not is named")
    func configurations() throws {
        let kind = try #require(
            read(
                #"""
                [{"kind":"W","template":"toggle","parameters":[
                {"name":"room","type":"enum","options":[{"value":"a\u0062"}]},
                {"name":"step","type":"number","default":1},{"name":"floor","type":"integer","isOptional":true},
                {"name":"loud","type":"boolean","isOptional":true},{"name":"who","type":"entity","isOptional":true},
                {"name":"note","type":"string","isOptional":true},
                {"name":"mode","type":"enum","isOptional":true,"dynamicOptions":true,"options":[{"value":"x"}]}]}]
                """#
            ).kinds.first)
        let cases: [(String, String?)] = [
            ("", "room"), ("{}", "room"), (#"{"room":"ab"}"#, nil), (#"{"room":"\u0061b"}"#, nil),
            (#"{"\u0072oom":"ab"}"#, nil), (#"{"room":"c"}"#, "room"), (#"{"room":1}"#, "room"),
            (#"{"room":null}"#, "room"), (#"{"room":"ab","room":"ab"}"#, "room"),
            (#"{"room":null,"room":"ab"}"#, "room"),
            (#"{"room":"ab","step":1}"#, nil), (#"{"room":"ab","step":0.5e-1}"#, nil),
            (#"{"room":"ab","step":"1"}"#, "step"),
            (#"{"room":"ab","floor":-2}"#, nil), (#"{"room":"ab","floor":2.0}"#, "floor"),
            (#"{"room":"ab","loud":false,"who":{"id":7},"note":""}"#, nil), (#"{"room":"ab","who":"7"}"#, nil),
            (#"{"room":"ab","loud":0}"#, "loud"), (#"{"room":"ab","who":7}"#, "who"),
            (#"{"room":"ab","note":[]}"#, "note"),
            (#"{"room":"ab","mode":"anything"}"#, nil), (#"{"room":"ab","mode":1}"#, "mode"),
            (#"{"room":"ab","colour":1}"#, "colour"), (#"{"colour":1}"#, "colour"),
            (#"{"room":"ab","\ud800":1}"#, "\u{FFFD}"),
            ("[]", ""), ("{", ""), (#"{"room":"\ud800"}"#, "room"),
        ]
        for (text, expected) in cases {
            let misfit = KindParameter.misfit(of: Array(text.utf8).span, to: kind.parameters)
            #expect(misfit.map { String(decoding: $0, as: UTF8.self) } == expected, "\(text)")
        }
        #expect(KindParameter.misfit(of: Array(#"{"x":1}"#.utf8).span, to: []) == Array("x".utf8))
        #expect(KindParameter.misfit(of: Span(), to: []) == nil)
    }
}
