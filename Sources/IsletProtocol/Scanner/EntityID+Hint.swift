package import IsletCore

extension EntityID {
    /// How many bytes of a frame are looked at: who writes the content first is not helped.
    private static var reach: Int { 256 }

    /// The id that a command seems to name: the text behind the `"id":` at `place`, or else behind the first one.
    ///
    /// For what may be wrong without harm, and much cheaper than to decode the command.
    ///
    /// - Parameter place: where it stood in the frame before, whatever number that is; then, where it was found.
    package init?(guessedFrom frame: Span<UInt8>, near place: inout Int) {
        let start: Int? = frame.withUnsafeBytes { bytes in
            // `"id":`, the first character in the lowest byte.
            let name: UInt64 = 0x3A_2264_6922
            // Checked here: a word at each of these offsets is inside the frame.
            let last = min(bytes.count, Self.reach) - 8
            func text(behindNameAt offset: Int) -> Int? {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                guard word & 0xFF_FFFF_FFFF == name else { return nil }
                // Behind it, or behind one space more.
                return offset + (word >> 40 & 0xFF == 0x20 ? 7 : 6)
            }
            if place >= 0, place <= last, let start = text(behindNameAt: place) { return start }
            var offset = 0
            while offset <= last {
                if let start = text(behindNameAt: offset) {
                    place = offset
                    return start
                }
                offset += 1
            }
            return nil
        }
        guard let start, start + 36 <= frame.count else { return nil }
        self.init(text: frame, at: FrameRange(offset: start, count: 36))
    }
}
