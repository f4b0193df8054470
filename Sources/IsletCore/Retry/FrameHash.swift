/// 64 bits of a frame's bytes, to tell a retry from another command under the same `req`.
///
/// It is only ever compared with the hash of a frame of the same client and the same `req`, so two different frames
/// pass for one with a chance of 2 to the power of -64, and a client that forges such a pair deceives only itself.
/// Hence no key and no more bits. It is the same in every process, because it is journalled. It multiplies and folds
/// 16 bytes at a time, as wyhash does.
package struct FrameHash: Hashable, Sendable, BitwiseCopyable {
    package var value: UInt64

    package init(value: UInt64) {
        self.value = value
    }

    /// The hash of all bytes of a frame.
    package init(of frame: Span<UInt8>) {
        value = frame.withUnsafeBytes { bytes in
            var state: UInt64 = 0x2D35_8DCC_AA6C_78A5 ^ UInt64(bytes.count)
            var offset = 0
            while offset + 16 <= bytes.count {
                state = FrameHash.fold(
                    FrameHash.word(bytes, offset) ^ 0x8BB8_4B93_962E_ACC9, FrameHash.word(bytes, offset + 8) ^ state)
                offset += 16
            }
            var tail: (UInt64, UInt64) = (0, 0)
            var shift: UInt64 = 0
            while offset < bytes.count {
                if shift < 64 {
                    tail.0 |= UInt64(bytes[offset]) << shift
                } else {
                    tail.1 |= UInt64(bytes[offset]) << (shift - 64)
                }
                shift += 8
                offset += 1
            }
            state = FrameHash.fold(tail.0 ^ 0x4B33_A62E_D433_D4A3, tail.1 ^ state)
            return FrameHash.fold(state ^ 0x4D5A_2DA5_1DE1_AA47, UInt64(bytes.count) ^ 0x8BB8_4B93_962E_ACC9)
        }
    }

    @inline(__always) private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always) private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
