extension OperationName {
    /// Whether a frame may be a provider's registration: its `op` says so, or is not what it begins with.
    ///
    /// For what may be wrong without harm where it is true, and much cheaper than to decode the command: nearly all
    /// write the `op` first.
    package static func mayBeRegistration(_ frame: Span<UInt8>) -> Bool {
        frame.withUnsafeBytes { bytes in
            // `{"op":"` and `{"op": "`, the first character in the lowest byte.
            let (short, long): (UInt64, UInt64) = (0x22_3A22_706F_227B, 0x2220_3A22_706F_227B)
            let name: StaticString = "provider.register"
            // The shortest registration is longer.
            guard bytes.count >= 8 + name.utf8CodeUnitCount else { return false }
            let word = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
            let start: Int
            if word & 0xFF_FFFF_FFFF_FFFF == short {
                start = 7
            } else if word == long {
                start = 8
            } else {
                return true
            }
            return name.withUTF8Buffer { name in
                for (offset, letter) in name.enumerated() where bytes[start + offset] != letter {
                    // An escape may stand for any letter.
                    return bytes[start + offset] == UInt8(ascii: "\\")
                }
                return true
            }
        }
    }
}
