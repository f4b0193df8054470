package import IsletCore

/// The values of numbers that a scanner has found.
package enum JSONNumber {
    /// The value of an ``JSONKind/integer``; nil for bytes that are none.
    package static func integer(_ frame: Span<UInt8>, at range: FrameRange) -> Int64? {
        frame.withUnsafeBufferPointer { buffer in
            let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[range.indices])
            guard let base = bytes.baseAddress, let first = bytes.first else { return nil }
            let isNegative = first == UInt8(ascii: "-")
            let skipped = isNegative ? 1 : 0
            return integer(base + skipped, count: bytes.count - skipped, isNegative: isNegative)
        }
    }

    /// The value of `count` digits at `digits`, nil where they do not fit or are none.
    ///
    /// `digits` must be readable for `count` bytes, which both callers take from inside a buffer.
    static func integer(_ digits: UnsafeRawPointer, count: Int, isNegative: Bool) -> Int64? {
        guard count > 0 else { return nil }
        if count >= 8, count <= 16 {
            guard let magnitude = magnitude(digits, count: count) else { return nil }
            return isNegative ? -Int64(magnitude) : Int64(magnitude)
        }
        var magnitude: UInt64 = 0
        // Nineteen digits fit 64 bits whatever they are; one more may not.
        for index in 0..<min(count, 19) {
            let digit = digits.load(fromByteOffset: index, as: UInt8.self) &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            magnitude = magnitude * 10 + UInt64(digit)
        }
        for index in min(count, 19)..<count {
            let digit = digits.load(fromByteOffset: index, as: UInt8.self) &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            guard !overflow, !carry else { return nil }
            magnitude = sum
        }
        if isNegative {
            return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
        }
        return Int64(exactly: magnitude)
    }

    /// The value of 8 to 16 digits: a word of them at each end, since all dates have 13 (193 → 85 instructions).
    @inline(__always) private static func magnitude(_ digits: UnsafeRawPointer, count: Int) -> UInt64? {
        let rest = count - 8
        let head = UInt64(littleEndian: digits.loadUnaligned(as: UInt64.self))
        let tail = UInt64(littleEndian: digits.loadUnaligned(fromByteOffset: rest, as: UInt64.self))
        guard digitCount(head) == 8, digitCount(tail) == 8 else { return nil }
        // The digits that both words have, the first of the second one, are taken for zeros there.
        let own = (tail ^ DecimalDigits.zeros) & ~(rest == 0 ? .max : .max >> UInt64(8 * rest))
        return DecimalDigits.value(head ^ DecimalDigits.zeros) * DecimalDigits.powers[rest] + DecimalDigits.value(own)
    }

    /// How many of a word's bytes are digits until the first that is none.
    @inline(__always) static func digitCount(_ word: UInt64) -> Int {
        let highs: UInt64 = 0x8080_8080_8080_8080
        let values = word ^ DecimalDigits.zeros
        // In each byte the upper bit, where it is above 9.
        let others = ((values & ~highs) &+ 0x7676_7676_7676_7676 | values) & highs
        return others == 0 ? 8 : others.trailingZeroBitCount >> 3
    }

    /// The nearest `Double` of a number that a scanner has found; nil where that is infinite.
    package static func double(_ frame: Span<UInt8>, at range: FrameRange) -> Double? {
        if let exact = simpleDouble(frame, at: range) { return exact }
        // Many digits or a large exponent: rare, and exact rounding is the standard library's business.
        let text = frame.withUnsafeBufferPointer { String(decoding: $0[range.indices], as: UTF8.self) }
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The value where one multiplication or division of two exact doubles gives it, which rounds once and so correctly:
    /// at most 2^53 as an integer, and a power of ten of at most 22.
    private static func simpleDouble(_ frame: Span<UInt8>, at range: FrameRange) -> Double? {
        var digits: UInt64 = 0
        var scale = 0
        var isNegative = false
        var isFraction = false
        for index in range.indices {
            switch frame[index] {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case let byte where byte &- UInt8(ascii: "0") < 10:
                digits = digits * 10 + UInt64(byte - UInt8(ascii: "0"))
                guard digits <= 1 << 53 else { return nil }
                if isFraction { scale += 1 }
            default: return nil
            }
        }
        guard scale <= 22 else { return nil }
        let value = Double(digits) / powersOfTen[scale]
        return isNegative ? -value : value
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
