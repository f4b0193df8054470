import IsletJournal
import Synchronization

/// One run of a journal on a disk that stops.
extension Life {
    private static let longestWork = 600
    private static let epochCount = Atomic<Int>(0)

    /// What a run of the journal does.
    enum Work {
        /// Whatever the dice say, until the disk stops or the owner has enough.
        case random
        /// A little of that, and a goodbye.
        case last
        /// These steps, each when the one before it is done by all threads: the calls come in the same order each time.
        case steps([Step])
    }

    /// - Parameter isRestart: Whether the folder is as the run before left it, and the machine went on.
    mutating func run(on disk: CrashDisk, isRestart: Bool, _ work: Work = .random) async throws {
        let progress = Progress()
        questions.removeAll()
        let failures = disk.failures
        guard let store = try open(disk, progress, isRestart: isRestart) else { return }
        progress.begin(after: ledger.lastBatch)
        let journal = try store.startJournal(after: ledger.lastBatch, report: progress.report)
        var isLast = false
        switch work {
        case .random: await self.work(journal, progress, disk, isLast: false)
        case .last:
            isLast = true
            await self.work(journal, progress, disk, isLast: true)
        case .steps(let steps): try await follow(steps, store, journal, progress, disk)
        }
        await journal.close()
        // What is looked at from here on is no part of the run.
        disk.endFault()
        isClosed = progress.said.failure == nil && !disk.isStopped
        // Where there was no room at the end, it does not say goodbye. What it says then must hold all the same.
        if isClosed, disk.failures > failures { isClosed = try Store.statistics(directory: disk.path).wasClosed }
        try judge(store, progress.said, disk, failures: failures, isLast: isLast)
    }

    /// Opens the folder and holds it against what must be there; nil: the disk stopped before that was done.
    mutating func open(_ disk: CrashDisk, _ progress: Progress, isRestart: Bool) throws -> Store? {
        let failures = disk.failures
        let store: Store
        do {
            store = try Store.open(directory: disk.path, options: options(progress))
        } catch {
            guard disk.isStopped || disk.failures > failures else {
                throw LifeFailure("the folder was refused: \(error)")
            }
            tally.stoppedOpenings += 1
            tally.faults += disk.failures - failures
            isClosed = false
            return nil
        }
        // A process that stopped at the end of its opening has told nobody anything, a new epoch neither.
        guard !disk.isStopped else {
            isClosed = false
            tally.stoppedOpenings += 1
            return nil
        }
        do {
            try check(store)
        } catch is StoreError where plan.fault == .noDescriptor && disk.failures > failures {
            // Recovery opens what it reads, and says so where it cannot: a start that fails then.
            tally.stoppedOpenings += 1
            tally.faults += disk.failures - failures
            isClosed = false
            return nil
        }
        try checkNames(disk)
        isClosed = false
        (wasOpen, lostPower) = (true, false)
        // Recovery has told it, so it must last. Without syncs it does only if it was on the disk already.
        live = Ledger.Promise(batch: ledger.lastBatch, piece: ledger.snapshots.count - 1)
        if plan.sync == .full || !isRestart { promise.batch = live.batch }
        promise.piece = live.piece
        return store
    }

    private func options(_ progress: Progress) -> StoreOptions {
        let seed = plan.seed
        var options = StoreOptions(makeEpoch: {
            "e-\(String(seed, radix: 36))-\(Self.epochCount.add(1, ordering: .relaxed).newValue)"
        })
        options.sync = plan.sync
        options.segmentBytes = plan.segmentBytes
        options.retentionBytes = plan.retentionBytes
        options.minimumFree = 0
        options.fullRetry = 1
        options.allowVolatile = true
        options.bootID = bootID
        options.onFailure = { progress.failed($0) }
        options.onWarning = { progress.warned($0) }
        return options
    }

    /// Nothing is left of segments that were trimmed.
    private func checkNames(_ disk: CrashDisk) throws(LifeFailure) {
        let names = Set(LossCampaign.names(in: disk.path))
        for name in names where name.hasSuffix("-wal") && !names.contains(String(name.dropLast(4))) {
            throw LifeFailure("\(name) is left without its file")
        }
    }

