import IsletCore
import IsletProtocol
import Testing

@Suite("Declarations of widget kinds")
struct WidgetDeclarationTests {
    /// The declarations of an array, or the first mistake as `index member reason`.
    private func read(_ text: String) -> (kinds: [WidgetKindDeclaration], mistake: String) {
        let frame = Array(#"{"widgets":\#(text)}"#.utf8)
        do {
            return (try WidgetDeclarations.read(frame.span, at: FrameRange(11..<frame.count - 1)), "ok")
        } catch .badDeclaration(let bad) {
            #expect(bad.array == .widgets)
            return ([], "\(bad.index) \(bad.member) \(bad.reason)")
        } catch .badField(let field, let reason) {
            return ([], "\(field) \(reason)")
        } catch {
            return ([], "\(error)")
        }
    }

    private func texts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    @Test("all members are read, and texts keep their bytes")
    func whole() throws {
        let json = #"""
            {"kind":"For\u0065cast","families":["systemSmall","system\u004dedium","accessoryCorner"],
            "displayName":"Wetter \u2600","description":"d","parameters":[
            {"name":"city","type":"enum","options":[{"value":"berlin"}],"default":"berlin"}],
            "placeholder":[ 1.0e1 ],"promptsForUserConfiguration":true,"providesRelevance":true,
            "providesRecommendations":true,"supplementalFamilies":["medium","small"],
            "rendering":{"modes":["vibrant","accented"],"accentedGroups":["gr\u0061ph","b"],
            "containerBackgroundRemovable":false,"mountingStyles":["recessed"],"texture":"p\u0061per",
            "levelsOfDetail":["default","simplified"]},"timelineDeadline":10,"actionDeadline":60000}
            """#
        let kind = try #require(read("[ \(json) ]").kinds.first)
        var expected = WidgetKindDeclaration(
            kind: Array("Forecast".utf8), families: [.systemSmall, .systemMedium, .accessoryCorner])
        expected.displayName = Array(#""Wetter \u2600""#.utf8)
        expected.description = Array(#""d""#.utf8)
        var city = KindParameter(name: Array("city".utf8), type: .enum)
        city.options = [.init(value: Array(#""berlin""#.utf8))]
        city.defaultValue = Array(#""berlin""#.utf8)
        expected.parameters = [city]
        expected.placeholder = Array("[ 1.0e1 ]".utf8)
        expected.promptsForUserConfiguration = true
        expected.providesRelevance = true
        expected.providesRecommendations = true
        expected.supplementalFamilies = texts("medium", "small")
        expected.rendering.modes = texts("vibrant", "accented")
        expected.rendering.accentedGroups = texts("graph", "b")
        expected.rendering.isContainerBackgroundRemovable = false
        expected.rendering.mountingStyles = texts("recessed")
        expected.rendering.texture = Array("paper".utf8)
        expected.rendering.levelsOfDetail = texts("default", "simplified")
        expected.timelineDeadline = 10
        expected.actionDeadline = 60_000
        expected.json = Array(json.utf8)
        #expect(kind == expected)
        #expect(try WidgetDeclarations.readOne(kind.json.span) == kind, "what is stored reads back")
        let all = WidgetFamily.allCases.map { #""\#($0.wireName)""# }.joined(separator: ",")
        #expect(read(#"[{"kind":"a","families":[\#(all)]}]"#).kinds.first?.families == WidgetFamily.allCases)
    }

    @Test("what is absent or null has its default")
    func defaults() throws {
        let nulls =
            #"{"kind":"T","families":["systemSmall"],"placeholder":null,"rendering":null,"supplementalFamilies":null,"#
            + #""timelineDeadline":null,"providesRelevance":null}"#
        let none =
            #"{"kind":"T","families":["systemSmall"],"rendering":{"modes":[],"texture":null,"mountingStyles":null}}"#
        for json in [#"{"kind":"T","families":["systemSmall"]}"#, nulls, none] {
            let kind = try #require(read("[\(json)]").kinds.first)
            #expect(kind.timelineDeadline == 5_000 && kind.actionDeadline == 10_000)
            #expect(kind.placeholder.isEmpty && kind.parameters.isEmpty && kind.supplementalFamilies.isEmpty)
            #expect(!kind.providesRelevance && !kind.providesRecommendations && !kind.promptsForUserConfiguration)
            #expect(kind.rendering.modes == texts("fullColor") && kind.rendering.isContainerBackgroundRemovable)
            #expect(kind.rendering.texture.isEmpty && kind.rendering.mountingStyles.isEmpty)
        }
    }

    @Test("each mistake is named with its place")
    func mistakes() {
        let long = String(repeating: "x", count: 257)
        func kind(_ members: String) -> String { #"[{"kind":"T","families":["systemSmall"],\#(members)}]"# }
        func families(_ array: String) -> String { #"[{"kind":"T","families":\#(array)}]"# }
        func rendering(_ members: String) -> String { kind(#""rendering":{\#(members)}"#) }
        let groups = (0..<17).map { #""g\#($0)""# }.joined(separator: ",")
        let kinds = (0..<65).map { #"{"kind":"k\#($0)","families":["systemSmall"]}"# }.joined(separator: ",")
        let ten = Array(repeating: #""systemSmall""#, count: 10).joined(separator: ",")
        let parameters = (0..<33).map { #"{"name":"p\#($0)","type":"string"}"# }.joined(separator: ",")
        let cases: [(String, String)] = [
            ("[]", "widgets outOfRange"), ("[\(kinds)]", "widgets outOfRange"), (#"["T"]"#, "0  wrongType"),
            (#"[{"families":["systemSmall"]}]"#, "0 kind missing"),
            (#"[{"kind":"T","families":["systemSmall"]},{"kind":"a/b"}]"#, "1 kind badCharacters"),
            (#"[{"kind":"T","families":["systemSmall"]},{"kind":"T","families":["systemLarge"]}]"#, "1 kind twice"),
            (#"[{"kind":"T"}]"#, "0 families missing"), (families("null"), "0 families missing"),
            (families("[]"), "0 families missing"), (families(#""systemSmall""#), "0 families wrongType"),
            (families("[1]"), "0 families[0] wrongType"),
            (families(#"["systemSmall","huge"]"#), "0 families[1] unknownValue"),
            (families(#"["systemSmall","system\u0053mall"]"#), "0 families[1] twice"),
            (families("[\(ten)]"), "0 families tooLong"),
            (kind(#""template":"toggle""#), "0 template unknown"),
            (kind(#""kind":"U""#), "0 kind twice"), (kind(#""placeholder":1,"placeholder":1"#), "0 placeholder twice"),
            (kind(#""displayName":"\#(long)""#), "0 displayName tooLong"),
            (kind(#""description":7"#), "0 description wrongType"),
            (kind(#""placeholder":"\#(String(repeating: "x", count: 4_095))""#), "0 placeholder tooLong"),
            (kind(#""promptsForUserConfiguration":1"#), "0 promptsForUserConfiguration wrongType"),
            (kind(#""providesRelevance":"yes""#), "0 providesRelevance wrongType"),
            (kind(#""providesRecommendations":[]"#), "0 providesRecommendations wrongType"),
            (kind(#""supplementalFamilies":["large"]"#), "0 supplementalFamilies[0] unknownValue"),
            (kind(#""supplementalFamilies":["small","small"]"#), "0 supplementalFamilies[1] twice"),
            (kind(#""supplementalFamilies":"small""#), "0 supplementalFamilies wrongType"),
            (kind(#""timelineDeadline":9"#), "0 timelineDeadline outOfRange"),
            (kind(#""timelineDeadline":"5""#), "0 timelineDeadline wrongType"),
            (kind(#""actionDeadline":60001"#), "0 actionDeadline outOfRange"),
            (kind(#""rendering":[]"#), "0 rendering wrongType"),
            (rendering(#""mode":"a""#), "0 rendering.mode unknown"),
            (rendering(#""modes":["dim"]"#), "0 rendering.modes[0] unknownValue"),
            (rendering(#""modes":["accented","accented"]"#), "0 rendering.modes[1] twice"),
            (rendering(#""modes":[],"modes":[]"#), "0 rendering.modes twice"),
            (rendering(#""accentedGroups":[\#(groups)]"#), "0 rendering.accentedGroups tooLong"),
            (rendering(#""accentedGroups":["a",1]"#), "0 rendering.accentedGroups[1] wrongType"),
            (rendering(#""accentedGroups":["a b"]"#), "0 rendering.accentedGroups[0] badCharacters"),
            (rendering(#""accentedGroups":["\ud800"]"#), "0 rendering.accentedGroups[0] badCharacters"),
            (rendering(#""accentedGroups":["a","b","\u0061"]"#), "0 rendering.accentedGroups[2] twice"),
            (
                rendering(#""containerBackgroundRemovable":0"#),
                "0 rendering.containerBackgroundRemovable wrongType"
            ),
            (rendering(#""mountingStyles":["flat"]"#), "0 rendering.mountingStyles[0] unknownValue"),
            (rendering(#""texture":"wood""#), "0 rendering.texture unknownValue"),
            (rendering(#""texture":["glass"]"#), "0 rendering.texture wrongType"),
            (rendering(#""levelsOfDetail":["full"]"#), "0 rendering.levelsOfDetail[0] unknownValue"),
            (kind(#""parameters":[\#(parameters)]"#), "0 parameters tooLong"),
            (kind(#""parameters":[{"name":"p","type":"date"}]"#), "0 parameters[0].type unknownValue"),
            (
                kind(#""parameters":[{"name":"p","type":"enum","options":[{"value":1}]}]"#),
                "0 parameters[0].options[0].value wrongType"
            ),
        ]
        for (text, expected) in cases { #expect(read(text).mistake == expected, "\(text.prefix(120))") }
    }

    @Test("what was stored and is no declaration is refused")
    func stored() {
        for text in ["", "{", "5", "{}", #"{"kind":"T","families":["systemSmall"],"x":1}"#] {
            #expect(throws: Refusal.self) { try WidgetDeclarations.readOne(Array(text.utf8).span) }
        }
    }

    @Test("every member that differs is named")
    func differences() throws {
        let base = #""kind":"T","families":["systemSmall"]"#
        let known = try #require(read("[{\(base)}]").kinds.first)
        for member in WidgetKindDeclaration.Member.allCases {
            let json =
                switch member {
                case .families: #"{"kind":"T","families":["systemLarge"]}"#
                case .displayName, .description: #"{\#(base),"\#(member)":"x"}"#
                case .parameters: #"{\#(base),"parameters":[{"name":"p","type":"string"}]}"#
                case .placeholder: #"{\#(base),"placeholder":{}}"#
                case .promptsForUserConfiguration, .providesRelevance, .providesRecommendations:
                    #"{\#(base),"\#(member)":true}"#
                case .supplementalFamilies: #"{\#(base),"supplementalFamilies":["small"]}"#
                case .rendering: #"{\#(base),"rendering":{"texture":"glass"}}"#
                case .timelineDeadline, .actionDeadline: #"{\#(base),"\#(member)":100}"#
                }
            #expect(try #require(read("[\(json)]").kinds.first).difference(from: known) == member)
        }
        let same = read(#"[{ "families":["systemSmall"], "kind":"\u0054", "placeholder":null }]"#).kinds.first
        #expect(try #require(same).difference(from: known) == nil, "other bytes may mean the same")
        let orders = [["systemSmall", "systemLarge"], ["small", "medium"], ["accented", "vibrant"]]
        let named = try [orders, orders.map { $0.reversed() }].map { words throws in
            let members = #""families":\#(words[0]),"supplementalFamilies":\#(words[1]),"rendering":{"modes":\#(words[2])}"#
            return try #require(read(#"[{"kind":"T",\#(members)}]"#).kinds.first)
        }
        #expect(named[1].difference(from: named[0]) == nil, "what is only named has no order")
    }

    @Test("how it is written, and the order of what is a set, make no difference")
    func spellings() throws {
        let pairs = [
            (#""displayName":"Küche/Flur""#, #""displayName":"K\u00fcche\/Flur""#),
            (#""placeholder":{"a":1,"b":["é",0]}"#, #""placeholder": { "b" : [ "\u00E9", -0.0 ], "a" : 10e-1 }"#),
            (#""supplementalFamilies":["small","medium"]"#, #""supplementalFamilies":["medium","small"]"#),
            (#""rendering":{"modes":["accented","vibrant"]}"#, #""rendering":{"modes":["vibrant","accented"]}"#),
            (#""rendering":{"accentedGroups":["a","b"]}"#, #""rendering":{"accentedGroups":["b","\u0061"]}"#),
            (
                #""parameters":[{"name":"p","type":"enum","title":"é","default":"/","#
                    + #""options":[{"value":"/","title":"é"}]}]"#,
                #""parameters":[{"type":"enum","name":"p","default":"\/","title":"\u00e9","#
                    + #""options":[{"title":"\u00e9","value":"\/"}]}]"#
            ),
        ]
        func declared(_ families: String, _ member: String) throws -> WidgetKindDeclaration {
            try #require(read(#"[{"kind":"T","families":[\#(families)],\#(member)}]"#).kinds.first)
        }
        for (one, other) in pairs {
            let known = try declared(#""systemSmall","systemLarge""#, one)
            let same = try declared(#""systemLarge","systemSmall""#, other)
            #expect(same.difference(from: known) == nil, "\(other)")
        }
        let others = [
            (#""placeholder":[1,2]"#, #""placeholder":[2,1]"#, WidgetKindDeclaration.Member.placeholder),
            (#""placeholder":{"a":null}"#, #""placeholder":{}"#, .placeholder),
            (#""placeholder":"1""#, #""placeholder":1"#, .placeholder),
            (#""placeholder":{}"#, #""placeholder":null"#, .placeholder),
            (
                #""parameters":[{"name":"p","type":"string"},{"name":"q","type":"string"}]"#,
                #""parameters":[{"name":"q","type":"string"},{"name":"p","type":"string"}]"#, .parameters
            ),
        ]
        for (one, other, member) in others {
            let known = try declared(#""systemSmall""#, one)
            let differs = try declared(#""systemSmall""#, other)
            #expect(differs.difference(from: known) == member, "\(other)")
        }
    }

    // MARK: One widget's rendering

    @Test("a rendering has what its kind lists, or the first misfit is named")
    func renderings() throws {
        let kind = try #require(
            read(
                #"[{"kind":"T","families":["systemSmall"],"supplementalFamilies":["small"],"rendering":{"#
                    + #""modes":["fullColor","accented"],"mountingStyles":["elevated"],"#
                    + #""levelsOfDetail":["simplified"],"containerBackgroundRemovable":false}}]"#
            ).kinds.first)
        let plain = try #require(read(#"[{"kind":"P","families":["systemSmall"]}]"#).kinds.first)
        let cases: [(String, WidgetKindDeclaration, String?)] = [
            ("{}", plain, nil), (#"{"mode":"fullColor","showsContainerBackground":false}"#, plain, nil),
            (#"{"mode":"accented"}"#, plain, "mode unknownValue"),
            (#"{"mountingStyle":"elevated"}"#, plain, "mountingStyle unknownValue"),
            (#"{"supplementalFamily":"small"}"#, plain, "supplementalFamily unknownValue"),
            (
                #"{"mode":"\u0061ccented","mountingStyle":"elevated","levelOfDetail":"simplified","#
                    + #""supplementalFamily":"small","showsContainerBackground":true}"#, kind, nil
            ),
            (#"{"mode":null,"mountingStyle":null,"showsContainerBackground":null}"#, kind, nil),
            (#"{"mode":"vibrant"}"#, kind, "mode unknownValue"), (#"{"mode":1}"#, kind, "mode wrongType"),
            (#"{"mode":"accented","mode":"accented"}"#, kind, "mode twice"),
            (#"{"mountingStyle":"recessed"}"#, kind, "mountingStyle unknownValue"),
            (#"{"levelOfDetail":"default"}"#, kind, "levelOfDetail unknownValue"),
            (#"{"levelOfDetail":["simplified"]}"#, kind, "levelOfDetail wrongType"),
            (#"{"supplementalFamily":"medium"}"#, kind, "supplementalFamily unknownValue"),
            (#"{"showsContainerBackground":false}"#, kind, "showsContainerBackground unknownValue"),
            (#"{"showsContainerBackground":0}"#, kind, "showsContainerBackground wrongType"),
            (#"{"modes":["accented"]}"#, kind, "modes unknown"), (#"{"texture":"glass"}"#, kind, "texture unknown"),
        ]
        for (text, kind, expected) in cases {
            let frame = Array("--\(text)".utf8)
            let refusal = RenderingCheck.refusal(of: FrameRange(2..<frame.count), frame.span, by: kind)
            switch refusal {
            case nil: #expect(expected == nil, "\(text)")
            case .badRendering(let member, let reason):
                #expect("\(String(decoding: member, as: UTF8.self)) \(reason)" == expected, "\(text)")
            default: Issue.record("\(text): \(String(describing: refusal))")
            }
        }
        #expect(RenderingCheck.refusal(of: nil, Span(), by: kind) == nil)
        let long = Array("{\(String(repeating: " ", count: RenderingCheck.maximumCount - 1))}".utf8)
        let refusal = RenderingCheck.refusal(of: FrameRange(0..<long.count), long.span, by: kind)
        #expect(refusal == .badField(.rendering, .tooLong))
    }

    @Test("a misfit tells its member")
    func misfitIsTold() throws {
        var writer = JSONWriter()
        writer.refused(Envelope(), Span(), .badRendering(member: Array("mode".utf8), .unknownValue))
        let error = try #require(try TestJSON(writer.copy())["error"])
        #expect(error["code"]?.string == "badField" && error["retry"]?.string == "never")
        #expect(error["detail"]?["field"]?.string == "rendering" && error["detail"]?["member"]?.string == "mode")
    }
}
