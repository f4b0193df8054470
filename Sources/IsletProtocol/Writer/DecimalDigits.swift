/// Eight decimal digits at a time, in one word: a loop of divisions took three times the instructions.
enum DecimalDigits {
    /// 10⁸: what eight digits cannot say.
    static let group: UInt64 = 100_000_000

    /// The eight digits of a number below 10⁸, a byte each from 0 to 9, the first one in the lowest byte.
    @inline(__always) static func ofEight(_ value: UInt64) -> UInt64 {
        let (first, last) = value.quotientAndRemainder(dividingBy: 10_000)
        // Two numbers below 10⁴ side by side, then four below 100, then eight below 10. The multiplications divide: by 100
        // exactly below 43 699, and by 10 exactly below 179.
        let fours = first | last << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }

    /// The text of digits that ``ofEight(_:)`` gave.
    @inline(__always) static func text(_ digits: UInt64) -> UInt64 { digits | 0x3030_3030_3030_3030 }
}
