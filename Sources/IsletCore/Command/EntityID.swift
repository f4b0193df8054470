/// The identity of an activity or another entity: the 16 bytes of a UUID.
///
/// The service makes version 7 UUIDs; a client may choose its own in the form of a UUID. Written in lower case.
@usableFromInline package struct EntityID: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The first eight bytes, big-endian.
    @usableFromInline package var high: UInt64
    /// The last eight bytes, big-endian.
    @usableFromInline package var low: UInt64

    @inlinable package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A version 7 UUID (RFC 9562) of a date and 74 bits of randomness, which the caller draws.
    package init(version7At instant: Instant, random: (UInt64, UInt64)) {
        let time = UInt64(bitPattern: instant.milliseconds) & 0xFFFF_FFFF_FFFF
        high = time << 16 | 0x7000 | random.0 & 0x0FFF
        low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
    }

    @inlinable package static func < (left: EntityID, right: EntityID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// The 32 hexadecimal digits' text form `8-4-4-4-12` in lower case, one ASCII byte at a time.
    @inlinable package func forEachTextByte(_ body: (UInt8) -> Void) {
        for position in 0..<16 {
            if position == 4 || position == 6 || position == 8 || position == 10 { body(UInt8(ascii: "-")) }
            let word = position < 8 ? high : low
            let byte = UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * (position & 7)))
            body(EntityID.hexDigit(byte >> 4))
            body(EntityID.hexDigit(byte & 15))
        }
    }

    /// The 32 digits of the text without its dashes, eight in a word, the first of them in the lowest byte of the first.
    package var digits: (UInt64, UInt64, UInt64, UInt64) {
        @inline(__always) get {
            (
                EntityID.digits(of: high >> 32), EntityID.digits(of: high & 0xFFFF_FFFF),
                EntityID.digits(of: low >> 32), EntityID.digits(of: low & 0xFFFF_FFFF)
            )
        }
    }

    /// The eight digits of 32 bits.
    @inline(__always) private static func digits(of half: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var spread = (half | half << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        spread = (spread | spread << 4) & (0x0F * ones)
        // From 10 on, adding 6 carries into the upper half; letters stand 39 behind the digits.
        let letter = (spread &+ 6 &* ones) >> 4 & ones
        return (spread &+ 0x30 &* ones &+ 39 &* letter).byteSwapped
    }

    @inlinable package static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}

extension EntityID: CustomStringConvertible {
    @usableFromInline package var description: String {
        var text = ""
        forEachTextByte { text.unicodeScalars.append(Unicode.Scalar($0)) }
        return text
    }
}
