import IsletCore
import IsletProtocol
import Testing

@Suite("Commands about controls and of providers")
struct ControlCommandTests {
    private static let id = "0198c0de-1c00-7a3e-9f21-3b5c8d7e0a11"
    private static let address = #""app":"com.example.home","id":"\#(id)""#
    private static let provider = #""provider":"0198C0DE-0000-7000-8000-0000000000F1""#

    @Test("the fields arrive where they belong")
    func fields() throws {
        let add = Decoded(
            #"{"op":"control.add","app":"a.b","kind":"Tor\u0063h","configuration":{"x" : 1},"device":"d","#
                + #""id":"\#(Self.id)"}"#
        )
        guard case .controlAdd(let added) = add.operation else { throw Missed() }
        #expect(add.text(added.app) == "a.b" && add.text(added.kind) == "Torch" && add.text(added.device) == "d")
        #expect(add.text(added.configuration) == #"{"x" : 1}"# && added.id?.description == Self.id)

        let set = Decoded(#"{"op":"control.set",\#(Self.address),"value":false,"ifRevision":3}"#)
        guard case .controlSet(let wish) = set.operation else { throw Missed() }
        #expect(!wish.isOn && wish.address.id.description == Self.id && set.envelope?.ifRevision == 3)

        let get = Decoded(#"{"op":"control.get",\#(Self.address),"maxAge":0}"#)
        guard case .controlGet(let got) = get.operation else { throw Missed() }
        #expect(got.maxAge == 0)

        let list = Decoded(#"{"op":"control.list","app":"a","kind":"k","state":"acting","limit":7}"#)
        guard case .controlList(let listed) = list.operation else { throw Missed() }
        #expect(list.text(listed.kind) == "k" && listed.state == .acting && listed.limit == 7 && listed.device == nil)

        let options = Decoded(#"{"op":"control.options","app":"a","kind":"k","parameter":"p","configuration":{}}"#)
        guard case .controlOptions(let asked) = options.operation else { throw Missed() }
        #expect(options.text(asked.parameter) == "p" && options.text(asked.configuration) == "{}")
    }

    @Test("a reload reaches one, all of a kind, or all")
    func reload() throws {
        let one = Decoded(#"{"op":"control.reload",\#(Self.address),"ifRevision":1}"#)
        guard case .controlReload(.one(let address)) = one.operation else { throw Missed() }
        #expect(address.id.description == Self.id)
        let some = Decoded(#"{"op":"control.reload","app":"a","kind":"k","source":"push"}"#)
        guard case .controlReload(.kind(let kind)) = some.operation else { throw Missed() }
        #expect(some.text(kind.kind) == "k" && some.envelope?.source == .push)
        let all = Decoded(#"{"op":"control.reload","app":"a"}"#)
        guard case .controlReload(.all(let app)) = all.operation else { throw Missed() }
        #expect(all.text(app) == "a")
    }

    @Test("what a provider says is carried byte for byte")
    func answers() throws {
        let value = #""a \ud83c\udf55 \ud800""#
        let decoded = Decoded(
            #"{"op":"provider.answer",\#(Self.provider),"call":"c\u002d1","value":\#(value),"status":"\u00e9","#
                + #""tint":"r\u0065d","actionHint":"\\","isActive":false,"disabled":true}"#)
        guard case .providerAnswer(let answer) = decoded.operation else { throw Missed() }
        #expect(answer.provider.description == "0198c0de-0000-7000-8000-0000000000f1")
        #expect(decoded.text(answer.call) == "c-1" && decoded.text(answer.value) == value)
        #expect(decoded.text(answer.status) == #""\u00e9""# && decoded.text(answer.tint) == #""r\u0065d""#)
        #expect(decoded.text(answer.actionHint) == #""\\""# && answer.isActive == false && answer.isDisabled == true)

        let fail = Decoded(#"{"op":"provider.fail",\#(Self.provider),"call":"1","message":"\u0041","retryable":true}"#)
        guard case .providerFail(let failure) = fail.operation else { throw Missed() }
        #expect(fail.text(failure.message) == #""\u0041""# && failure.isRetryable)
    }

    @Test("a registration has its array of kinds and how much it takes")
    func registration() throws {
        let kinds = #"[{"kind":"T","template":"toggle"}]"#
        let decoded = Decoded(#"{"op":"provider.register","app":"a",\#(Self.provider),"kinds":\#(kinds)}"#)
        guard case .providerRegister(let register) = decoded.operation else { throw Missed() }
        #expect(decoded.text(register.kinds) == kinds && register.capacity == 16)
    }

    private static let refusals: [(String, String)] = [
        (#""op":"control.add","app":"a""#, "missingField kind"),
        (#""op":"control.add","kind":"k""#, "missingField app"),
        (#""op":"control.add","app":"a","kind":"a b""#, "badField kind badCharacters"),
        (#""op":"control.add","app":"a","kind":"k","configuration":[]"#, "badField configuration wrongType"),
        (#""op":"control.add","app":"a","kind":"k","id":"x""#, "badField id notAUUID"),
        (#""op":"control.add","app":"a","kind":"k","ifRevision":1"#, "badField ifRevision notAllowedHere"),
        (#""op":"control.add","app":"a","kind":"k","value":true"#, "unknownField value"),
        (#""op":"control.configure",\#(address)"#, "missingField configuration"),
        (#""op":"control.remove","app":"a""#, "missingField id"),
        (#""op":"control.tap",\#(address),"value":true"#, "unknownField value"),
        (#""op":"control.set",\#(address)"#, "missingField value"),
        (#""op":"control.set",\#(address),"value":null"#, "missingField value"),
        (#""op":"control.set",\#(address),"value":1"#, "badField value wrongType"),
        (#""op":"control.set",\#(address),"value":"\u0074rue""#, "badField value wrongType"),
        (#""op":"control.reload",\#(address),"kind":"k""#, "badField kind notAllowedHere"),
        (#""op":"control.reload","app":"a","ifRevision":1"#, "badField ifRevision notAllowedHere"),
        (#""op":"control.get",\#(address),"maxAge":-1"#, "badField maxAge outOfRange"),
        (#""op":"control.list","kind":"k""#, "missingField app"),
        (#""op":"control.list","app":"a","state":"active""#, "badField state unknownValue"),
        (#""op":"control.list","app":"a","limit":1001"#, "badField limit outOfRange"),
        (#""op":"control.preview","app":"a""#, "missingField kind"), (#""op":"control.kinds""#, "missingField app"),
        (#""op":"control.options","app":"a","kind":"k""#, "missingField parameter"),
        (#""op":"provider.register","app":"a",\#(provider)"#, "missingField kinds"),
        (#""op":"provider.register","app":"a","kinds":[]"#, "missingField provider"),
        (#""op":"provider.register","app":"a",\#(provider),"kinds":{}"#, "badField kinds wrongType"),
        (#""op":"provider.register","app":"a",\#(provider),"kinds":[]"#, "badField kinds outOfRange"),
        (
            #""op":"provider.register","app":"a",\#(provider),"kinds":[{"kind":"k","template":"toggle"}],"capacity":0"#,
            "badField capacity outOfRange"
        ),
        (#""op":"provider.answer",\#(provider)"#, "missingField call"),
        (#""op":"provider.answer","call":"1""#, "missingField provider"),
        (#""op":"provider.answer",\#(provider),"call":7"#, "badField call wrongType"),
        (#""op":"provider.answer",\#(provider),"call":"1","status":7"#, "badField status wrongType"),
        (
            #""op":"provider.answer",\#(provider),"call":"1","tint":"\#(String(repeating: "x", count: 257))""#,
            "badField tint tooLong"
        ),
        (#""op":"provider.answer",\#(provider),"call":"1","isActive":"yes""#, "badField isActive wrongType"),
        (#""op":"provider.answer",\#(provider),"call":"1","app":"a""#, "unknownField app"),
        (#""op":"provider.fail",\#(provider),"call":"1","retryable":1"#, "badField retryable wrongType"),
        (
            #""op":"provider.fail",\#(provider),"call":"1","message":"\#(String(repeating: "x", count: 1_025))""#,
            "badField message tooLong"
        ),
        (#""op":"provider.pong""#, "missingField provider"),
        (#""op":"provider.drain","provider":"x""#, "badField provider notAUUID"),
        (#""op":"provider.leave","provider":5"#, "badField provider wrongType"),
        (#""op":"provider.list","app":"a""#, "unknownField app"),
    ]

    @Test("each mistake gets its code, its field and its reason")
    func mistakes() {
        for (members, expected) in Self.refusals {
            #expect(Decoded("{\(members)}").verdict == expected, "{\(members.prefix(160))}")
        }
    }

    private struct Missed: Error {}
}
