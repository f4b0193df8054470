import Testing
import ZeroMQ

@Suite struct MessageTests {
    @Test func `an empty message has no bytes`() {
        let message = Message()
        #expect(message.count == 0)
        #expect(message.isEmpty == true)
        #expect(message.bytes == [])
        #expect(message.more == false)
    }

    /// 33 bytes is the most that stands in the message itself.
    @Test(arguments: [0, 1, 32, 33, 34, 100, 70_000])
    func `bytes go in and come out unchanged`(size: Int) {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let fromArray = Message(copying: bytes)
        let fromSpan = Message(copying: bytes.span)
        let fromBuffer = bytes.withUnsafeBytes { (buffer) -> [UInt8] in Message(copying: buffer).bytes }
        let filled = Message(size: size) { $0.copyBytes(from: bytes) }
        #expect(fromArray.bytes == bytes)
        #expect(fromSpan.bytes == bytes)
        #expect(fromBuffer == bytes)
        #expect(filled.bytes == bytes)
        #expect(fromArray.count == size)
        let viaSpan = fromArray.withSpan { span in span.indices.map { span[$0] } }
        #expect(viaSpan == bytes)
    }

    @Test func `a message of text has its UTF-8 bytes`() {
        #expect(Message(copying: "Zürich").bytes == utf8("Zürich"))
    }

    @Test func `a copy of a long message shares its bytes and outlives it`() {
        let bytes = [UInt8](repeating: 0xA5, count: 1_000)
        var copies: [UInt] = []
        let copy: Message
        do {
            var original = Message(copying: bytes)
            copy = original.copy()
            copies.append(original.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
        }
        copies.append(copy.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
        #expect(copies[0] == copies[1])
        #expect(copy.bytes == bytes)
    }

    @Test func `a copy of a short message outlives it`() {
        let copy: Message
        do {
            var original = Message(copying: utf8("short"))
            copy = original.copy()
        }
        #expect(copy.bytes == utf8("short"))
    }

    @Test func `an error of the filling closure comes through`() {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { _ = try Message(size: 100) { _ throws(Refusal) in throw Refusal() } }
    }

    @Test func `a message made here has no connection`() {
        #expect(Message(copying: utf8("x")).sourceDescriptor == nil)
    }

    @Test(arguments: [0, 1, 33, 100, 70_000])
    func `a counted message counts until its last copy is gone`(size: Int) {
        let held = HeldBytes()
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        do {
            let copy: Message
            do {
                var original = Message(copying: bytes.span, weighing: 9, in: held)
                #expect(original.bytes == bytes)
                #expect(held.count == 9 && held.freed == 0)
                copy = original.copy()
            }
            #expect(copy.bytes == bytes)
            #expect(held.count == 9 && held.freed == 0)
        }
        #expect(held.count == 0 && held.freed == 9)
    }
}
