import IsletCore
import IsletProtocol
import Testing

@Suite("Refused commands")
struct CommandRefusalTests {
    static let id = CommandDecoderTests.id
    static let start = #""op":"activity.start","app":"a","type":"T","attributes":{},"contentState":{}"#
    static let update = #""op":"activity.update","app":"a","id":"\#(id)","contentState":{}"#
    static let end = #""op":"activity.end","app":"a","id":"\#(id)""#
    static let list = #""op":"activity.list","app":"a""#
    static let snapshot = #""op":"bulk.snapshot","req":"1","app":"a","credit":1"#

    /// The members of a frame, and the code, field and reason that it must get.
    static let cases: [(String, String)] = [
        // The op
        (#""req":"1""#, "missingField op"), (#""op":null"#, "missingField op"), ("", "missingField op"),
        (#""op":5"#, "badField op wrongType"), (#""op":"""#, "unknownOp "),
        (#""op":"activity.explode""#, "unknownOp activity.explode"),
        (#""op":"ACTIVITY.START""#, "unknownOp ACTIVITY.START"), (#""op":"\ud800""#, "badMessage invalidUTF8"),
        (#""op":"service.ping","op":"service.ping""#, "badField op twice"),
        (#""op":"token.set""#, "unknownOp token.set"),
        // Unknown and repeated fields: the first in the frame
        (start + #","staledate":1"#, "unknownField staledate"), (start + #","colour":null"#, "unknownField colour"),
        (start + #","":1"#, "unknownField "), (start + #","Op":1,"zz":2"#, "unknownField Op"),
        (start + #","type":"T""#, "badField type twice"), (start + #","\u0074ype":"T","zz":1"#, "badField type twice"),
        (start + #","zz":1,"type":"T""#, "unknownField zz"), (start + #","key":null,"key":"k""#, "badField key twice"),
        (start + #","timestamp":1763700600000"#, "unknownField timestamp"),
        (start + #","limit":null"#, "unknownField limit"),
        (update + #","style":"standard""#, "unknownField style"), (end + #","alert":{}"#, "unknownField alert"),
        (end + #","staleDate":null"#, "unknownField staleDate"), (update + #","minSeq":1"#, "unknownField minSeq"),
        (#""op":"service.ping","app":"a""#, "unknownField app"),
        (
            start + #","a very long name that is none of ours at all":1"#,
            "unknownField a very long name that is none of ours at all"
        ),
        (start + #","activitiesEnable\u0064":true"#, #"unknownField activitiesEnable\u0064"#),
        // Missing
        (#""op":"activity.start","type":"T","attributes":{},"contentState":{}"#, "missingField app"),
        (#""op":"activity.start","app":null,"type":"T","attributes":{},"contentState":{}"#, "missingField app"),
        (#""op":"activity.start","app":"a","attributes":{},"contentState":{}"#, "missingField type"),
        (#""op":"activity.start","app":"a","type":"T","contentState":{}"#, "missingField attributes"),
        (#""op":"activity.start","app":"a","type":"T","attributes":{}"#, "missingField contentState"),
        (start + #","startDate":1763700600000"#, "missingField alert"),
        (start + #","ifExists":"update""#, "missingField key"),
        (#""op":"activity.update","app":"a","contentState":{}"#, "missingField id"),
        (#""op":"activity.get","app":"a","device":"d""#, "missingField id"),
        (#""op":"activity.update","app":"a","id":"\#(id)""#, "missingField contentState"),
        (#""op":"activity.list""#, "missingField app"),
        (#""op":"activity.list","app":"a","order":"presentation""#, "missingField device"),
        (#""op":"settings.set","activitiesEnabled":true"#, "missingField app"),
        (#""op":"settings.set","app":"a""#, "missingField activitiesEnabled"),
        (#""op":"device.event","event":"lock""#, "missingField device"),
        (#""op":"device.event","device":"d""#, "missingField event"),
        (#""op":"device.event","device":"d","event":"uninstall""#, "missingField app"),
        (#""op":"clock.advance""#, "missingField by"), (#""op":"stream.applied","apps":{}"#, "missingField nonce"),
        (#""op":"stream.applied","nonce":"00000000000000000000000000000000""#, "missingField apps"),
        (#""op":"bulk.snapshot","app":"a","credit":1"#, "missingField req"),
        (#""op":"bulk.snapshot","req":"1","credit":1"#, "missingField app"),
        (#""op":"bulk.snapshot","req":"1","app":"a""#, "missingField credit"),
        (#""op":"bulk.replay","req":"1","app":"a","credit":1"#, "missingField from"),
        (#""op":"bulk.cancel""#, "missingField req"),
        (end + #","dismissalPolicy":{}"#, "missingField after"),
        (end + #","dismissalPolicy":{"after":null}"#, "missingField after"),
        // The envelope
        (start + #","req":5"#, "badField req wrongType"), (start + #","req":"""#, "badField req badCharacters"),
        (start + #","req":"a\"b""#, "badField req badCharacters"),
        (start + #","req":"a\\b""#, "badField req badCharacters"),
        (start + #","req":"ä""#, "badField req badCharacters"),
        (start + #","req":"a\tb""#, "badField req badCharacters"),
        (start + #","req":"\ud800""#, "badField req badCharacters"),
        (start + #","req":"\#(repeating("x", 65))""#, "badField req tooLong"),
        (start + #","client":"me""#, "badField client notAUUID"),
        (start + #","client":1"#, "badField client wrongType"),
        (start + #","ttl":-1"#, "badField ttl outOfRange"), (start + #","ttl":1.0"#, "badField ttl wrongType"),
        (start + #","ttl":1e3"#, "badField ttl wrongType"), (start + #","ttl":"5s""#, "badField ttl wrongType"),
        (start + #","ttl":9007199254740993"#, "badField ttl outOfRange"),
        (start + #","ttl":123456789012345678901234567890"#, "badField ttl outOfRange"),
        (start + #","ttl":true"#, "badField ttl wrongType"), (start + #","ttl":[]"#, "badField ttl wrongType"),
        (update + #","ifRevision":-1"#, "badField ifRevision outOfRange"),
        (start + #","ifRevision":1"#, "badField ifRevision notAllowedHere"),
        (list + #","ifRevision":1"#, "badField ifRevision notAllowedHere"),
        (list + #","minSeq":-1"#, "badField minSeq outOfRange"),
        (#""op":"activity.list","device":"d","order":"presentation","minSeq":1"#, "badField minSeq notAllowedHere"),
        (start + #","source":"rumour""#, "badField source unknownValue"),
        (start + #","ack":"all""#, "badField ack unknownValue"),
        (start + #","ack":false"#, "badField ack wrongType"),
        // Texts
        (#""op":"activity.get","app":5,"key":"k""#, "badField app wrongType"),
        (#""op":"activity.get","app":"","key":"k""#, "badField app badCharacters"),
        (#""op":"activity.get","app":"a_b","key":"k""#, "badField app badCharacters"),
        (#""op":"activity.get","app":"a/b","key":"k""#, "badField app badCharacters"),
        (#""op":"activity.get","app":"\#(repeating("a", 101))","key":"k""#, "badField app tooLong"),
        (#""op":"activity.get","app":"\#(repeating("a", 100))","key":"\#(repeating("k", 64))""#, "ok"),
        (#""op":"activity.get","app":"a","key":"\#(repeating("k", 65))""#, "badField key tooLong"),
        (#""op":"activity.get","app":"a","key":"a b""#, "badField key badCharacters"),
        (#""op":"activity.get","app":"a","key":"A.z_0:9-""#, "ok"),
        (#""op":"activity.get","app":"a","key":"é""#, "badField key badCharacters"),
        (#""op":"activity.get","app":"a","key":"\u00e9""#, "badField key badCharacters"),
        (#""op":"activity.get","app":"a","key":"\u006b""#, "ok"),
        (#""op":"activity.get","app":"a","id":"01980a1b2c3d7e4f8123456789abcdef""#, "badField id notAUUID"),
        (#""op":"activity.get","app":"a","id":"\#(id)","key":"k""#, "badField key notAllowedHere"),
        (#""op":"activity.get","app":"a","id":"\#(id)","device":"d""#, "badField device notAllowedHere"),
        (start + #","device":7"#, "badField device wrongType"),
        // Payloads
        (
            #""op":"activity.start","app":"a","type":"T","attributes":[],"contentState":{}"#,
            "badField attributes wrongType"
        ),
        (
            #""op":"activity.start","app":"a","type":"T","attributes":{},"contentState":"{}""#,
            "badField contentState wrongType"
        ),
        (start + #","alert":"look""#, "badField alert wrongType"),
        (end + #","contentState":[]"#, "badField contentState wrongType"),
        // Numbers
        (start + #","relevanceScore":"high""#, "badField relevanceScore wrongType"),
        (start + #","relevanceScore":1e999"#, "badField relevanceScore outOfRange"),
        (start + #","relevanceScore":1e2"#, "ok"), (start + #","relevanceScore":123456789012345678901234567890"#, "ok"),
        (list + #","limit":0"#, "badField limit outOfRange"), (list + #","limit":1001"#, "badField limit outOfRange"),
        (list + #","limit":5.0"#, "badField limit wrongType"),
        (#""op":"bulk.credit","req":"1","credit":17"#, "badField credit outOfRange"),
        (#""op":"bulk.credit","req":"1","credit":0"#, "badField credit outOfRange"),
        (#""op":"bulk.replay","req":"1","app":"a","from":-1,"credit":1"#, "badField from outOfRange"),
        (#""op":"clock.advance","by":-1"#, "badField by backwards"),
        (#""op":"clock.advance","by":1.5"#, "badField by wrongType"),
        (#""op":"clock.advance","by":1152921504606846976"#, "badField by outOfRange"),
        (#""op":"clock.advance","by":1,"to":1763700600000"#, "badField to notAllowedHere"),
        // Words and flags
        (start + #","style":"fancy""#, "badField style unknownValue"),
        (start + #","style":1"#, "badField style wrongType"),
        (start + #","ifExists":"replace""#, "badField ifExists unknownValue"),
        (start + #","background":"yes""#, "badField background wrongType"),
        (start + #","background":0"#, "badField background wrongType"),
        (list + #","state":"sleeping""#, "badField state unknownValue"),
        (list + #","order":"random""#, "badField order unknownValue"),
        (list + #","cursor":5"#, "badField cursor wrongType"),
        (#""op":"device.event","device":"d","event":"explode""#, "badField event unknownValue"),
        (#""op":"device.event","device":"d","event":"lock","app":"a""#, "badField app notAllowedHere"),
        (#""op":"activity.dismiss","app":"a","key":"k","by":"cat""#, "badField by unknownValue"),
        (#""op":"settings.set","app":"a","activitiesEnabled":"yes""#, "badField activitiesEnabled wrongType"),
        (#""op":"stream.applied","nonce":"zz","apps":{}"#, "badField nonce badCharacters"),
        (#""op":"stream.applied","nonce":"abcd","apps":{}"#, "badField nonce outOfRange"),
        (#""op":"stream.applied","nonce":"00000000000000000000000000000000","apps":[]"#, "badField apps wrongType"),
        (snapshot + #","prefix":"a b""#, "badField prefix badCharacters"),
        (snapshot + #","prefix":"a/activity/~""#, "ok"),
        // Structured fields
        (start + #","pushType":"token""#, "ok"), (start + #","pushType":"t\u006fken""#, "ok"),
        (start + #","pushType":{"channel":"c"}"#, "ok"),
        (start + #","pushType":"pigeon""#, "badField pushType unknownValue"),
        (start + #","pushType":5"#, "badField pushType wrongType"),
        (start + #","pushType":{}"#, "badField pushType unknownValue"),
        (start + #","pushType":{"channel":""}"#, "badField pushType unknownValue"),
        (start + #","pushType":{"channel":"c","x":1}"#, "badField pushType unknownValue"),
        (start + #","pushType":{"channel":"c","channel":"c"}"#, "badField pushType unknownValue"),
        (start + #","pushType":{"channel":"\#(repeating("c", 300))"}"#, "badField pushType tooLong"),
        (end + #","dismissalPolicy":"never""#, "badField dismissalPolicy unknownValue"),
        (end + #","dismissalPolicy":5"#, "badField dismissalPolicy wrongType"),
        (end + #","dismissalPolicy":{"before":1763700600000}"#, "unknownField before"),
        (end + #","dismissalPolicy":{"after":1763700600000,"x":null}"#, "unknownField x"),
        (end + #","dismissalPolicy":{"after":1763700600000,"after":1763700600000}"#, "badField after twice"),
        (end + #","dismissalPolicy":{"after":"soon"}"#, "badField after wrongType"),
        (end + #","dismissalPolicy":["immediate"]"#, "badField dismissalPolicy wrongType"),
        // Dates
        (start + #","staleDate":1763700600"#, "implausibleDate staleDate 1763700600000"),
        (start + #","staleDate":785393400"#, "implausibleDate staleDate 1763700600000"),
        (start + #","staleDate":785393400.25"#, "implausibleDate staleDate 1763700600250"),
        (start + #","staleDate":1763700600.5"#, "implausibleDate staleDate 1763700600500"),
        (start + #","staleDate":1763700600000000"#, "implausibleDate staleDate 1763700600000"),
        (start + #","staleDate":1763700600000000000"#, "implausibleDate staleDate 1763700600000"),
        (start + #","staleDate":0"#, "implausibleDate staleDate nil"),
        (start + #","staleDate":-1"#, "implausibleDate staleDate nil"),
        (start + #","staleDate":999999999999"#, "implausibleDate staleDate nil"),
        (start + #","staleDate":1000000000000"#, "ok"),
        (start + #","staleDate":9999999999999"#, "ok"),
        (start + #","staleDate":10000000000000"#, "implausibleDate staleDate nil"),
        (start + #","staleDate":1763700600000.0"#, "badField staleDate wrongType"),
        (start + #","staleDate":1.7637006e12"#, "badField staleDate wrongType"),
        (start + #","staleDate":"2026-01-01""#, "badField staleDate wrongType"),
        (start + #","staleDate":{}"#, "badField staleDate wrongType"),
        (start + #","staleDate":99999999999999999999"#, "badField staleDate outOfRange"),
        (start + #","staleDate":1e400"#, "badField staleDate wrongType"),
        (update + #","timestamp":1763700600"#, "implausibleDate timestamp 1763700600000"),
        (end + #","dismissalPolicy":{"after":1763700600}"#, "implausibleDate after 1763700600000"),
        (#""op":"clock.advance","to":785393400"#, "implausibleDate to 1763700600000"),
    ]

    private static func repeating(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    @Test("each gets its code, its field and its reason")
    func refusals() {
        for (members, expected) in Self.cases {
            #expect(Decoded("{\(members)}").verdict == expected, "{\(members)}")
        }
    }

    @Test("white space and the order of fields make no difference")
    func order() {
        var generator = SeededGenerator(seed: 5)
        for (members, expected) in Self.cases where expected == "ok" {
            let fields = members.components(separatedByTopLevel: ",").shuffled(using: &generator)
            #expect(Decoded(" {\n \(fields.joined(separator: "\t, ")) } ").verdict == "ok", "\(fields)")
        }
    }

    @Test(
        "frames that are no command",
        arguments: zip(
            [
                "", " ", "nul", "[]", "5", "\"x\"", "null", "{\"op\":}", "{\"op\":\"service.ping\"}x",
                "\u{FEFF}{}",
                "{\"op\":\"service.ping\",\"req\":\"\u{01}\"}",
            ],
            [
                "emptyFrame", "invalidJSON", "invalidJSON", "notAnObject", "notAnObject", "notAnObject", "notAnObject",
                "invalidJSON", "invalidJSON", "invalidJSON", "invalidJSON",
            ]))
    func noCommand(_ text: String, _ reason: String) {
        #expect(Decoded(text).verdict == "badMessage \(reason)")
    }

    @Test("invalid UTF-8 and too deep payloads are bad messages")
    func badBytes() {
        #expect(
            Decoded(Array(#"{"op":"service.ping","req":""#.utf8) + [0xFF] + Array("\"}".utf8)).verdict
                == "badMessage invalidUTF8")
        let start = #"{"op":"activity.start","app":"a","type":"T","attributes":{},"contentState":"#
        func nested(_ depth: Int) -> String {
            start + String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth)
        }
        #expect(Decoded(nested(64)).verdict == "ok")
        #expect(Decoded(nested(65)).verdict == "badMessage tooDeep")
    }

    @Test("damaged commands never trap, whatever is in them")
    func mutations() {
        let seed: UInt64 = 0xC0DE
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        var decoder = CommandDecoder()
        var outcomes: Set<String> = []
        for _ in 0..<60_000 {
            let members = Self.cases.randomElement(using: &generator)?.0 ?? ""
            var bytes = Array("{\(members)}".utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
                case 1: bytes[index] = Array(#""\{}:,[]0u"#.utf8).randomElement(using: &generator) ?? 0
                case 2: bytes.insert(contentsOf: #"\u0061"#.utf8, at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + 3))
                }
                if bytes.isEmpty { break }
            }
            let decoded = Decoded(bytes, with: &decoder)
            outcomes.insert(String(decoded.verdict.prefix { $0 != " " }))
            if !ReferenceJSON.accepts(bytes) { #expect(decoded.verdict.hasPrefix("badMessage"), "\(bytes)") }
            if decoded.refusal == nil { #expect(ReferenceJSON.accepts(bytes)) }
        }
        #expect(outcomes.isSuperset(of: ["ok", "badMessage", "unknownOp", "unknownField", "missingField", "badField"]))
    }
}

extension String {
    /// Splits at a separator that stands in no string, object or array.
    fileprivate func components(separatedByTopLevel separator: Character) -> [String] {
        var parts = [""]
        var depth = 0
        var inString = false
        for character in self {
            if character == "\"" { inString.toggle() }
            if !inString, "{[".contains(character) { depth += 1 }
            if !inString, "}]".contains(character) { depth -= 1 }
            if character == separator, depth == 0, !inString {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }
}
