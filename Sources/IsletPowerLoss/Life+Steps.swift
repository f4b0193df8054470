import IsletJournal

/// A run whose calls come in the same order each time.
extension Life {
    /// What the owner of a journal does next, when everything before it is done.
    enum Step: Sendable {
        /// Commits a small batch.
        case batch
        /// Commits one that fills the segment.
        case fillingBatch
        /// Writes a piece of the snapshot. Segments that a full one needs are made and recorded before it.
        case piece(endsRound: Bool)
        /// So many of the next calls find no room.
        case fullDisk(calls: Int)
        /// The disk stops: the process has no time for a goodbye.
        case stop
    }

    /// Longer than any segment takes to be changed for the next.
    private static let longestWait = Duration.seconds(60)

    mutating func follow(
        _ steps: [Step], _ store: Store, _ journal: SQLiteJournal, _ progress: Progress, _ disk: CrashDisk
    ) async throws {
        var pieces = 0
        for step in steps {
            if disk.isStopped || progress.said.failure != nil { return }
            switch step {
            case .batch: await commit(filler: 0, journal, progress)
            case .fillingBatch:
                let segments = store.segmentCount
                await commit(filler: plan.segmentBytes, journal, progress)
                let deadline = ContinuousClock.now + Self.longestWait
                // The thread that commits goes on in the next segment after it has told of the batch.
                while store.segmentCount == segments, progress.said.failure == nil, !disk.isStopped {
                    guard ContinuousClock.now < deadline else { throw LifeFailure("a full segment was not changed") }
                    await Task.yield()
                }
            case .piece(let endsRound):
                let committed = progress.said.committed
                journal.sweep(
                    ledger.makePiece(&dice, committed: committed, isLarge: false, endsRound: endsRound))
                pieces += 1
                let written = pieces
                await progress.wait { $0.swept == written }
            case .fullDisk(let calls): disk.fail(.noSpace, at: 1, times: calls)
            case .stop: disk.stop(at: 0)
            }
        }
    }

    private mutating func commit(filler: Int, _ journal: SQLiteJournal, _ progress: Progress) async {
        let batch = ledger.makeBatch(&dice, filler: filler)
        let number = batch.number
        _ = journal.append(batch)
        await progress.wait { $0.committed == number }
    }
}
