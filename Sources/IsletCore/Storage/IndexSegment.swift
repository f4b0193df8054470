/// A table of a ``SlotIndex``, for the hashes that begin alike.
///
/// Its entries lie in the order of their hashes, each at its home or behind it, with gaps between them. The home
/// follows from the hash by a multiplication, so that any size will do, and a search ends at the first greater hash.
///
/// Unsafe pointer: the index is noncopyable, owns each segment once and frees it once. A home is below the capacity; a
/// walk from there ends at a gap at the latest, and the last place is always one.
struct IndexSegment {
    struct Entry: BitwiseCopyable {
        var hash: UInt32
        var slot: Slot

        /// No entry: as if its hash were the greatest.
        static let gap = Entry(hash: .max, slot: .max)
        var isGap: Bool { slot == .max }
    }

    private var places: UnsafeMutablePointer<Entry>
    /// How many homes there are.
    private var capacity: Int
    private(set) var count = 0

    /// The places behind the last home, for entries that have moved behind others.
    private static func tail(of capacity: Int) -> Int { 16 + capacity / 32 }
    private var placeCount: Int { capacity + Self.tail(of: capacity) }

    init(capacity: Int) {
        self.capacity = capacity
        let count = capacity + Self.tail(of: capacity)
        places = .allocate(capacity: count)
        places.initialize(repeating: .gap, count: count)
    }

    func deallocate() { places.deallocate() }

    /// The slot whose record matches, among those with this hash.
    ///
    /// - Parameter bits: how many of the first bits of the hash are the same in the segment.
    @inline(__always) func find(_ hash: UInt32, _ bits: UInt32, matches: (Slot) -> Bool) -> Slot? {
        place(of: hash, bits, matches: matches)?.pointee.slot
    }

    /// Reads where an entry with this hash would stand (see ``Lookahead``).
    @inline(__always) func touch(_ hash: UInt32, _ bits: UInt32) -> UInt64 {
        UInt64((places + home(of: hash, bits)).pointee.slot)
    }

    mutating func insert(_ entry: Entry, _ bits: UInt32) {
        if (count + 1) * 4 > capacity * 3 { grow(bits) }
        while !place(entry, bits) { grow(bits) }
        count += 1
    }

    /// Replaces the slot of an entry; false where it is not there.
    func replace(_ entry: Entry, by slot: Slot, _ bits: UInt32) -> Bool {
        guard let place = place(of: entry.hash, bits, matches: { $0 == entry.slot }) else { return false }
        place.pointee.slot = slot
        return true
    }

    /// Removes an entry; false where it is not there.
    mutating func remove(_ entry: Entry, _ bits: UInt32) -> Bool {
        guard var gap = place(of: entry.hash, bits, matches: { $0 == entry.slot }) else { return false }
        count -= 1
        // Those behind it move up, until one is at home.
        var next = gap + 1
        while !next.pointee.isGap, home(of: next.pointee.hash, bits) < next - places {
            gap.pointee = next.pointee
            gap = next
            next += 1
        }
        gap.pointee = .gap
        return true
    }

    /// Calls with each entry, in the order of their hashes.
    func forEach(_ body: (Entry) -> Void) {
        for place in UnsafeBufferPointer(start: places, count: placeCount) where !place.isGap { body(place) }
    }

    var allocatedBytes: Int { placeCount * MemoryLayout<Entry>.stride }

    /// As far into the segment as the hash is into those that begin alike.
    @inline(__always) private func home(of hash: UInt32, _ bits: UInt32) -> Int {
        Int(truncatingIfNeeded: (UInt64(hash &<< bits) &* UInt64(truncatingIfNeeded: capacity)) >> 32)
    }

    @inline(__always) private func place(
        of hash: UInt32, _ bits: UInt32, matches: (Slot) -> Bool
    ) -> UnsafeMutablePointer<Entry>? {
        var place = places + home(of: hash, bits)
        while place.pointee.hash < hash { place += 1 }
        while place.pointee.hash == hash, !place.pointee.isGap {
            if matches(place.pointee.slot) { return place }
            place += 1
        }
        return nil
    }

    /// Puts an entry behind the last smaller one; false where the tail has no room.
    private func place(_ entry: Entry, _ bits: UInt32) -> Bool {
        guard places[placeCount - 2].isGap else { return false }
        var place = places + home(of: entry.hash, bits)
        while place.pointee.hash < entry.hash { place += 1 }
        var moved = entry
        while !moved.isGap {
            swap(&moved, &place.pointee)
            place += 1
        }
        return true
    }

    private mutating func grow(_ bits: UInt32) {
        let old = self
        self = IndexSegment(capacity: capacity + capacity / 2)
        count = old.count
        var end = 0
        // They come in order, so each has its home or the first place behind the one before.
        old.forEach { entry in
            end = max(end, home(of: entry.hash, bits))
            // As far behind its home as before, or less; so there is room.
            precondition(end < placeCount - 1)
            places[end] = entry
            end += 1
        }
        old.deallocate()
    }
}
