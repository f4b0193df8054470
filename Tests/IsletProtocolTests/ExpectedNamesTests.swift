import IsletCore
import IsletProtocol
import Testing

/// A decoder expects names where they stood before; what it makes of a frame must not depend on that.
@Suite("Expected names")
struct ExpectedNamesTests {
    private static let text = "0198c0de-1c00-7a3e-9f21-3b5c8d7e0a11"

    /// Members of commands, with names that begin or end alike, are short, too long to be expected, or no fields.
    private static let members = [
        #""op":"activity.update""#, #""op":"activity.end""#, #""op":"activity.get""#, #""req":"1""#, #""req":"17""#,
        #""app":"com.example""#, #""id":"\#(text)""#, #""key":"home""#, #""device":"phone""#, #""contentState":{"n":1}"#,
        #""contentState":{"app":{"id":[]}}"#, #""staleDate":1780000000000"#, #""relevanceScore":1"#, #""ttl":50"#,
        #""timestamp":1780000000000"#, #""client":"\#(text)""#, #""source":"push""#, #""staleDat":1"#, #""staleDates":1"#,
        #""ap":1"#, #""apps":1"#, #""i\u0064":"\#(text)""#, #""id" :"\#(text)""#, #""ifRevision":7"#, #""x":null"#,
        #""key":null"#, #""type":"Ride""#, #""kind":"Ride""#, #""configuration":{}"#,
    ]

    /// The members of commands that are accepted in any order.
    private static let commands = [
        [
            #""op":"activity.update""#, #""req":"1""#, #""app":"com.example""#, #""id":"\#(text)""#,
            #""contentState":{"n":1}"#, #""staleDate":1780000000000"#, #""relevanceScore":1"#, #""ttl":50"#,
        ],
        [#""op":"activity.get""#, #""req":"17""#, #""app":"com.example""#, #""key":"home""#, #""device":"phone""#],
        [
            #""op":"activity.start""#, #""app":"com.example""#, #""type":"Ride""#, #""contentState":{}"#, #""key":"home""#,
            #""attributes":{"kind":1}"#,
        ],
    ]

    private func frame(_ random: inout SeededGenerator) -> [UInt8] {
        if Bool.random(using: &random), let command = Self.commands.randomElement(using: &random) {
            return Array("{\(command.shuffled(using: &random).joined(separator: ","))}".utf8)
        }
        var members = (0..<Int.random(in: 1...7, using: &random)).map { _ in Self.members.randomElement(using: &random)! }
        if Bool.random(using: &random) { members[0] = Self.members[0] }
        let separator = [",", ",", ",", ", ", " ,", ",\n"].randomElement(using: &random)!
        var text = "{" + members.joined(separator: separator) + "}"
        if Int.random(in: 0..<4, using: &random) == 0 { text.replace(":", with: ": ") }
        var bytes = Array(text.utf8)
        if Int.random(in: 0..<4, using: &random) == 0 {
            bytes[Int.random(in: bytes.indices, using: &random)] = Array(#"{}[],:" ax\"#.utf8).randomElement(using: &random)!
        }
        if Int.random(in: 0..<6, using: &random) == 0 { bytes.removeLast(Int.random(in: bytes.indices, using: &random)) }
        return bytes
    }

    @Test("leave a frame's meaning alone, whatever came before", arguments: [UInt64.random(in: .min ... .max)])
    func sameMeaning(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var used = CommandDecoder()
        var last = frame(&random)
        var accepted = 0
        for number in 0..<20_000 {
            // Mostly the shape of the one before, with a member more, less, or another one.
            let bytes = Int.random(in: 0..<3, using: &random) > 0 ? changed(last, &random) : frame(&random)
            last = bytes
            let (expecting, fresh) = (Decoded(bytes, with: &used), Decoded(bytes))
            if fresh.refusal == nil { accepted += 1 }
            #expect(
                expecting.outcome == fresh.outcome && expecting.frame == fresh.frame,
                "frame \(number) of seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > 2_000)
    }

    private func changed(_ frame: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var parts = String(decoding: frame, as: UTF8.self).dropFirst().split(separator: ",").map(String.init)
        guard !parts.isEmpty else { return frame }
        let index = Int.random(in: parts.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: parts.remove(at: index)
        case 1: parts.insert(Self.members.randomElement(using: &random)!, at: index)
        case 2: parts[index] = Self.members.randomElement(using: &random)! + (index == parts.count - 1 ? "}" : "")
        default: break
        }
        return Array(("{" + parts.joined(separator: ",")).utf8)
    }

    @Test("find a field that stands where another one did", arguments: ["key", "req", "device", "staleDate"])
    func another(name: String) {
        var decoder = CommandDecoder()
        let first = #"{"op":"activity.get","app":"com.example","\#(name)":null,"contentState":{}}"#
        _ = Decoded(Array(first.utf8), with: &decoder)
        let second = Decoded(Array(#"{"op":"activity.get","app":"com.example","id":"\#(Self.text)"}"#.utf8), with: &decoder)
        guard case .activityGet(let address) = second.operation, case .id(let id) = address.target else {
            Issue.record("\(second.verdict)")
            return
        }
        #expect(second.text(address.app) == "com.example")
        #expect(id == EntityID(high: 0x0198_c0de_1c00_7a3e, low: 0x9f21_3b5c_8d7e_0a11))
    }
}