    private mutating func check(_ store: Store) throws {
        tally.openings += 1
        let summary = store.summary
        let known = ledger.epochs.last
        if isClosed, !summary.wasClosed { throw LifeFailure("it does not know that it was closed") }
        if let known, plan.sync == .full || !lostPower || isClosed, summary.epoch != known {
            throw LifeFailure("the epoch is \(summary.epoch) instead of \(known)")
        }
        var due = lostPower ? promise : live
        if summary.epoch == known {
            // Whoever was told of a batch goes on in the same epoch: it must be there.
            due.batch = max(due.batch, live.batch)
        } else if ledger.epochs.contains(summary.epoch) {
            throw LifeFailure("the epoch \(summary.epoch) was used before")
        }
        try ledger.check(store, due)
        if summary.epoch != known { ledger.epochs.append(summary.epoch) }
    }

    // MARK: Work

    private mutating func work(_ journal: SQLiteJournal, _ progress: Progress, _ disk: CrashDisk, isLast: Bool) async {
        var pieces = ledger.snapshots.count - 1
        let firstPiece = pieces
        var reads: UInt64 = 0
        let steps = isLast ? 30 : Self.longestWork
        for _ in 0..<steps {
            if disk.isStopped || progress.said.failure != nil { break }
            switch dice.below(10) {
            case 0..<6:
                let last = ledger.lastBatch
                if last > 0 { await progress.wait { $0.committed + 1 >= last } }
                if progress.said.failure != nil { break }
                _ = journal.append(ledger.makeBatch(&dice))
            case 6, 7:
                let written = pieces - firstPiece
                await progress.wait { $0.swept == written }
                if progress.said.failure != nil { break }
                let committed = progress.said.committed
                journal.sweep(ledger.makePiece(&dice, committed: committed, isLarge: plan.hasLargePieces))
                pieces += 1
            case 8:
                let asked = reads
                await progress.wait { $0.reads.count == Int(asked) }
                reads += 1
                let (app, seq) = ledger.seqs.sorted { $0.key < $1.key }.first ?? ("com.a", 0)
                let question = Question(
                    app: app, after: seq > 4 ? seq - 4 : 0, maximum: 5, committed: progress.said.committed)
                questions[reads] = question
                journal.read(
                    JournalRead(
                        id: reads, app: Array(app.utf8), kind: .stream(after: question.after),
                        maximumRows: question.maximum, maximumBytes: 1 << 20))
            default:
                let last = ledger.lastBatch
                await progress.wait { $0.committed == last }
            }
        }
        if dice.oneIn(2) && !isLast { disk.stop(at: 0) }
    }

    private func spoiled(_ reads: [JournalReadResult]) -> [JournalReadResult] {
        reads.map { JournalReadResult(id: $0.id, outcome: plan.spoiledReads?.spoil($0.outcome) ?? $0.outcome) }
    }

    private mutating func judge(
        _ store: Store, _ said: Progress.Said, _ disk: CrashDisk, failures: Int, isLast: Bool
    ) throws {
        let faults = disk.failures - failures
        let isLack = plan.fault?.isLack ?? false
        tally.faults += faults
        tally.batches += Int(said.committed - live.batch)
        tally.segments += store.segmentCount
        tally.fullDisks += said.full
        if let wrong = said.wrong { throw LifeFailure(wrong) }
        if let failure = said.failure, !disk.isStopped, faults == 0 || isLack {
            throw LifeFailure("the journal failed: \(failure)")
        }
        if said.failure == nil, faults > 0, !isLack, !disk.isStopped {
            throw LifeFailure("a call failed (\(String(describing: plan.fault))), and the journal went on")
        }
        if isLast, !isClosed { throw LifeFailure("the last run did not end well") }
        // What lacks something is done later, and that is told.
        let warning = said.warnings.first { !(isLack && faults > 0 && Self.tellsOfLack($0)) }
        if let warning, !disk.isStopped { throw LifeFailure("it warned: \(warning)") }
        tally.reads += said.reads.count
        try ledger.check(spoiled(said.reads), questions, firstBatch: store.firstBatches.first ?? 1)
        let before = live.piece
        live = Ledger.Promise(batch: said.committed, piece: before + said.swept)
        if plan.sync == .full || isClosed {
            promise.batch = live.batch
        } else if said.swept > 0 {
            // What a snapshot shows is on the disk before it.
            promise.batch = max(promise.batch, ledger.snapshots[live.piece].committed)
        }
        promise.piece = isClosed ? live.piece : ledger.lastDurablePiece(through: live.piece) ?? promise.piece
    }

    private static func tellsOfLack(_ warning: String) -> Bool {
        warning.hasPrefix("segment ") || warning.hasPrefix("the journal cannot be written yet")
            || warning.contains("cannot be read yet")
    }
}
