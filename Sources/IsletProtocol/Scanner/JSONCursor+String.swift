extension JSONCursor {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// A string whose opening quote is at the position; true where it holds a backslash.
    ///
    /// - Parameter isLong: whether it is worth to look at many bytes at once; names and the fields of commands are short.
    @inline(__always) mutating func scanString(isLong: Bool) throws(ScanError) -> Bool {
        position += 1
        if isLong { skipPlainBlocks() }
        var hasEscapes = false
        while true {
            skipPlain()
            guard position < end else { throw ScanError(.unexpectedEnd, at: end) }
            let next = byte(position)
            if next == UInt8(ascii: "\"") {
                position += 1
                return hasEscapes
            }
            if next == UInt8(ascii: "\\") {
                hasEscapes = true
                try scanEscape()
            } else if next < 0x20 {
                throw ScanError(.controlCharacter, at: position)
            } else {
                try scanMultibyte()
            }
        }
    }

    private static let blockCount = 32

    /// Goes on by whole blocks in which no byte is a quote, a backslash, a control character or not ASCII.
    ///
    /// Without a branch for a byte, so that the compiler makes vectors of it: 0.8 instructions a byte, and 2.8 by words.
    private mutating func skipPlainBlocks() {
        while position + Self.blockCount <= end {
            var marks: UInt8 = 0
            for index in 0..<Self.blockCount {
                // As a signed number, one that is not ASCII is below 0x20 too.
                let next = base.load(fromByteOffset: position &+ index, as: Int8.self)
                marks |= (next < 0x20 ? 1 : 0) | (next == 0x22 ? 1 : 0) | (next == 0x5C ? 1 : 0)
            }
            guard marks == 0 else { return }
            position += Self.blockCount
        }
    }

    /// Goes on to the next byte that is a quote, a backslash, a control character or not ASCII, or to the end.
    @inline(__always) private mutating func skipPlain() {
        while position + 8 <= end {
            let word = word(position)
            let quotes = word ^ (0x22 * Self.ones)
            let backslashes = word ^ (0x5C * Self.ones)
            // A borrow can set a mark above a true one only, and the lowest is the one that counts.
            let marks =
                ((word &- 0x20 * Self.ones) & ~word
                    | (quotes &- Self.ones) & ~quotes
                    | (backslashes &- Self.ones) & ~backslashes
                    | word) & Self.highs
            if marks != 0 {
                position += marks.trailingZeroBitCount / 8
                return
            }
            position += 8
        }
        while position < end {
            let next = byte(position)
            if next < 0x20 || next >= 0x80 || next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") { return }
            position += 1
        }
    }

    /// An escape whose backslash is at the position.
    private mutating func scanEscape() throws(ScanError) {
        let start = position
        guard position + 1 < end else { throw ScanError(.unexpectedEnd, at: end) }
        switch byte(position + 1) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            for index in position + 2..<position + 6 {
                guard index < end else { throw ScanError(.unexpectedEnd, at: end) }
                guard HexDigit.value(byte(index)) != nil else { throw ScanError(.invalidEscape, at: start) }
            }
            position += 6
        default:
            throw ScanError(.invalidEscape, at: start)
        }
    }

    /// A character of two to four bytes at the position (table 3-7 of the Unicode Standard).
    private mutating func scanMultibyte() throws(ScanError) {
        let lead = byte(position)
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw ScanError(.invalidUTF8, at: position)
        }
        guard position + length <= end, second.contains(byte(position + 1)) else {
            throw ScanError(.invalidUTF8, at: position)
        }
        for index in position + 2..<position + length {
            guard byte(index) & 0xC0 == 0x80 else { throw ScanError(.invalidUTF8, at: position) }
        }
        position += length
    }
}
