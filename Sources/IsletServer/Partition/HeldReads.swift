package import IsletCore

/// What controls, or widgets, want to be asked for and what is held back, as enough of its kind waits for providers: no
/// deadline runs for it yet. One read of each at most, in the order in which they were wanted, by kind.
package struct HeldReads {
    /// What is asked for when there is room.
    package struct Read: BitwiseCopyable, Sendable {
        /// The control or widget.
        package var entity: SlotRef
        /// Its serial number of calls when it was wanted.
        package var serial: UInt32
        /// Its kind, as providers know it.
        package var kind: UInt32

        package init(entity: SlotRef, serial: UInt32, kind: UInt32) {
            self.entity = entity
            self.serial = serial
            self.kind = kind
        }
    }

    /// A read in the line of its kind.
    private struct Place: BitwiseCopyable, Sendable {
        var read: Read
        var previous = HeldReads.end
        var next = HeldReads.end
    }

    private struct Line {
        var first: Slot
        var last: Slot
    }

    /// No slot.
    private static let end = Slot.max
    private static let free = Place(
        read: Read(entity: SlotRef(slot: end, generation: 0), serial: 0, kind: 0))

    private var places = SlotColumn(unset: free)
    private var lines: [UInt32: Line] = [:]
    /// The kinds with reads that are held back, in the order of their turns.
    package private(set) var kinds: [UInt32] = []
    /// How many reads are held back, of all kinds.
    package private(set) var count = 0

    /// Nothing is held back.
    package init() {}

    /// Whether nothing is held back.
    package var isEmpty: Bool { count == 0 }

    /// Whether a read of a kind has to stand behind others.
    package func hasLine(of kind: UInt32) -> Bool { lines[kind] != nil }

    /// Puts a read at the end of its kind's line; what was wanted of the same slot before is forgotten.
    package mutating func hold(_ read: Read) {
        let slot = read.entity.slot
        remove(slot)
        var place = Place(read: read)
        if let line = lines[read.kind] {
            place.previous = line.last
            places[line.last].next = slot
            lines[read.kind]?.last = slot
        } else {
            lines[read.kind] = Line(first: slot, last: slot)
            kinds.append(read.kind)
        }
        places[slot] = place
        count += 1
    }

    /// Forgets what is held back of a control or widget.
    package mutating func remove(_ entity: SlotRef) {
        guard !isEmpty, places[entity.slot].read.entity == entity else { return }
        remove(entity.slot)
    }

    /// Takes the first read of a kind out of its line.
    package mutating func popFirst(of kind: UInt32) -> Read? {
        guard let slot = lines[kind]?.first else { return nil }
        let read = places[slot].read
        remove(slot)
        return read
    }

    /// The kind whose turn was first has the last one.
    package mutating func turn() {
        if kinds.count > 1 { kinds.append(kinds.removeFirst()) }
    }

    /// Forgets everything that is held back.
    package mutating func removeAll() { self = HeldReads() }

    private mutating func remove(_ slot: Slot) {
        let place = places[slot]
        guard place.read.entity.slot == slot, var line = lines[place.read.kind] else { return }
        if place.previous == Self.end { line.first = place.next } else { places[place.previous].next = place.next }
        if place.next == Self.end { line.last = place.previous } else { places[place.next].previous = place.previous }
        lines[place.read.kind] = line.first == Self.end ? nil : line
        if line.first == Self.end { kinds.removeAll { $0 == place.read.kind } }
        places[slot] = Self.free
        count -= 1
        // Its columns are as large as the largest crowd was.
        if count == 0 { self = HeldReads() }
    }
}
