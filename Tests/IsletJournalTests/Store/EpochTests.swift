import IsletJournal
import Testing

/// What `sync=normal` promises: commits may be lost with the machine, and then everybody hears of it.
@Suite(.timeLimit(.minutes(10))) struct EpochTests {
    private func options(_ boot: String, sync: SyncMode = .normal) -> StoreOptions {
        .testing(sync: sync) {
            $0.bootID = boot
            let name = "epoch of \(boot)"
            $0.makeEpoch = { name }
        }
    }

    /// A folder with ten batches whose owner was killed, and the snapshot of the first eight.
    private func killed(sync: SyncMode = .normal) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options("one", sync: sync))
        await run.commit(1...8)
        await run.hold(through: 8, sweep: 1)
        await run.commit(9...10)
        let left = try folder.copy()
        await run.journal.close()
        return left
    }

    @Test func aKillOnTheSameRunOfTheMachineKeepsTheEpoch() async throws {
        let folder = try await killed()
        let store = try Store.open(directory: folder.data, options: options("one"))
        #expect(store.summary.epoch == "epoch of one")
        #expect(!store.summary.mayHaveLostCommits)
    }

    @Test func anotherRunOfTheMachineMakesANewEpoch() async throws {
        let folder = try await killed()
        let run = try JournalRun(folder, options("two"))
        #expect(run.store.summary.epoch == "epoch of two")
        #expect(run.store.summary.mayHaveLostCommits)
        #expect(run.store.summary.lastBatch == 10)
        #expect(run.store.firstBatches == [1, 11])
        await run.commit(11...12)
        await run.journal.close()
        let store = try Store.open(directory: folder.data, options: options("two"))
        #expect(store.summary.epoch == "epoch of two")
        #expect(!store.summary.mayHaveLostCommits)
        #expect(try store.answers().count == 12)
        #expect(try Store.verify(directory: folder.data).findings == [])
    }

    @Test func anEpochMayEndBeforeItHasABatch() async throws {
        let folder = try await killed()
        for boot in ["two", "three", "three"] {
            let store = try Store.open(directory: folder.data, options: options(boot))
            #expect(store.summary.epoch == "epoch of \(boot)")
            #expect(store.summary.lastBatch == 10)
        }
        #expect(try Store.verify(directory: folder.data).findings == [])
    }

    @Test func aSnapshotThatIsAheadOfWhatIsLeftIsTakenBack() async throws {
        let folder = try await killed()
        try folder.write([], to: "journal-000001.db-wal")
        #expect(throws: StoreError.commitsLost(directory: folder.data, last: 0, acknowledged: 10)) {
            try Store.open(directory: folder.data, options: options("one"))
        }
        let run = try JournalRun(folder, options("two"))
        #expect(run.store.summary.lastBatch == 0)
        #expect(run.store.summary.snapshotHoldsThrough == 0)
        #expect(run.store.summary.mayHaveLostCommits)
        await run.commit(1...2)
        await run.journal.close()
        let store = try Store.open(directory: folder.data, options: options("two"))
        #expect(store.summary.lastBatch == 2)
        #expect(try store.answers() == ["1 at 1000: answer 1", "2 at 2000: answer 2"])
    }

    /// What is left of ``killed(sync:)`` where the machine stopped, and nothing of the journal had been written.
    private func lost() async throws -> TemporaryFolder {
        let folder = try await killed()
        try folder.write([], to: "journal-000001.db-wal")
        return folder
    }

    @Test func thatTheSnapshotMayBeAheadIsKnownAfterEveryKillUntilARoundOfItHasEnded() async throws {
        let folder = try await lost()
        for _ in 1...3 {
            let store = try Store.open(directory: folder.data, options: options("two"))
            #expect(store.summary.snapshotMayBeAhead)
            #expect(store.summary.epoch == "epoch of two")
        }
        let run = try JournalRun(folder, options("two"))
        #expect(!run.store.summary.mayHaveLostCommits)
        await run.commit(1...2)
        var piece = StateChunk()
        piece.add(slot: 1)
        run.journal.sweep(piece)
        await run.notices.swept(1)
        do {
            let killed = try folder.copy()
            #expect(try Store.open(directory: killed.data, options: options("two")).summary.snapshotMayBeAhead)
        }
        await run.hold(through: 2, sweep: 2)
        let killed = try folder.copy()
        #expect(try !Store.open(directory: killed.data, options: options("two")).summary.snapshotMayBeAhead)
        await run.journal.close()
    }

    @Test func aGoodbyeDoesNotSettleASnapshotThatMayBeAheadAndABackupCopiesThatToo() async throws {
        let folder = try await lost()
        let run = try JournalRun(folder, options("two"))
        await run.commit(1...1)
        let file = folder.path + "/backup"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        await run.journal.close()
        let store = try Store.open(directory: folder.data, options: options("three"))
        #expect(store.summary.wasClosed)
        #expect(store.summary.epoch == "epoch of two")
        #expect(store.summary.snapshotMayBeAhead)
        let target = try TemporaryFolder()
        try Store.restore(from: file, into: target.data, epoch: "restored", options: options("three"))
        #expect(try Store.open(directory: target.data, options: options("three")).summary.snapshotMayBeAhead)
    }

    @Test func aGoodbyeSyncsSoThatAnotherRunOfTheMachineChangesNothing() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options("one"))
        await run.commit(1...3)
        await run.journal.close()
        do {
            let store = try Store.open(directory: folder.data, options: options("two"))
            #expect(store.summary.epoch == "epoch of one")
            #expect(store.summary.wasClosed)
            #expect(!store.summary.mayHaveLostCommits)
        }
        // That owner was killed, although it committed nothing.
        let store = try Store.open(directory: folder.data, options: options("three"))
        #expect(store.summary.mayHaveLostCommits)
    }

    @Test func syncedCommitsSurviveEveryRunOfTheMachine() async throws {
        let folder = try await killed(sync: .full)
        let store = try Store.open(directory: folder.data, options: options("two", sync: .full))
        #expect(store.summary.epoch == "epoch of one")
        #expect(!store.summary.mayHaveLostCommits)
        #expect(store.summary.snapshotHoldsThrough == 8)
    }
}
