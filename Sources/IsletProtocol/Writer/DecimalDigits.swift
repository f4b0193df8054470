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

    /// Eight zeros in ASCII.
    static let zeros: UInt64 = 0x3030_3030_3030_3030

    /// 1 to 10⁸.
    static let powers: [UInt64] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

    /// The number of eight digits, a byte each from 0 to 9, the first one in the lowest byte.
    @inline(__always) static func value(_ digits: UInt64) -> UInt64 {
        // Pairs, then fours, then all: each multiplication adds a place and its neighbour, ten times as much.
        let pairs = (digits &* 10 &+ digits >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs &* 100 &+ pairs >> 16) & 0x0000_FFFF_0000_FFFF
        return (fours &* 10_000 &+ fours >> 32) & 0xFFFF_FFFF
    }

    /// The text of digits that ``ofEight(_:)`` gave.
    @inline(__always) static func text(_ digits: UInt64) -> UInt64 { digits | zeros }
}
