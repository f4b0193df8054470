import IsletCore

extension JSONText {
    /// Whether the text, with its escapes read, is exactly `expected`, which is ASCII.
    package func equals(_ expected: StaticString, in frame: Span<UInt8>) -> Bool {
        var position = Int(range.offset)
        let end = range.indices.upperBound
        for index in 0..<expected.utf8CodeUnitCount {
            guard position < end else { return false }
            if hasEscapes, frame[position] == UInt8(ascii: "\\") {
                guard let character = Self.character(at: position, before: end, in: frame),
                    character.scalar.value == UInt32(expected.utf8Start[index])
                else { return false }
                position = character.next
            } else {
                guard frame[position] == expected.utf8Start[index] else { return false }
                position += 1
            }
        }
        return position == end
    }

    /// Appends the text in UTF-8, with its escapes read, to `output`.
    ///
    /// False where the text holds a `\u` escape of a lone surrogate, which is JSON but no text; `output` then has U+FFFD
    /// in its place.
    @discardableResult
    package func unescape(in frame: Span<UInt8>, into output: inout [UInt8]) -> Bool {
        var isText = true
        var position = Int(range.offset)
        let end = range.indices.upperBound
        while position < end {
            let byte = frame[position]
            if byte != UInt8(ascii: "\\") {
                output.append(byte)
                position += 1
            } else if let character = Self.character(at: position, before: end, in: frame) {
                output.append(contentsOf: character.scalar.utf8)
                position = character.next
            } else {
                output.append(contentsOf: ("\u{FFFD}" as Unicode.Scalar).utf8)
                position = min(position + 6, end)
                isText = false
            }
        }
        return isText
    }

    /// The text, with U+FFFD in place of every lone surrogate.
    package func string(in frame: Span<UInt8>) -> String {
        guard hasEscapes else {
            return frame.withUnsafeBufferPointer { String(decoding: $0[range.indices], as: UTF8.self) }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(range.count))
        unescape(in: frame, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The character that the escape at `position` means, and where the text goes on; nil for a lone surrogate.
    private static func character(
        at position: Int, before end: Int, in frame: Span<UInt8>
    ) -> (scalar: Unicode.Scalar, next: Int)? {
        guard position + 1 < end else { return nil }
        switch frame[position + 1] {
        case UInt8(ascii: "b"): return ("\u{08}", position + 2)
        case UInt8(ascii: "f"): return ("\u{0C}", position + 2)
        case UInt8(ascii: "n"): return ("\n", position + 2)
        case UInt8(ascii: "r"): return ("\r", position + 2)
        case UInt8(ascii: "t"): return ("\t", position + 2)
        case UInt8(ascii: "u"):
            guard let first = codeUnit(at: position, before: end, in: frame) else { return nil }
            if let scalar = Unicode.Scalar(first) { return (scalar, position + 6) }
            guard UTF16.isLeadSurrogate(first),
                let second = codeUnit(at: position + 6, before: end, in: frame), UTF16.isTrailSurrogate(second)
            else { return nil }
            let value = 0x1_0000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            return Unicode.Scalar(value).map { ($0, position + 12) }
        case let itself: return (Unicode.Scalar(itself), position + 2)
        }
    }

    /// The UTF-16 code unit of a `\uXXXX` at `position`, nil where none stands there.
    private static func codeUnit(at position: Int, before end: Int, in frame: Span<UInt8>) -> UInt16? {
        guard position + 6 <= end, frame[position] == UInt8(ascii: "\\"), frame[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for index in position + 2..<position + 6 {
            guard let digit = HexDigit.value(frame[index]) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
