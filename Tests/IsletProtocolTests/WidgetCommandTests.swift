import IsletCore
import IsletProtocol
import Testing

@Suite("Commands about widgets")
struct WidgetCommandTests {
    private static let id = "0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11"
    private static let address = #""app":"com.example.weather","id":"\#(id)""#
    private static let kind = #""app":"a","kind":"k""#
    private static let provider = #""provider":"0198C0DE-0000-7000-8000-0000000000F2","call":"1""#

    private func operation(_ members: String) throws -> (decoded: Decoded, operation: WidgetOperation) {
        let decoded = Decoded("{\(members)}")
        guard case .widget(let operation) = decoded.operation else {
            Issue.record("\(decoded.verdict): \(members)")
            throw Missed()
        }
        return (decoded, operation)
    }

    @Test("the fields of a placing and of a change arrive where they belong")
    func placing() throws {
        let (add, operation) = try operation(
            #""op":"widget.add","app":"a.b","kind":"For\u0065cast","family":"system\u004carge","id":"\#(Self.id)","#
                + #""configuration":{"x" : 1},"rendering":{ },"device":"d""#)
        guard case .add(let added) = operation else { throw Missed() }
        #expect(add.text(added.app) == "a.b" && add.text(added.kind) == "Forecast" && added.family == .systemLarge)
        #expect(add.text(added.configuration) == #"{"x" : 1}"# && add.text(added.rendering) == "{ }")
        #expect(add.text(added.device) == "d" && added.id?.description == Self.id)
        #expect(add.text(operation.app) == "a.b")

        for (members, configuration, rendering): (String, String?, String?) in [
            (#""configuration":{}"#, "{}", nil), (#""rendering":{},"configuration":null"#, nil, "{}"),
            (#""configuration":{},"rendering":{"mode":"accented"}"#, "{}", #"{"mode":"accented"}"#),
        ] {
            let (decoded, operation) = try self.operation(#""op":"widget.configure",\#(Self.address),\#(members)"#)
            guard case .configure(let configure) = operation else { throw Missed() }
            #expect(decoded.text(configure.configuration) == configuration)
            #expect(decoded.text(configure.rendering) == rendering && configure.address.id.description == Self.id)
        }
    }

    @Test("every family is known by its name")
    func families() throws {
        for family in WidgetFamily.allCases {
            let (_, operation) = try operation(#""op":"widget.list","app":"a","family":"\#(family.wireName)""#)
            guard case .list(let list) = operation else { throw Missed() }
            #expect(list.family == family)
        }
        for state in WidgetState.allCases {
            let (_, operation) = try operation(#""op":"widget.list","app":"a","state":"\#(state.wireName)""#)
            guard case .list(let list) = operation else { throw Missed() }
            #expect(list.state == state)
        }
    }

    @Test("a tap has a target")
    func taps() throws {
        func target(_ members: String) throws -> (Decoded, WidgetTap.Target) {
            let (decoded, operation) = try operation(#""op":"widget.tap",\#(Self.address)\#(members)"#)
            guard case .tap(let tap) = operation else { throw Missed() }
            return (decoded, tap.target)
        }
        #expect(try target("").1 == .widget)
        #expect(try target(#","link":null,"action":null,"parameters":null"#).1 == .widget)
        let (link, linked) = try target(#","link":"t\u006fmorrow""#)
        guard case .link(let name) = linked else { throw Missed() }
        #expect(link.text(name) == "tomorrow")
        let (act, acted) = try target(#","action":"refresh","parameters":{"deep":"\u0041"}"#)
        guard case .action(let action, let parameters) = acted else { throw Missed() }
        #expect(act.text(action) == "refresh" && act.text(parameters) == #"{"deep":"\u0041"}"#, "byte for byte")
        let most = #"{"x":"\#(String(repeating: "x", count: 4_096 - 8))"}"#
        #expect(try target(#","action":"a","parameters":\#(most)"#).0.verdict == "ok")
    }

    @Test("reads have what they ask for")
    func reads() throws {
        let (_, timeline) = try operation(#""op":"widget.timeline",\#(Self.address),"at":1763700000000,"minSeq":4"#)
        guard case .timeline(_, let at) = timeline else { throw Missed() }
        #expect(at == Instant(1_763_700_000_000))
        let (shot, snapshot) = try operation(
            #""op":"widget.snapshot",\#(Self.kind),"family":"accessoryInline","configuration":{},"isPreview":true"#)
        guard case .snapshot(let asked) = snapshot else { throw Missed() }
        #expect(asked.family == .accessoryInline && asked.isPreview && shot.text(asked.configuration) == "{}")
        let (list, listed) = try operation(#""op":"widget.list",\#(Self.kind),"device":"d","limit":7,"cursor":"9""#)
        guard case .list(let rows) = listed else { throw Missed() }
        #expect(list.text(rows.kind) == "k" && list.text(rows.device) == "d" && rows.limit == 7)
        #expect(list.text(rows.cursor) == "9" && rows.state == nil && rows.family == nil)
        let (stack, stacked) = try operation(#""op":"widget.stack","device":"phone-7""#)
        guard case .stack(let device) = stacked else { throw Missed() }
        #expect(stack.text(device) == "phone-7" && stacked.app == nil)
        let (all, dropped) = try operation(#""op":"widget.invalidateRecommendations","app":"a""#)
        guard case .invalidateRecommendations(let app, nil) = dropped else { throw Missed() }
        #expect(all.text(app) == "a")
    }

    @Test("options are asked for with one of three queries")
    func options() throws {
        func query(_ members: String) throws -> (Decoded, WidgetOptions.Query) {
            let (decoded, operation) = try operation(#""op":"widget.options",\#(Self.kind),"parameter":"p"\#(members)"#)
            guard case .options(let options) = operation else { throw Missed() }
            return (decoded, options.query)
        }
        #expect(try query("").1 == .suggestedEntities)
        #expect(try query(#","query":"suggestedEntities","configuration":{}"#).1 == .suggestedEntities)
        #expect(try query(#","query":"default\u0052esult""#).1 == .defaultResult)
        let (decoded, entities) = try query(#","query":"entitiesFor","identifiers":["a", "\u0062"]"#)
        guard case .entitiesFor(let identifiers) = entities else { throw Missed() }
        #expect(decoded.text(identifiers) == #"["a", "\u0062"]"#, "byte for byte")
        for known: WidgetOptions.Query in [.suggestedEntities, .defaultResult] {
            #expect(try query(#","query":"\#(known.wireName)""#).1 == known)
        }
    }

    @Test("a timeline arrives with the answer, byte for byte")
    func answers() throws {
        let entries = #"[ {"date":1763700000000,"url":"\u0061"} ]"#
        let decoded = Decoded(
            #"{"op":"provider.answer",\#(Self.provider),"entries":\#(entries),"policy":"n\u0065ver","needsLogin":true,"#
                + #""url":"w:\/\/x"}"#)
        guard case .providerAnswer(let answer) = decoded.operation else { throw Missed() }
        #expect(decoded.text(answer.entries) == entries && decoded.text(answer.policy) == #""n\u0065ver""#)
        #expect(answer.needsLogin == true && decoded.text(answer.url) == #""w:\/\/x""#)
        let timeline = try TimelineReading.read(
            decoded.frame.span, entries: answer.entries, policy: answer.policy, needsLogin: answer.needsLogin,
            family: .systemSmall, limit: 10)
        #expect(timeline.policy == .never && timeline.entries.count == 1)

        let register = Decoded(
            #"{"op":"provider.register","app":"a","provider":"\#(Self.id)","widgets":[{"kind":"T","families":["#
                + #""systemSmall"]}]}"#)
        guard case .providerRegister(let registered) = register.operation else { throw Missed() }
        #expect(registered.kinds == nil && register.text(registered.widgets)?.contains(#""kind":"T""#) == true)
    }

    @Test("a tap on an activity carries its url")
    func activityTaps() throws {
        let decoded = Decoded(#"{"op":"activity.tap","app":"a","key":"k","device":"d","url":"pizza:\/\/\u0061"}"#)
        guard case .activityTap(let tap) = decoded.operation else { throw Missed() }
        #expect(decoded.text(tap.url) == #""pizza:\/\/\u0061""#)
        #expect(Decoded(#"{"op":"activity.tap","app":"a","id":"\#(Self.id)"}"#).verdict == "ok")
    }

    private static let refusals: [(String, String)] = [
        (#""op":"widget.add","app":"a","kind":"k""#, "missingField family"),
        (#""op":"widget.add","app":"a","family":"systemSmall""#, "missingField kind"),
        (#""op":"widget.add",\#(kind),"family":"systemHuge""#, "badField family unknownValue"),
        (#""op":"widget.add",\#(kind),"family":"systemsmall""#, "badField family unknownValue"),
        (#""op":"widget.add",\#(kind),"family":1"#, "badField family wrongType"),
        (#""op":"widget.add",\#(kind),"family":"systemSmall","configuration":[]"#, "badField configuration wrongType"),
        (#""op":"widget.add",\#(kind),"family":"systemSmall","rendering":"dim""#, "badField rendering wrongType"),
        (#""op":"widget.add",\#(kind),"family":"systemSmall","device":"a/b""#, "badField device badCharacters"),
        (#""op":"widget.add",\#(kind),"family":"systemSmall","id":"x""#, "badField id notAUUID"),
        (#""op":"widget.add",\#(kind),"family":"systemSmall","ifRevision":1"#, "badField ifRevision notAllowedHere"),
        (#""op":"widget.add",\#(kind),"family":"systemSmall","template":"x""#, "unknownField template"),
        (#""op":"widget.configure",\#(address)"#, "missingField configuration"),
        (#""op":"widget.configure",\#(address),"rendering":null"#, "missingField configuration"),
        (#""op":"widget.configure",\#(address),"rendering":[]"#, "badField rendering wrongType"),
        (#""op":"widget.configure","app":"a","configuration":{}"#, "missingField id"),
        (#""op":"widget.configure",\#(address),"configuration":{},"family":"systemSmall""#, "unknownField family"),
        (#""op":"widget.remove","app":"a""#, "missingField id"),
        (#""op":"widget.reload",\#(address),"kind":"k""#, "badField kind notAllowedHere"),
        (#""op":"widget.reload","app":"a","ifRevision":1"#, "badField ifRevision notAllowedHere"),
        (#""op":"widget.reload",\#(kind),"ifRevision":1"#, "badField ifRevision notAllowedHere"),
        (#""op":"widget.reload",\#(address),"ifRevision":1"#, "ok"),
        (#""op":"widget.visible","app":"a""#, "missingField id"),
        (#""op":"widget.tap",\#(address),"link":"a","action":"b""#, "badField action notAllowedHere"),
        (#""op":"widget.tap",\#(address),"link":"a","parameters":{}"#, "badField parameters notAllowedHere"),
        (#""op":"widget.tap",\#(address),"parameters":{}"#, "badField parameters notAllowedHere"),
        (#""op":"widget.tap",\#(address),"action":"a","parameters":[]"#, "badField parameters wrongType"),
        (
            #""op":"widget.tap",\#(address),"action":"a","parameters":{"x":"\#(tooMuch)"}"#,
            "badField parameters tooLong"
        ),
        (#""op":"widget.tap",\#(address),"action":"re fresh""#, "badField action badCharacters"),
        (#""op":"widget.tap",\#(address),"link":"""#, "badField link badCharacters"),
        (#""op":"widget.tap",\#(address),"url":"x""#, "unknownField url"),
        (#""op":"widget.get",\#(address),"maxAge":1"#, "unknownField maxAge"),
        (#""op":"widget.get","app":"a","key":"k""#, "unknownField key"),
        (#""op":"widget.get","app":"a""#, "missingField id"),
        (#""op":"widget.history","app":"a""#, "missingField id"),
        (#""op":"widget.explain","app":"a""#, "missingField id"),
        (#""op":"widget.timeline",\#(address),"at":1763700000"#, "implausibleDate at 1763700000000"),
        (#""op":"widget.timeline",\#(address),"at":"now""#, "badField at wrongType"),
        (#""op":"widget.budget","app":"a""#, "missingField id"),
        (#""op":"widget.list","kind":"k""#, "missingField app"),
        (#""op":"widget.list","app":"a","state":"preview""#, "badField state unknownValue"),
        (#""op":"widget.list","app":"a","limit":1001"#, "badField limit outOfRange"),
        (#""op":"widget.kinds""#, "missingField app"), (#""op":"widget.snapshot",\#(kind)"#, "missingField family"),
        (#""op":"widget.snapshot",\#(kind),"family":"systemSmall","isPreview":1"#, "badField isPreview wrongType"),
        (#""op":"widget.options",\#(kind)"#, "missingField parameter"),
        (#""op":"widget.options",\#(kind),"parameter":"p","query":"all""#, "badField query unknownValue"),
        (#""op":"widget.options",\#(kind),"parameter":"p","identifiers":[]"#, "badField identifiers notAllowedHere"),
        (
            #""op":"widget.options",\#(kind),"parameter":"p","query":"defaultResult","identifiers":[]"#,
            "badField identifiers notAllowedHere"
        ),
        (#""op":"widget.options",\#(kind),"parameter":"p","query":"entitiesFor""#, "missingField identifiers"),
        (
            #""op":"widget.options",\#(kind),"parameter":"p","query":"entitiesFor","identifiers":["a",1]"#,
            "badField identifiers wrongType"
        ),
        (
            #""op":"widget.options",\#(kind),"parameter":"p","query":"entitiesFor","identifiers":[\#(many)]"#,
            "badField identifiers tooLong"
        ),
        (#""op":"widget.recommendations","app":"a""#, "missingField kind"),
        (#""op":"widget.invalidateRecommendations","kind":"k""#, "missingField app"),
        (#""op":"widget.invalidateRelevance","app":"a""#, "missingField kind"),
        (#""op":"widget.stack","device":"""#, "badField device badCharacters"),
        (#""op":"widget.stack","app":"a","device":"d""#, "unknownField app"),
        (#""op":"widget.stack""#, "missingField device"),
        (#""op":"activity.tap","app":"a","key":"k","url":5"#, "badField url wrongType"),
        (
            #""op":"activity.tap","app":"a","key":"k","url":"\#(String(repeating: "x", count: 2_049))""#,
            "badField url tooLong"
        ),
        (#""op":"provider.answer",\#(provider),"entries":{}"#, "badField entries wrongType"),
        (#""op":"provider.answer",\#(provider),"entries":[],"needsLogin":1"#, "badField needsLogin wrongType"),
        (#""op":"provider.answer",\#(provider),"content":{}"#, "unknownField content"),
        (#""op":"provider.register","app":"a","provider":"\#(id)","widgets":[]"#, "badField widgets outOfRange"),
        (#""op":"provider.register","app":"a","provider":"\#(id)","widgets":{}"#, "badField widgets wrongType"),
        (#""op":"provider.register","app":"a","provider":"\#(id)""#, "missingField kinds"),
        (#""op":"device.event","device":"d","event":"sessionStart""#, "missingField app"),
        (#""op":"device.event","device":"d","event":"standByStart","app":"a""#, "badField app notAllowedHere"),
    ]
    private static var tooMuch: String { String(repeating: "x", count: 4_089) }
    private static var many: String { Array(repeating: #""x""#, count: 101).joined(separator: ",") }

    @Test("each mistake gets its code, its field and its reason")
    func mistakes() {
        for (members, expected) in Self.refusals {
            #expect(Decoded("{\(members)}").verdict == expected, "{\(members.prefix(160))}")
        }
    }

    private struct Missed: Error {}
}
