/// What devices reported of one sort, by the names of those of which there is something to keep, whether anything is
/// placed on them or not; and of which of them it changed since a snapshot wrote it.
///
/// Not a dictionary: to grow, one of a million names moves all of them at once, while everybody waits.
package struct DeviceReports<Report: Sendable>: ~Copyable {
    private struct Record {
        let name: [UInt8]
        /// Nil where there is nothing any more, which a snapshot is to be told.
        var report: Report?
    }

    /// In pieces of ``pieceSize``, so that nothing moves when another device comes.
    private var pieces: [[Record?]] = []
    private var capacity: Slot = 0
    private var free: [Slot] = []
    private var index = SlotIndex()
    private var changed = ChangedSlots()
    /// Of how many devices there is something.
    package private(set) var count = 0

    private static var pieceSize: Int { 1_024 }

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// What is so of a device; nil: nothing.
    package subscript(name: [UInt8]) -> Report? {
        guard let slot = slot(of: name) else { return nil }
        return self[at: slot]?.report
    }

    package func contains(_ name: [UInt8]) -> Bool { self[name] != nil }

    /// Keeps what is so of a device from now on.
    ///
    /// - Parameters:
    ///   - report: nil: nothing.
    ///   - isWritten: whether the snapshot has it as it is, or there is none; else its next round writes it.
    package mutating func set(_ report: Report?, of name: [UInt8], isWritten: Bool = false) {
        let known = slot(of: name)
        guard known != nil || report != nil || !isWritten else { return }
        let slot = known ?? add(name)
        count += (report == nil ? 0 : 1) - (self[at: slot]?.report == nil ? 0 : 1)
        self[at: slot]?.report = report
        if !isWritten {
            // What is nothing any more goes with the round that tells it.
            changed.insert(slot)
        } else if report == nil {
            forget(name, slot)
        }
    }

    // MARK: Changes

    package var hasChanges: Bool { !changed.isEmpty }
    /// Of how many devices it changed.
    package var changeCount: Int { changed.count }
    /// Whether a round has met all that had changed when it began.
    package var isAtEnd: Bool { changed.isAtEnd }

    /// Begins a round of what changed.
    package mutating func rewind() { changed.rewind() }

    /// The next device of the round, which counts as written; nil: there is none any more.
    package mutating func popNext() -> [UInt8]? {
        while let slot = changed.popNext() {
            // It may have gone since, as written.
            guard let record = self[at: slot] else { continue }
            if record.report == nil { forget(record.name, slot) }
            return record.name
        }
        return nil
    }

    // MARK: Slots

    private subscript(at slot: Slot) -> Record? {
        get { pieces[Int(slot) / Self.pieceSize][Int(slot) % Self.pieceSize] }
        _modify { yield &pieces[Int(slot) / Self.pieceSize][Int(slot) % Self.pieceSize] }
    }

    private func slot(of name: [UInt8]) -> Slot? {
        guard index.count > 0 else { return nil }
        return name.withUnsafeBytes { name in
            index.find(NameTable.hash(name)) { self[at: $0]?.name.withUnsafeBytes { equal($0, name) } ?? false }
        }
    }

    private static func hash(_ name: [UInt8]) -> UInt64 { name.withUnsafeBytes { NameTable.hash($0) } }

    private mutating func add(_ name: [UInt8]) -> Slot {
        let slot: Slot
        if let reused = free.popLast() {
            slot = reused
        } else {
            slot = capacity
            capacity += 1
            if Int(slot) == pieces.count * Self.pieceSize {
                pieces.append(Array(repeating: nil, count: Self.pieceSize))
            }
        }
        self[at: slot] = Record(name: name)
        index.insert(Self.hash(name), slot)
        return slot
    }

    private mutating func forget(_ name: [UInt8], _ slot: Slot) {
        index.remove(Self.hash(name), slot)
        self[at: slot] = nil
        free.append(slot)
    }
}
