import IsletCore

/// Finds which of a fixed set of names some bytes are, with one probe and two comparisons of words.
///
/// The table is made once, with the decoder that owns it.
struct NameLookup {
    private struct Entry {
        var name: StaticString
        var head: UInt64
        var tail: UInt64
    }

    private static let tableBits: UInt64 = 8
    private static let free: UInt8 = .max

    private var table: [UInt8]
    private let entries: [Entry]
    /// No name is longer.
    let longest: Int

    /// - Parameter names: at most 128 of them, ASCII, all different.
    init(_ names: [StaticString]) {
        precondition(names.count <= 128, "the table would be too full")
        var table = [UInt8](repeating: NameLookup.free, count: 1 << Int(NameLookup.tableBits))
        entries = names.map { name in
            let (head, tail) = NameLookup.words(
                UnsafeRawPointer(name.utf8Start), name.utf8CodeUnitCount, readable: name.utf8CodeUnitCount)
            return Entry(name: name, head: head, tail: tail)
        }
        for (index, entry) in entries.enumerated() {
            var place = NameLookup.place(entry.head, entry.tail, entry.name.utf8CodeUnitCount)
            while table[place] != NameLookup.free { place = (place + 1) % table.count }
            table[place] = UInt8(index)
        }
        self.table = table
        longest = names.map(\.utf8CodeUnitCount).max() ?? 0
    }

    /// The index of the name that stands at `range`, or nil.
    @inline(__always) func find(_ frame: Span<UInt8>, at range: FrameRange) -> Int? {
        let count = Int(range.count)
        guard count <= longest, count > 0 else { return nil }
        let offset = Int(range.offset)
        let room = frame.count - offset
        precondition(room >= count, "a range of another frame")
        return frame.withUnsafeBytes { bytes in
            // Checked here: so many bytes are inside the frame, and it is not empty.
            guard let start = bytes.baseAddress else { return nil }
            let base = start + offset
            let (head, tail) = NameLookup.words(base, count, readable: room)
            var place = NameLookup.place(head, tail, count)
            while true {
                let index = table[place]
                guard index != NameLookup.free else { return nil }
                let entry = entries[Int(index)]
                if entry.head == head, entry.tail == tail, entry.name.utf8CodeUnitCount == count {
                    // Two words hold 16 bytes; only what lies between them can still differ.
                    if count <= 16 || NameLookup.isSame(base, entry.name) { return Int(index) }
                }
                place = (place + 1) % table.count
            }
        }
    }

    /// The first and the last eight bytes; of a shorter name all of them, and nothing.
    ///
    /// `base` must be readable for `readable` bytes, which are `count` or more.
    @inline(__always) private static func words(
        _ base: UnsafeRawPointer, _ count: Int, readable: Int
    ) -> (UInt64, UInt64) {
        if count >= 8 {
            return (
                base.loadUnaligned(as: UInt64.self), base.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            )
        }
        if readable >= 8 {
            // Without what stands behind the name.
            return (UInt64(littleEndian: base.loadUnaligned(as: UInt64.self)) & (1 << UInt64(8 * count) - 1), 0)
        }
        var head: UInt64 = 0
        for index in 0..<count {
            head |= UInt64(base.load(fromByteOffset: index, as: UInt8.self)) << UInt64(8 * index)
        }
        return (head, 0)
    }

    /// Whether the bytes at `base`, of which there are as many, are a name.
    private static func isSame(_ base: UnsafeRawPointer, _ name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        return equal(
            UnsafeRawBufferPointer(start: base, count: count), UnsafeRawBufferPointer(start: name.utf8Start, count: count))
    }

    @inline(__always) private static func place(_ head: UInt64, _ tail: UInt64, _ count: Int) -> Int {
        let mixed = (head ^ (tail &* 0x9E37_79B9_7F4A_7C15) ^ UInt64(count)) &* 0xFF51_AFD7_ED55_8CCD
        return Int(mixed >> (64 - tableBits))
    }
}
