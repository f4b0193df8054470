import IsletJournal

/// What was handed to a journal, in a form that what comes back can be compared with byte for byte.
struct Ledger {
    struct Batch: Equatable {
        var at: Int64
        /// Facts, events and ends of streams, in the order in which recovery tells them.
        var told: [String]
        var answers: [String]
        /// The last sequence number of each app, after it.
        var seqs: [String: UInt64]
    }

    /// The snapshot after a piece of it was written.
    struct Snapshot: Equatable {
        var entities: [UInt64: String] = [:]
        var facts: [String: String] = [:]
        var holdsThrough: UInt64 = 0
        /// The first batch with an answer that is kept, whatever is trimmed.
        var answersFrom: UInt64 = 0
        /// The last batch that was committed when the piece was filled.
        var committed: UInt64 = 0
        /// Whether it was on the disk when it was reported.
        var isDurable = false
        /// Whether it may show what the journal has lost: until a round has ended.
        var isAhead = false
    }

    /// From number 1 on.
    private(set) var batches: [Batch] = []
    /// The first is the empty one.
    private(set) var snapshots = [Snapshot()]
    /// Names of epochs that were read from an open folder.
    var epochs: [String] = []

    var lastBatch: UInt64 { UInt64(batches.count) }
    var seqs: [String: UInt64] { batches.last?.seqs ?? [:] }

    func batch(_ number: UInt64) -> Batch? {
        number >= 1 && number <= lastBatch ? batches[Int(number - 1)] : nil
    }

    mutating func add(_ batch: Batch) { batches.append(batch) }
    mutating func add(_ snapshot: Snapshot) { snapshots.append(snapshot) }

    /// What comes after was never there.
    mutating func forget(batchesAfter number: UInt64) {
        batches.removeLast(batches.count - min(batches.count, Int(number)))
    }

    /// What comes after was never there. A snapshot that was ahead of the journal (`sync=normal`) holds what is left.
    mutating func forget(snapshotsAfter index: Int, lastBatch: UInt64, isAhead: Bool) {
        snapshots.removeLast(snapshots.count - 1 - index)
        snapshots[index].isAhead = isAhead
        snapshots[index].holdsThrough = min(snapshots[index].holdsThrough, lastBatch)
        snapshots[index].answersFrom = min(snapshots[index].answersFrom, lastBatch + 1)
        snapshots[index].committed = min(snapshots[index].committed, lastBatch)
    }

    /// The last one of the snapshots up to this one that was on the disk when it was reported.
    func lastDurablePiece(through index: Int) -> Int? {
        snapshots.prefix(index + 1).lastIndex { $0.isDurable }
    }

    /// The fact that tells which snapshot it is.
    static let pieceKey = "piece"
}
