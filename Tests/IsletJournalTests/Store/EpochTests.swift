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
