/// Open addressing from a hash to slots; the keys stay in the records.
///
/// Linear probing at a load of at most 3/4, deletion by shifting back, so that there are no tombstones. An entry is eight
/// bytes: 32 bits of the hash, which spare most comparisons and make growth a matter of this table alone, and the slot.
/// The hashes must come from a keyed function, since keys come from outside.
package struct SlotIndex: ~Copyable {
    private struct Entry: BitwiseCopyable {
        var hash: UInt32
        var slot: Slot

        static let empty = Entry(hash: 0, slot: .max)
        var isEmpty: Bool { slot == .max }
    }

    private var entries: [Entry] = Array(repeating: .empty, count: 64)
    package private(set) var count = 0

    package init() {}

    /// The slot whose record matches, among those with this hash.
    @inline(__always) package func find(_ hash: UInt64, matches: (Slot) -> Bool) -> Slot? {
        let short = UInt32(truncatingIfNeeded: hash >> 32)
        var position = Int(short) & mask
        while !entries[position].isEmpty {
            if entries[position].hash == short, matches(entries[position].slot) { return entries[position].slot }
            position = (position + 1) & mask
        }
        return nil
    }

    /// Adds a slot; the caller knows that its key is not there.
    package mutating func insert(_ hash: UInt64, _ slot: Slot) {
        if (count + 1) * 4 > entries.count * 3 { grow() }
        place(Entry(hash: UInt32(truncatingIfNeeded: hash >> 32), slot: slot))
        count += 1
    }

    /// Replaces the slot of an entry; false where it is not there.
    @discardableResult
    package mutating func replace(_ hash: UInt64, _ slot: Slot, by newSlot: Slot) -> Bool {
        guard let position = position(hash, slot) else { return false }
        entries[position].slot = newSlot
        return true
    }

    /// Removes a slot; false where it is not there.
    @discardableResult
    package mutating func remove(_ hash: UInt64, _ slot: Slot) -> Bool {
        guard var hole = position(hash, slot) else { return false }
        count -= 1
        var next = (hole + 1) & mask
        while !entries[next].isEmpty {
            let home = Int(entries[next].hash) & mask
            // Move it back unless its home lies between the hole and itself.
            if (next - home) & mask >= (next - hole) & mask {
                entries[hole] = entries[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole] = .empty
        return true
    }

    /// The bytes that it holds.
    package var allocatedBytes: Int { entries.count * MemoryLayout<Entry>.stride }

    private var mask: Int { entries.count - 1 }

    private func position(_ hash: UInt64, _ slot: Slot) -> Int? {
        let short = UInt32(truncatingIfNeeded: hash >> 32)
        var position = Int(short) & mask
        while !entries[position].isEmpty {
            if entries[position].slot == slot, entries[position].hash == short { return position }
            position = (position + 1) & mask
        }
        return nil
    }

    private mutating func place(_ entry: Entry) {
        var position = Int(entry.hash) & mask
        while !entries[position].isEmpty { position = (position + 1) & mask }
        entries[position] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = Array(repeating: .empty, count: old.count * 2)
        for entry in old where !entry.isEmpty { place(entry) }
    }
}
