import Foundation
import IsletJournal
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct BackupTests {
    private let options = StoreOptions.testing { $0.segmentBytes = 40_000 }

    @Test func oneFileHasTheSnapshotAndEverythingAfterIt() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        let held = await run.commit(from: 1, untilSegments: 3)
        var chunk = StateChunk()
        chunk.at = 77_000
        chunk.add(slot: 3, nextAt: 1_800_000_000_123)
        chunk.set(Array("k".utf8).span, to: Array("v".utf8).span)
        chunk.holdsThrough = held
        run.journal.sweep(chunk)
        await run.notices.swept(1)
        let last = await run.commit(from: held + 1, untilSegments: 5)
        let file = folder.path + "/copy.islet"
        run.journal.backUp(BackupRequest(id: 4, path: file))
        let bytes = try #require(await run.notices.backup(4)).get()
        #expect(bytes == (try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int))
        await run.commit(last + 1...last + 3)
        await run.journal.close()
        let expected = try Store.open(directory: folder.data, options: options).recorded(after: held)

        let target = try TemporaryFolder()
        try Store.restore(from: file, into: target.data, epoch: "restored", options: options)
        let again = try JournalRun(target, options)
        #expect(again.store.summary.epoch == "restored")
        #expect(again.store.summary.lastBatch == last)
        #expect(again.store.summary.snapshotHoldsThrough == held)
        #expect(again.store.summary.clock == max(77_000, 1_000 * Int64(last)))
        #expect(!again.store.summary.isNew)
        #expect(!again.store.summary.mayHaveLostCommits)
        let recorded = try again.store.recorded(after: held)
        #expect(recorded == Array(expected.prefix(recorded.count)))
        #expect(recorded.filter { $0.hasPrefix("batch") }.count == Int(last - held))
        #expect(try again.store.entities().count == 1)
        #expect(try again.store.facts() == ["k: v"])
        #expect(try Store.verify(directory: target.data).findings == [])
        await again.commit(.single(last + 1))
        await again.journal.close()
        #expect(try Store.open(directory: target.data, options: options).summary.lastBatch == last + 1)
    }

    @Test(arguments: [8 << 30, 0]) func aBackupHasTheAnswersThatRetriesMayAskFor(retentionBytes: Int) async throws {
        let folder = try TemporaryFolder()
        var options = options
        options.retentionBytes = retentionBytes
        let run = try JournalRun(folder, options)
        let held = await run.commit(from: 1, untilSegments: 6)
        await run.hold(through: held, sweep: 1, answersFrom: 3)
        await run.commit(held + 1...held + 2)
        let file = folder.path + "/copy"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        await run.journal.close()

        let target = try TemporaryFolder()
        try Store.restore(from: file, into: target.data, epoch: "e2", options: options)
        let again = try JournalRun(target, options)
        let batches = try again.store.answers().compactMap { UInt64($0.prefix { $0 != " " }) }
        #expect(batches == Array(3...held + 2))
        // What was restored knows what it may forget.
        let second = target.path + "/copy"
        again.journal.backUp(BackupRequest(id: 1, path: second))
        _ = try #require(await again.notices.backup(1)).get()
        await again.journal.close()
        let third = try TemporaryFolder()
        try Store.restore(from: second, into: third.data, epoch: "e3", options: options)
        #expect(try Store.open(directory: third.data, options: options).answers().count == batches.count)
    }

    private final class Room: Sendable {
        let isArmed = Atomic(false)
        let isFull = Atomic(false)
    }

    /// The end of the snapshot's round is on the disk while its checkpoint waits for room: backups go by what is there.
    @Test func aBackupThatIsMadeWhileACheckpointWaitsForRoomCanBeRestored() async throws {
        let folder = try TemporaryFolder()
        let log = folder.data + "/state.db-wal"
        // There is no room from when the snapshot has grown until the test says so.
        let room = Room()
        let options = StoreOptions.testing {
            $0.minimumFree = 1_000
            $0.onWarning = { _ in }
            $0.freeBytes = { _ in
                let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
                if room.isArmed.load(ordering: .relaxed), size ?? 0 > 0 {
                    room.isArmed.store(false, ordering: .relaxed)
                    room.isFull.store(true, ordering: .relaxed)
                }
                return room.isFull.load(ordering: .relaxed) ? 0 : 1_000_000
            }
        }
        let run = try JournalRun(folder, options)
        await run.commit(1...3)
        // The log begins anew as soon as the journal's thread runs.
        #expect(try await eventually { (try folder.read("state.db-wal")).isEmpty })
        room.isArmed.store(true, ordering: .relaxed)
        var chunk = StateChunk()
        chunk.add(slot: 1)
        chunk.holdsThrough = 2
        run.journal.sweep(chunk)
        await run.notices.wait { notices in notices.contains { if case .isFull = $0 { true } else { false } } }
        let file = folder.path + "/copy"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        room.isFull.store(false, ordering: .relaxed)
        await run.notices.swept(1)
        await run.journal.close()
        let target = try TemporaryFolder()
        try Store.restore(from: file, into: target.data, epoch: "e2", options: .testing())
        let again = try Store.open(directory: target.data, options: .testing())
        #expect(again.summary.lastBatch == 3)
        #expect(again.summary.snapshotHoldsThrough == 2)
    }

    @Test func aBackupIsReadableByItsOwnerAlone() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        await run.commit(1...2)
        let file = folder.path + "/copy"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        await run.journal.close()
    }

    @Test(arguments: [
        "/data/journal-000009.db", "/data/copy", "/link/copy", "/data/../data/copy", "/data/below/copy",
        "/journal-000009.db", "/journal-000009.db-wal", "/state.db", "/mark", "/lock", "/copy.unfinished",
        "/copy.db-wal",
    ]) func aBackupIsNotMadeWhereItWouldBeTakenForAPartOfTheJournal(place: String) async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        await run.commit(1...2)
        let files = FileManager.default
        try files.createDirectory(atPath: folder.data + "/below", withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: folder.data)
        let file = folder.path + place
        run.journal.backUp(BackupRequest(id: 1, path: file))
        let result = try #require(await run.notices.backup(1))
        #expect(throws: (any Error).self) { try result.get() }
        #expect(!files.fileExists(atPath: file))
        #expect(!files.fileExists(atPath: file + ".unfinished"))
        await run.journal.close()
    }

    @Test func aBackupRightAfterTheSnapshotHasNoBatches() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        await run.commit(1...2)
        await run.hold(through: 2, sweep: 1)
        let file = folder.path + "/copy"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        await run.journal.close()
        let target = try TemporaryFolder()
        try Store.restore(from: file, into: target.data, epoch: "e2", options: options)
        let again = try JournalRun(target, options)
        #expect(again.store.summary.lastBatch == 2)
        await again.commit(.single(3))
        let copied = try target.copiedLastBatch(options)
        #expect(copied == 3)
        await again.journal.close()
    }

    @Test func aFileThatIsThereIsNeverReplaced() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        await run.commit(1...1)
        let file = folder.path + "/copy"
        #expect(FileManager.default.createFile(atPath: file, contents: Data([1])))
        run.journal.backUp(BackupRequest(id: 1, path: file))
        #expect(await run.notices.backup(1) == .failure(BackupFailure(reason: "\(file) exists already")))
        run.journal.backUp(BackupRequest(id: 2, path: folder.path + "/missing/copy"))
        guard case .failure? = await run.notices.backup(2) else {
            Issue.record("a backup into a folder that is not there")
            return
        }
        await run.commit(2...2)
        await run.journal.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data([1]))
    }

    @Test func aFolderWithAnythingInItIsNotRestoredInto() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        await run.commit(1...1)
        let file = folder.path + "/copy"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        await run.journal.close()
        #expect(throws: StoreError.exists(folder.data)) {
            try Store.restore(from: file, into: folder.data, epoch: "e", options: options)
        }
        for name in ["journal-000001.db", "state.db"] {
            let part = folder.data + "/" + name
            #expect(throws: StoreError.noBackup(file: part)) {
                try Store.restore(from: part, into: folder.path + "/new", epoch: "e", options: options)
            }
        }
        #expect(throws: StoreError.self) {
            try Store.restore(from: folder.data + "/mark", into: folder.path + "/new2", epoch: "e", options: options)
        }
        #expect(!StoreError.noBackup(file: file + ".unfinished").description.contains("data folder"))
    }

    @Test func aBackupIsReadableWithSqlite3() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        await run.commit(1...2)
        let file = folder.path + "/copy.db"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        #expect(
            try TemporaryFolder.sqlite3(file, "SELECT seq, id, batch FROM events") == "1|a-1|1\n2|a-2|2\n")
        #expect(!FileManager.default.fileExists(atPath: file + "-wal"))
        await run.journal.close()
    }
}
