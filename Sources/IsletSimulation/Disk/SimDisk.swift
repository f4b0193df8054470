import IsletJournal

/// What the machine's disk holds, and what a crash leaves of it.
///
/// A batch is appended (only the process knows it), then written (it survives the end of the process), then synced (it
/// survives loss of power). Pieces of the snapshot go the same way in a file of their own.
final class SimDisk {
    enum Stage: Int {
        case appended, written, synced
    }

    struct Stored {
        var batch: JournalBatch
        var stage = Stage.appended
    }

    enum Crash {
        case processKill
        case powerLoss
        /// A write or a sync failed, so the process ended itself; the machine goes on. What was not synced may be there
        /// or not.
        case inputOutputError
    }

    /// In their order; older ones are trimmed.
    private(set) var batches: [Stored] = []
    /// The snapshot as far as it is synced, and the pieces that are only written.
    private(set) var snapshot = SimSnapshot()
    private(set) var unsyncedChunks: [StateChunk] = []
    let epoch = "00000000-0000-7000-8000-00005115e700"
    private(set) var lastNumber: UInt64 = 0
    /// The domain time of the last batch of all.
    private(set) var clock: Int64 = 0
    /// The latest domain time that stands anywhere.
    var keptTime: Int64 { max(clock, snapshot.at) }
    /// The events of these batches are gone for replays.
    private(set) var trimmedThrough: UInt64 = 0
    var wasClosed = false
    /// The domain time of the last batch that the snapshot holds.
    private var snapshotAt: Int64 = 0
    /// The first batch with an answer that is not forgotten, as the snapshot has it.
    private var answersFrom: UInt64 = 0

    func append(_ batch: JournalBatch) {
        batches.append(Stored(batch: batch))
    }

    /// The first batch that is not at a stage yet.
    func first(before stage: Stage) -> Int? { batches.firstIndex { $0.stage.rawValue < stage.rawValue } }

    /// The next batch comes to a stage; everything before it is there already.
    func promote(_ index: Int, to stage: Stage) {
        batches[index].stage = stage
        if stage == .synced { (lastNumber, clock) = (batches[index].batch.number, batches[index].batch.at) }
    }

    func write(_ chunk: StateChunk) { unsyncedChunks.append(chunk) }

    func syncChunks() {
        for chunk in unsyncedChunks {
            snapshot.apply(chunk)
            guard let number = chunk.holdsThrough, let last = batches.last(where: { $0.batch.number <= number }) else {
                continue
            }
            snapshotAt = min(last.batch.at, chunk.at)
            answersFrom = chunk.answersFrom
        }
        unsyncedChunks.removeAll()
    }

    /// The process ends, and perhaps the machine.
    func crash(_ crash: Crash, _ random: inout SimRandom) {
        let floor: Stage = crash == .processKill ? .written : .synced
        var kept = batches.firstIndex { $0.stage.rawValue < floor.rawValue } ?? batches.count
        // What was under way may have come through, in its order.
        while kept < batches.count, batches[kept].stage.rawValue + 1 >= floor.rawValue, random.oneIn(2) { kept += 1 }
        batches.removeSubrange(kept...)
        if crash != .processKill {
            unsyncedChunks.removeLast(random.below(unsyncedChunks.count + 1))
        }
        settle()
    }

    /// Who opens the disk syncs first what it finds, since it shows it.
    private func settle() {
        for index in batches.indices { batches[index].stage = .synced }
        syncChunks()
        if let last = batches.last?.batch {
            (lastNumber, clock) = (last.number, last.at)
        }
    }

    /// Drops old batches that neither recovery nor retries need.
    ///
    /// - Parameters:
    ///   - count: at most as many.
    ///   - span: events are kept for so long.
    func trim(_ count: Int, keeping span: Int64) {
        var left = count
        while left > 0, let first = batches.first, first.stage == .synced,
            first.batch.number <= snapshot.holdsThrough, first.batch.number < answersFrom,
            first.batch.at + span < snapshotAt, batches.count > 1
        {
            trimmedThrough = first.batch.number
            batches.removeFirst()
            left -= 1
        }
    }

    /// Synced events of an app that are kept, after a sequence number.
    func forEachEvent(of app: [UInt8], after seq: UInt64, _ visit: (JournalBatch, JournalBatch.Event) -> Bool) {
        for stored in batches where stored.stage == .synced {
            for (index, row) in stored.batch.rows.enumerated() {
                guard row.lastSeq > seq, stored.batch.bytes(row.name) == app else { continue }
                var goesOn = true
                stored.batch.forEachEvent(ofRow: index) { event in
                    if goesOn, event.seq > seq { goesOn = visit(stored.batch, event) }
                }
                if !goesOn { return }
            }
        }
    }
}

extension JournalBatch {
    /// A copy of some of its bytes.
    func bytes(_ slice: Slice) -> [UInt8] {
        withBytes(of: slice) { span in span.withUnsafeBytes { Array($0) } }
    }
}
