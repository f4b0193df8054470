package import IsletCore

/// What controls, or widgets, want to be asked for and what is held back, as the providers of its kind are busy: no
/// deadline runs for it yet. One read of each at most. Each kind has two lines, of what somebody waits for and of all others,
/// in the order in which they were wanted.
package struct HeldReads {
    /// What is asked for when there is room.
    package struct Read: BitwiseCopyable, Sendable {
        /// The control or widget.
        package var entity: SlotRef
        /// Its serial number of calls when it was wanted.
        package var serial: UInt32
        /// Its kind, as providers know it.
        package var kind: UInt32
        /// Whether somebody waits for it: it comes before those of its kind for which nobody does.
        package var isAwaited: Bool
        /// Whether it failed the last time: a provider is not to be tried by it while others wait.
        package var hasFailed: Bool

        package init(entity: SlotRef, serial: UInt32, kind: UInt32, isAwaited: Bool, hasFailed: Bool = false) {
            self.entity = entity
            self.serial = serial
            self.kind = kind
            self.isAwaited = isAwaited
            self.hasFailed = hasFailed
        }
    }

    /// A read in its line.
    private struct Place: BitwiseCopyable, Sendable {
        var read: Read
        var previous = HeldReads.end
        var next = HeldReads.end
    }

    private struct Line {
        var first = HeldReads.end
        var last = HeldReads.end

        var isEmpty: Bool { first == HeldReads.end }
    }

    /// The lines of a kind, one of which has reads.
    private struct Lines {
        var awaited = Line()
        var others = Line()
        var count = 0
        /// How many of them did not fail the last time.
        var fresh = 0

        subscript(isAwaited: Bool) -> Line {
            get { isAwaited ? awaited : others }
            set { if isAwaited { awaited = newValue } else { others = newValue } }
        }

        var isEmpty: Bool { awaited.isEmpty && others.isEmpty }
    }

    /// No slot.
    private static let end = Slot.max
    private static let free = Place(
        read: Read(entity: SlotRef(slot: end, generation: 0), serial: 0, kind: 0, isAwaited: false))
    /// What is kept of its memory when nothing is held back any more: that is as large as the largest crowd was.
    private static let keptBytes = 1 << 20
    /// A probe is one of so many of its line.
    private static let probed = 4_096

    private var places = SlotColumn(unset: free)
    private var lines: [UInt32: Lines] = [:]
    /// The kinds with reads that are held back, in the order of their turns.
    package private(set) var kinds: [UInt32] = []
    /// How many reads are held back, of all kinds.
    package private(set) var count = 0
    /// How many were taken as probes.
    private var probes: UInt64 = 0

    /// Nothing is held back.
    package init() {}

    /// Whether nothing is held back.
    package var isEmpty: Bool { count == 0 }

    /// How many reads of a kind are held back.
    package func count(of kind: UInt32) -> Int { lines[kind]?.count ?? 0 }

    /// What is held back of the control or widget in a slot.
    package func read(at slot: Slot) -> Read? {
        guard !isEmpty else { return nil }
        let read = places[slot].read
        return read.entity.slot == slot ? read : nil
    }

    /// Whether all of a kind failed the last time.
    package func haveAllFailed(of kind: UInt32) -> Bool { lines[kind]?.fresh == 0 }

    /// Whether a read has to stand behind others of its kind.
    package func hasLine(before read: Read) -> Bool {
        guard let lines = lines[read.kind] else { return false }
        return !read.isAwaited || !lines.awaited.isEmpty
    }

    /// Puts a read at the end of its line; what was wanted of the same slot before is forgotten.
    package mutating func hold(_ read: Read) {
        remove(read.entity.slot)
        if lines[read.kind] == nil { kinds.append(read.kind) }
        append(read)
        count += 1
    }

    /// Somebody waits for the read of a control or widget now, if it is held back.
    package mutating func bringForward(_ entity: SlotRef) {
        guard !isEmpty, places[entity.slot].read.entity == entity, !places[entity.slot].read.isAwaited else { return }
        var read = places[entity.slot].read
        unlink(entity.slot)
        read.isAwaited = true
        append(read)
    }

    /// Forgets what is held back of a control or widget.
    package mutating func remove(_ entity: SlotRef) {
        guard !isEmpty, places[entity.slot].read.entity == entity else { return }
        remove(entity.slot)
    }

    /// Takes the first read of a kind out of its line. The next turn of the kind comes after those of all others.
    ///
    /// - Parameter isProbe: a provider is to be tried by it, so another one than the last time may be better: those that stand
    ///   together may be of one device that is away, and those that failed the last time come after all others.
    package mutating func pop(of kind: UInt32, isProbe: Bool = false) -> Read? {
        guard let lines = lines[kind] else { return nil }
        let slot = isProbe ? probe(of: lines) : lines.awaited.isEmpty ? lines.others.first : lines.awaited.first
        let read = places[slot].read
        remove(slot)
        if self.lines[kind] != nil, kinds.count > 1, let turn = kinds.firstIndex(of: kind) {
            kinds.append(kinds.remove(at: turn))
        }
        return read
    }

    /// One of a kind's, far from the ones before.
    private mutating func probe(of lines: Lines) -> Slot {
        probes &+= 1
        // The multiples of the golden ratio: each is where the widest gap was.
        let share = probes &* 0x9E37_79B9_7F4A_7C15
        let steps = share.multipliedFullWidth(by: UInt64(min(lines.count, Self.probed))).high
        if lines.fresh > 0 {
            if let slot = fresh(of: lines.awaited, after: steps) { return slot }
            if let slot = fresh(of: lines.others, after: steps) { return slot }
        }
        return slot(of: lines.awaited.isEmpty ? lines.others : lines.awaited, after: steps)
    }

    /// One so many steps from the beginning of a line that has reads, or its last.
    private func slot(of line: Line, after steps: UInt64) -> Slot {
        var (slot, steps) = (line.first, steps)
        while steps > 0, places[slot].next != Self.end {
            slot = places[slot].next
            steps -= 1
        }
        return slot
    }

    /// The next from there on that did not fail the last time, if it is near.
    private func fresh(of line: Line, after steps: UInt64) -> Slot? {
        guard !line.isEmpty else { return nil }
        var slot = slot(of: line, after: steps)
        for _ in 0..<Self.probed {
            if !places[slot].read.hasFailed { return slot }
            slot = places[slot].next == Self.end ? line.first : places[slot].next
        }
        return nil
    }

    /// Forgets everything that is held back.
    package mutating func removeAll() { self = HeldReads() }

    private mutating func append(_ read: Read) {
        let slot = read.entity.slot
        var place = Place(read: read)
        var line = lines[read.kind, default: Lines()][read.isAwaited]
        if line.isEmpty { line.first = slot } else { places[line.last].next = slot }
        place.previous = line.last
        line.last = slot
        lines[read.kind, default: Lines()][read.isAwaited] = line
        lines[read.kind]?.count += 1
        if !read.hasFailed { lines[read.kind]?.fresh += 1 }
        places[slot] = place
    }

    private mutating func unlink(_ slot: Slot) {
        let place = places[slot]
        guard var line = lines[place.read.kind]?[place.read.isAwaited] else { return }
        if place.previous == Self.end { line.first = place.next } else { places[place.previous].next = place.next }
        if place.next == Self.end { line.last = place.previous } else { places[place.next].previous = place.previous }
        lines[place.read.kind]?[place.read.isAwaited] = line
        lines[place.read.kind]?.count -= 1
        if !place.read.hasFailed { lines[place.read.kind]?.fresh -= 1 }
        places[slot] = Self.free
    }

    private mutating func remove(_ slot: Slot) {
        let read = places[slot].read
        guard read.entity.slot == slot else { return }
        unlink(slot)
        count -= 1
        guard lines[read.kind]?.isEmpty ?? false else { return }
        lines[read.kind] = nil
        kinds.removeAll { $0 == read.kind }
        if count == 0, places.allocatedBytes > Self.keptBytes { self = HeldReads() }
    }
}
