import IsletCore
import IsletProtocol
import Testing

@Suite("Commands about groups")
struct GroupCommandTests {
    private static let address = #""app":"a.b","group":"g.x""#

    @Test("the fields arrive where they belong")
    func fields() throws {
        let create = Decoded(#"{"op":"group.create",\#(Self.address),"members":["a.c" , "a.\u0064"]}"#)
        guard case .group(.create(let address, let members?)) = create.operation else { throw Absent() }
        #expect(create.text(address.app) == "a.b" && create.text(address.group) == "g.x")
        #expect(try GroupMembers.read(members, of: create.frame.span).map(text) == ["a.c", "a.d"])

        let set = Decoded(#"{"op":"group.set",\#(Self.address),"key":"k:1","value":[1, "\u0041"],"ifRevision":0}"#)
        guard case .group(.set(let key, let value)) = set.operation else { throw Absent() }
        #expect(set.text(key.key) == "k:1" && set.text(value) == #"[1, "\u0041"]"# && set.envelope?.ifRevision == 0)

        let list = Decoded(#"{"op":"group.list",\#(Self.address),"prefix":"k:","limit":3,"cursor":"k:1"}"#)
        guard case .group(.list(let asked)) = list.operation else { throw Absent() }
        #expect(list.text(asked.prefix) == "k:" && asked.limit == 3 && list.text(asked.cursor) == "k:1")

        let notify = Decoded(#"{"op":"group.notify",\#(Self.address),"name":"n"}"#)
        guard case .group(.notify(_, let name)) = notify.operation else { throw Absent() }
        #expect(notify.text(name) == "n")
    }

    @Test(
        "what is refused before anybody looks at a group",
        arguments: [
            (#""op":"group.create","members":[1]"#, "badField members wrongType"),
            (#""op":"group.create","members":{}"#, "badField members wrongType"),
            (#""op":"group.create","members":[""]"#, "badField members badCharacters"),
            (#""op":"group.create","members":["a/b"]"#, "badField members badCharacters"),
            (#""op":"group.create","members":["\ud800"]"#, "badField members badCharacters"),
            (#""op":"group.create","ifRevision":1"#, "badField ifRevision notAllowedHere"),
            (#""op":"group.set","key":"k""#, "missingField value"),
            (#""op":"group.set","key":"k","value":null"#, "missingField value"),
            (#""op":"group.set","key":"~","value":1"#, "badField key badCharacters"),
            (#""op":"group.admit""#, "missingField member"),
            (#""op":"group.notify""#, "missingField name"),
            (#""op":"group.notify","name":"n","payload":1"#, "unknownField payload"),
            (#""op":"group.list","limit":1001"#, "badField limit outOfRange"),
        ] as [(String, String)])
    func refused(fields: String, verdict: String) {
        #expect(Decoded("{\(fields),\(Self.address)}").verdict == verdict)
    }

    @Test("as many members as a group may have, and not one more")
    func members() {
        func verdict(_ count: Int) -> String {
            let names = (0..<count).map { "\"m\($0)\"" }.joined(separator: ",")
            return Decoded(#"{"op":"group.create",\#(Self.address),"members":[\#(names)]}"#).verdict
        }
        #expect(verdict(64) == "ok" && verdict(65) == "badField members tooLong")
    }

    @Test("the value of an event is found where it stands")
    func value() throws {
        func found(_ json: String) throws -> String? {
            let bytes = Array(json.utf8)
            return try GroupEventValue.range(in: bytes.span).map { text(Array(bytes[$0.indices])) }
        }
        #expect(try found(#"{"value":1,"group":{"key":"k","value":{"value":2},"by":"a"}}"#) == #"{"value":2}"#)
        #expect(try found(#"{"group":{"key":"k"},"value":1}"#) == nil)
        #expect(try found(#"{"notification":{"value":1}}"#) == nil)
        #expect(throws: ScanError.self) { try found("[]") }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private struct Absent: Error {}
}
