package import IsletCore

extension EntityID {
    /// Reads the form 8-4-4-4-12 of hexadecimal digits of either case; nil for every other text (no braces, no `urn:`).
    package init?(text frame: Span<UInt8>, at range: FrameRange) {
        guard range.count == 36 else { return nil }
        let start = Int(range.offset)
        var words = (high: UInt64(0), low: UInt64(0))
        var digits = 0
        for index in 0..<36 {
            let byte = frame[start + index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = HexDigit.value(byte) else { return nil }
            if digits < 16 {
                words.high = words.high << 4 | UInt64(digit)
            } else {
                words.low = words.low << 4 | UInt64(digit)
            }
            digits += 1
        }
        self.init(high: words.high, low: words.low)
    }
}
