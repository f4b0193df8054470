package import IsletCore

extension EntityID {
    /// Reads the form 8-4-4-4-12 of hexadecimal digits of either case; nil for every other text (no braces, no `urn:`).
    package init?(text frame: Span<UInt8>, at range: FrameRange) {
        guard range.count == 36 else { return nil }
        let words: (high: UInt64, low: UInt64)? = frame.withUnsafeBytes { bytes in
            // Checked here: these 36 bytes are inside the frame.
            let text = UnsafeRawBufferPointer(rebasing: bytes[range.indices])
            let dash = UInt8(ascii: "-")
            guard text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash else { return nil }
            let first = HexDigit.value(ofEight: EntityID.word(text, 0, 4))
            let second = HexDigit.value(ofEight: EntityID.word(text, 9, 14))
            let third = HexDigit.value(ofEight: EntityID.word(text, 19, 24))
            let fourth = HexDigit.value(ofEight: EntityID.word(text, 28, 32))
            guard first.wrong | second.wrong | third.wrong | fourth.wrong == 0 else { return nil }
            return (first.value << 32 | second.value, third.value << 32 | fourth.value)
        }
        guard let words else { return nil }
        self.init(high: words.high, low: words.low)
    }

    /// Two groups of four digits each, the first digit in the lowest byte.
    @inline(__always)
    private static func word(_ text: UnsafeRawBufferPointer, _ first: Int, _ second: Int) -> UInt64 {
        let low = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: first, as: UInt32.self))
        let high = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: second, as: UInt32.self))
        return UInt64(high) << 32 | UInt64(low)
    }
}
