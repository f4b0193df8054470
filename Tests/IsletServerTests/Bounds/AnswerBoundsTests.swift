import IsletProtocol
import IsletServer
import Testing

@Suite("Bounds of answers")
struct AnswerBoundsTests {
    /// Writes an answer of exactly so many bytes; whether it fits, and its text where it is short.
    private func write(
        _ size: Int, req: String?, to messages: inout OutboundMessages, ofMessageFrom message: Int
    ) -> (fits: Bool, count: Int, text: String) {
        let start = messages.writer.count
        messages.writer.beginDocument()
        messages.writer.beginObject()
        if let req { messages.writer.field("req", string: req) }
        messages.writer.field("ok", true)
        messages.writer.field("x", string: "")
        let rest = size - (messages.writer.count - start) - 1
        messages.writer.truncate(to: messages.writer.count - 1)
        let padding: [UInt8] = [UInt8](repeating: UInt8(ascii: "y"), count: rest) + Array("\"}".utf8)
        messages.writer.plainBytes(padding.span)
        #expect(messages.writer.count - start == size)
        let fits = messages.boundAnswer(from: start, ofMessageFrom: message)
        let count = messages.writer.count - start
        let text = messages.writer.withBytes { bytes in
            String(decoding: bytes[start...].prefix(1_000), as: UTF8.self)
        }
        return (fits, count, text)
    }

    @Test("an answer of exactly 1 MiB fits, and in place of a larger one stands a refusal of its request")
    func frame() {
        var messages = OutboundMessages()
        let taken1 = write(1 << 20, req: "r-1", to: &messages, ofMessageFrom: 0)
        #expect(taken1.fits)
        let start = messages.writer.count
        let refused = write((1 << 20) + 1, req: "r-2", to: &messages, ofMessageFrom: start)
        #expect(!refused.fits && refused.count < 300)
        #expect(refused.text.hasPrefix(#"{"req":"r-2","ok":false,"error":{"code":"tooMany","#))
        #expect(refused.text.hasSuffix(#""retry":"never","detail":{"limit":1048576}}}"#))
        let nameless = write(5 << 20, req: nil, to: &messages, ofMessageFrom: messages.writer.count)
        #expect(nameless.text.hasPrefix(#"{"ok":false,"error":{"code":"tooMany","#))
    }

    @Test("answers to one message have 16 MiB, whatever its commands are: small ones are always among them")
    func message() {
        var messages = OutboundMessages()
        let before = [UInt8](repeating: 32, count: 3 << 20)
        messages.writer.plainBytes(before.span)
        let start = messages.writer.count
        var fitting = 0
        for number in 0..<128 {
            if write(1 << 20, req: "l-\(number)", to: &messages, ofMessageFrom: start).fits { fitting += 1 }
            let taken2 = write(OutboundMessages.smallAnswerBytes, req: "s", to: &messages, ofMessageFrom: start)
            #expect(taken2.fits)
        }
        #expect(fitting >= 14 && messages.writer.count - start <= 16 << 20)
        let refused = write(5_000, req: "late", to: &messages, ofMessageFrom: start)
        #expect(refused.text.hasPrefix(#"{"req":"late","ok":false,"error":{"code":"busy","#))
        #expect(refused.text.hasSuffix(#""retry":"later","retryAfter":10}}"#))
        let taken3 = write(5_000, req: "next", to: &messages, ofMessageFrom: messages.writer.count)
        #expect(taken3.fits, "of another message")
    }
}
