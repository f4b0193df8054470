import IsletCore
import IsletProtocol
import Testing

@Suite("What a provider says of a failure, as entities show it")
struct FailureReasonTests {
    private func json(_ message: String) -> String {
        let frame = Array("[\(message)]".utf8)
        let range = FrameRange(1..<frame.count - 1)
        return String(decoding: FailureReason.json(of: range, in: frame.span), as: UTF8.self)
    }

    @Test("what is printable stays, and everything else is a space")
    func printable() {
        #expect(json(#""RuntimeError: db down""#) == #""RuntimeError: db down""#)
        #expect(json(#""a\u0000b\u001b[2J\r\nc\u007fd""#) == #""a b [2J  c d""#)
        #expect(json(#""\u009b1m\u202e\u2028\ufeff.""#) == #"" 1m   .""#)
        #expect(json(#""say \"no\" \\ \/ \u0022""#) == #""say \"no\" \\ / \"""#)
        #expect(json(#""\ud83d\ude00 \ud800 👩‍🚀""#) == "\"\u{1F600} \u{FFFD} 👩‍🚀\"")
    }

    @Test("what says nothing is nothing", arguments: [#""""#, #"" ""#, #""\n\t\u0000""#, #""\u2028""#])
    func nothing(message: String) {
        #expect(json(message) == "")
    }

    @Test("it has at most 256 bytes of text, and ends with a whole character", arguments: 250...260)
    func bounds(count: Int) {
        let text = String(repeating: "x", count: count)
        #expect(json("\"\(text)\"") == "\"\(text.prefix(256))\"")
        let wide = String(repeating: "x", count: count) + "é東🚀"
        let shown = json("\"\(wide)\"").dropFirst().dropLast()
        #expect(shown.utf8.count <= 256 && wide.hasPrefix(shown))
        let next = wide.unicodeScalars.dropFirst(shown.unicodeScalars.count).first.map { UTF8.width($0) } ?? 0
        #expect(next == 0 || shown.utf8.count + next > 256, "\(shown.utf8.count) and there was room for \(next)")
        let escaped = json("\"\(String(repeating: #"\""#, count: count))\"")
        #expect(escaped.utf8.count == 2 + 2 * min(count, 256))
    }

    @Test("events tell it, each failure its own")
    func told() {
        var reasons = ToldReasons()
        func add(_ seq: UInt64, _ event: String, _ member: String) {
            let json = #"{"seq":\#(seq),"event":"\#(event)","control":{"id":"i"\#(member)}}"#
            reasons.add(Array(json.utf8).span, seq: seq)
        }
        add(1, "control.added", "")
        add(2, "control.failed", #","failureReason":"a""#)
        add(3, "control.reloading", "")
        add(4, "control.failed", "")
        add(5, "control.failed", #","failureReason":"b""#)
        add(6, "control.redacted", #","failureReason":null"#)
        add(7, "control.failed", "")
        add(8, "control.revealed", #","failureReason":"c""#)
        add(9, "control.failed", #","failureReason":null"#)
        let told = (1...9).map { reasons[$0].map { String(decoding: $0, as: UTF8.self) } }
        #expect(told == [nil, "\"a\"", nil, "\"a\"", "\"b\"", nil, nil, nil, nil])
        reasons.add(Array("{".utf8).span, seq: 10)
        #expect(reasons[10] == nil)
    }
}
