import IsletJournal
import Testing

/// A folder whose making was cut short at any point is made to its end by the next start.
@Suite(.timeLimit(.minutes(10))) struct CreationTests {
    @Test(arguments: [
        ["lock"], ["lock", "mark"], ["lock", "mark.unfinished"], ["lock", "mark", "state.db"],
        ["lock", "mark", "state.db", "state.db-wal"], ["lock", "mark", "state.db", "journal-000001.db"],
    ])
    func whatIsThereIsCompleted(kept: [String]) async throws {
        let folder = try TemporaryFolder()
        do { _ = try Store.open(directory: folder.data, options: .testing(sync: .full)) }
        for name in folder.files where !kept.contains(name) { try folder.remove(name) }
        if kept.contains("mark.unfinished") { try folder.write([1], to: "mark.unfinished") }
        let run = try JournalRun(folder, .testing(sync: .full))
        #expect(run.store.summary.lastBatch == 0)
        #expect(run.store.summary.epoch == "epoch-1")
        await run.commit(1...3)
        await run.journal.close()
        let store = try Store.open(directory: folder.data, options: .testing(sync: .full))
        #expect(store.summary.lastBatch == 3)
        #expect(try Store.verify(directory: folder.data).findings == [])
        #expect(!folder.files.contains { $0.contains("unfinished") })
    }

    @Test func aRestoreThatWasCutShortIsNoFolder() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder)
        await run.commit(1...3)
        run.journal.backUp(BackupRequest(id: 1, path: folder.path + "/copy"))
        _ = try #require(await run.notices.backup(1)).get()
        await run.journal.close()
        let target = try TemporaryFolder()
        try Store.restore(from: folder.path + "/copy", into: target.data, epoch: "e", options: .testing())
        try target.remove("mark")
        #expect(throws: StoreError.self) { try Store.open(directory: target.data, options: .testing()) }
    }
}
