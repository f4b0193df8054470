/// Hexadecimal digits in ASCII, one at a time or eight in a word.
enum HexDigit {
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// The value of a digit of either case, nil for every other byte.
    @inline(__always) static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The 32 bits that eight digits mean, the first of which is the lowest byte of `text`; `wrong` is not 0 where one is
    /// none.
    @inline(__always) static func value(ofEight text: UInt64) -> (value: UInt64, wrong: UInt64) {
        let low = text & (0x0F * ones)
        let high = text & (0xF0 * ones)
        // 1 in each byte that could be a letter, by bit 6; and the same spread over the whole byte.
        let letter = text >> 6 & ones
        let letters = letter &* 0xFF
        // Digits have the high half 3; letters 4 or 6.
        var wrong = ~letters & (high ^ (0x30 * ones)) | letters & ((high & (0xDF * ones)) ^ (0x40 * ones))
        // Digits have a low half up to 9; letters one from 1 to 6. Each sum stays within its byte.
        wrong |= ~letters & ((low + 6 * ones) & (0x10 * ones))
        wrong |= letters & ((low + 9 * ones) & (0x10 * ones))
        wrong |= letters & (~(low + 15 * ones) & (0x10 * ones))
        // Pack the halves together, the first digit highest.
        var packed = (low + 9 * letter).byteSwapped
        packed = (packed | packed >> 4) & 0x00FF_00FF_00FF_00FF
        packed = (packed | packed >> 8) & 0x0000_FFFF_0000_FFFF
        return ((packed | packed >> 16) & 0xFFFF_FFFF, wrong)
    }
}
