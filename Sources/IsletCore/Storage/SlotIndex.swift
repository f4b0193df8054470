/// A hash table from a hash to slots; the keys stay in the records.
///
/// Linear probing at a load of at most 3/4, deletion by shifting back, so that there are no tombstones. An entry is eight
/// bytes: 32 bits of the hash, which spare most comparisons and make growth a matter of this table alone, and the slot.
/// The hashes must come from a keyed function, since keys come from outside.
///
/// A large table is cut into segments by the first bits of the hash, and each grows for itself, by half: nothing waits
/// until a million entries have moved, and an entry takes 11 to 16 bytes and not up to 21, as in a table that doubles.
package struct SlotIndex: ~Copyable {
    /// A table with more entries has segments.
    private static let largestWhole = 8_192
    /// So few that those of a million entries are large enough for the allocator to give them back to the system when
    /// they have grown; with a million entries one takes a tenth of a millisecond to grow.
    private static let segmentBits: UInt32 = 5

    /// By the first ``bits`` of the hash.
    private var segments = [IndexSegment(capacity: 64)]
    /// None, or ``segmentBits``.
    private var bits: UInt32 = 0
    package private(set) var count = 0

    package init() {}

    deinit {
        for segment in segments { segment.deallocate() }
    }

    /// The slot whose record matches, among those with this hash.
    @inline(__always) package func find(_ hash: UInt64, matches: (Slot) -> Bool) -> Slot? {
        let short = UInt32(truncatingIfNeeded: hash >> 32)
        return segments[number(of: short)].find(short, bits, matches: matches)
    }

    /// Reads where an entry with this hash would stand (see ``Lookahead``).
    @inline(__always) func touch(_ hash: UInt64) -> UInt64 {
        let short = UInt32(truncatingIfNeeded: hash >> 32)
        return segments[number(of: short)].touch(short, bits)
    }

    /// Adds a slot; the caller knows that its key is not there.
    package mutating func insert(_ hash: UInt64, _ slot: Slot) {
        if count == Self.largestWhole, bits == 0 { cut() }
        let entry = IndexSegment.Entry(hash: UInt32(truncatingIfNeeded: hash >> 32), slot: slot)
        segments[number(of: entry.hash)].insert(entry, bits)
        count += 1
    }

    /// Replaces the slot of an entry; false where it is not there.
    @discardableResult
    package mutating func replace(_ hash: UInt64, _ slot: Slot, by newSlot: Slot) -> Bool {
        let entry = IndexSegment.Entry(hash: UInt32(truncatingIfNeeded: hash >> 32), slot: slot)
        return segments[number(of: entry.hash)].replace(entry, by: newSlot, bits)
    }

    /// Removes a slot; false where it is not there.
    @discardableResult
    package mutating func remove(_ hash: UInt64, _ slot: Slot) -> Bool {
        let entry = IndexSegment.Entry(hash: UInt32(truncatingIfNeeded: hash >> 32), slot: slot)
        guard segments[number(of: entry.hash)].remove(entry, bits) else { return false }
        count -= 1
        return true
    }

    /// The bytes that it holds.
    package var allocatedBytes: Int { segments.reduce(0) { $0 + $1.allocatedBytes } }

    /// The segment of a hash.
    @inline(__always) private func number(of hash: UInt32) -> Int { Int((UInt64(hash) &<< UInt64(bits)) >> 32) }

    /// Cuts the one table into segments.
    private mutating func cut() {
        let whole = segments[0]
        bits = Self.segmentBits
        let capacity = 2 * whole.count >> Int(bits)
        segments = (0..<1 << Int(bits)).map { _ in IndexSegment(capacity: capacity) }
        whole.forEach { segments[number(of: $0.hash)].insert($0, bits) }
        whole.deallocate()
    }
}
