/// A sum over the columns of a row. A log has its own checksums, but a database's pages have none: without this a bit
/// that flipped in the snapshot would come back as somebody's state.
///
/// Each step is reversible, so that a single changed bit always changes the sum.
struct RowChecksum {
    private(set) var value: UInt64 = 0x6a09_e667_f3bc_c908

    private static let factor: UInt64 = 0x9e37_79b9_7f4a_7c15

    @inline(__always)
    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* Self.factor
        value ^= value >> 32
    }

    @inline(__always)
    mutating func add(_ word: Int64) { add(UInt64(bitPattern: word)) }

    /// Adds a column; one without bytes is like NULL.
    @unsafe @inline(__always)
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = unsafe rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        add(rest)
    }
}
