import Foundation
import IsletJournal
import Synchronization
import Testing

/// Room that a segment's log has ahead: zeros that commits write over.
@Suite(.timeLimit(.minutes(10))) struct LogRoomTests {
    private static let options = StoreOptions.testing(sync: .full)
    private static let log = "journal-000001.db-wal"
    private static let frameBytes = 4_120

    /// Bytes of a log up to its last frame that has something, and behind it.
    private func bytes(of log: String, in folder: TemporaryFolder) throws -> (used: Int, room: Int) {
        let bytes = try folder.read(log)
        let last = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        let used = 32 + (last - 32 + Self.frameBytes - 1) / Self.frameBytes * Self.frameBytes
        return (used, bytes.count - used)
    }

    @Test func aLogDoesNotGrowWithEachCommit() async throws {
        let run = try JournalRun(TemporaryFolder(), Self.options)
        var sizes: Set<Int> = []
        for number in UInt64(1)...100 {
            await run.commit(number...number)
            sizes.insert(try run.folder.read(Self.log).count)
        }
        #expect(sizes.count < 15, "\(sizes.sorted())")
        #expect(try bytes(of: Self.log, in: run.folder).room > 0)
        await run.journal.close()
    }

    @Test func roomIsNotCountedAndACleanStopGivesItBack() async throws {
        let run = try JournalRun(TemporaryFolder(), Self.options)
        await run.commit(1...40)
        let (used, room) = try bytes(of: Self.log, in: run.folder)
        #expect(room > 0)
        await run.journal.close()
        #expect(try run.folder.read(Self.log).count == used)
        #expect(try Store.statistics(directory: run.folder.data).segments.first?.bytes == used + run.folder.read("journal-000001.db").count)
    }

    @Test func afterAKillRoomIsCutOffAndNothingElse() async throws {
        let run = try JournalRun(TemporaryFolder(), Self.options)
        await run.commit(1...40)
        let (used, room) = try bytes(of: Self.log, in: run.folder)
        #expect(room > 0)
        let copy = try run.folder.copy()
        let report = try Store.verify(directory: copy.data)
        #expect(report.isSound && !report.endsTorn && report.lastBatch == 40, "\(report)")
        let second = try JournalRun(copy, Self.options)
        #expect(second.store.summary.lastBatch == 40)
        #expect(try copy.read(Self.log).count == used)
        await second.commit(41...60)
        #expect(try bytes(of: Self.log, in: copy).room > 0)
        #expect(try copy.copiedLastBatch(Self.options) == 60)
        await second.journal.close()
        await run.journal.close()
    }

    @Test func aFullSegmentHasNoRoom() async throws {
        let options = StoreOptions.testing(sync: .full) { $0.segmentBytes = 200_000 }
        let run = try JournalRun(TemporaryFolder(), options)
        _ = await run.commit(from: 1, untilSegments: 4, padding: 1_000)
        for number in 1...3 {
            let room = try bytes(of: "journal-00000\(number).db-wal", in: run.folder).room
            #expect(room == 0, "segment \(number)")
        }
        await run.journal.close()
        #expect(try Store.verify(directory: run.folder.data).isSound)
    }

    @Test func largeCommitsHaveNone() async throws {
        let run = try JournalRun(TemporaryFolder(), Self.options)
        await run.commit(1...5, padding: 500_000)
        let before = try bytes(of: Self.log, in: run.folder)
        #expect(before.room == 0)
        await run.commit(6...8)
        #expect(try bytes(of: Self.log, in: run.folder).room > 0, "small ones have some again")
        await run.journal.close()
    }

    @Test(arguments: [SyncMode.normal, .full]) func withoutSyncsOrWhereItIsNotWantedThereIsNone(sync: SyncMode) async throws {
        let options = StoreOptions.testing(sync: sync) { $0.logRoom = sync == .normal }
        let run = try JournalRun(TemporaryFolder(), options)
        await run.commit(1...40)
        #expect(try bytes(of: Self.log, in: run.folder).room == 0)
        await run.journal.close()
    }

    @Test func whatAnotherProcessCommittedIsNeitherOverwrittenNorCutOff() async throws {
        let run = try JournalRun(TemporaryFolder(), Self.options)
        await run.commit(1...10)
        let file = run.folder.data + "/journal-000001.db"
        // More than the room that is left, and behind the last commit that the journal knows of.
        let sql = "CREATE TABLE other (value); INSERT INTO other VALUES (hex(zeroblob(100000)))"
        #expect(try TemporaryFolder.sqlite3Writing(file, sql) == "")
        #expect(try TemporaryFolder.sqlite3(file, "SELECT length(value) FROM other") == "200000\n")
        await run.commit(11...30)
        #expect(try TemporaryFolder.sqlite3Writing(file, "INSERT INTO other VALUES (2)") == "")
        await run.journal.close()
        #expect(try TemporaryFolder.sqlite3(file, "SELECT count(*), (SELECT count(*) FROM batch) FROM other") == "2|30\n")
        #expect(try TemporaryFolder.sqlite3(file, "PRAGMA integrity_check") == "ok\n")
        #expect(try run.folder.copiedLastBatch(Self.options) == 30)
    }

    /// What a kill after forty commits leaves, and where its frames end and its room.
    private func killed() async throws -> (folder: TemporaryFolder, log: [UInt8], used: Int) {
        let run = try JournalRun(TemporaryFolder(), Self.options)
        await run.commit(1...40)
        let copy = try run.folder.copy()
        await run.journal.close()
        let log = try copy.read(Self.log)
        return (copy, log, try bytes(of: Self.log, in: copy).used)
    }

    @Test func everyBitBeforeRoomMattersAndNoneOfIt() async throws {
        let (folder, log, used) = try await killed()
        for offset in stride(from: 0, to: log.count, by: max(1, log.count / 60)) {
            var changed = log
            changed[offset] ^= 1
            try folder.write(changed, to: Self.log)
            do throws(StoreError) {
                let store = try Store.open(directory: folder.data, options: Self.options)
                #expect(offset >= used && store.summary.lastBatch == 40, "a flipped bit at \(offset) of \(used)")
            } catch {
                #expect(offset < used, "a flipped bit at \(offset) of \(used): \(error)")
            }
        }
    }

    @Test func anUnfinishedTransactionInRoomIsCutOff() async throws {
        var (folder, log, used) = try await killed()
        // As if the power had failed within the next commit, whose last frame came to the disk, and not the first.
        let frame = Array(log[(used - Self.frameBytes)..<used])
        log.replaceSubrange((used + Self.frameBytes)..<(used + 2 * Self.frameBytes), with: frame)
        try folder.write(log, to: Self.log)
        #expect(try Store.verify(directory: folder.data).endsTorn)
        #expect(try Store.open(directory: folder.data, options: Self.options).summary.lastBatch == 40)
        #expect(try folder.read(Self.log).count == used)
    }

    @Test func aLostFrameThatTwoTransactionsFollowIsDamage() async throws {
        var (folder, log, used) = try await killed()
        let bad = used - 6 * Self.frameBytes
        log.replaceSubrange(bad..<(bad + Self.frameBytes), with: [UInt8](repeating: 0, count: Self.frameBytes))
        try folder.write(log, to: Self.log)
        let path = folder.data + "/" + Self.log
        #expect(try Store.verify(directory: folder.data).findings.contains { $0.file == path && $0.offset == bad })
        #expect {
            try Store.open(directory: folder.data, options: Self.options)
        } throws: {
            guard case .damagedLog(path, bad, _) = $0 as? StoreError else { return false }
            return true
        }
    }

    @Test func aFullLogThatEndsInZerosIsDamaged() async throws {
        let options = StoreOptions.testing(sync: .full) { $0.segmentBytes = 200_000 }
        let run = try JournalRun(TemporaryFolder(), options)
        _ = await run.commit(from: 1, untilSegments: 4, padding: 1_000)
        await run.journal.close()
        let folder = try run.folder.copy()
        let log = try folder.read(Self.log)
        // Where transactions end: their last frame says how many pages the database has then.
        let frames = stride(from: 32, to: log.count, by: Self.frameBytes)
        let commits = frames.filter { log[($0 + 4)..<($0 + 8)].contains { $0 != 0 } }.map { $0 + Self.frameBytes }
        try #require(commits.count > 10)
        // As if a part of the file had never come to the disk: all of it but what made the log; and its end.
        for end in [32, commits[0], commits[commits.count - 3]] {
            try folder.write(log[..<end] + [UInt8](repeating: 0, count: log.count - end), to: Self.log)
            let report = try Store.verify(directory: folder.data)
            let path = folder.data + "/" + Self.log
            #expect(report.findings.contains { $0.file == path }, "from \(end) on: \(report.findings)")
        }
    }

    @Test func moreZerosThanRoomEverHasAreNoRoom() async throws {
        var (folder, log, used) = try await killed()
        log += [UInt8](repeating: 0, count: used + (1 << 20) + 1 - log.count)
        try folder.write(log, to: Self.log)
        #expect(try Store.verify(directory: folder.data).endsTorn)
    }

    @Test func nothingIsTakenForDamageWhileItIsWritten() async throws {
        // A frame may be written behind the back of whoever has read its place already, and a segment may become full
        // while it is read. The kernel decides when, so this asks often, and writes more than a segment.
        let run = try JournalRun(TemporaryFolder(), Self.options)
        await run.commit(1...1)
        let isDone = Atomic(false)
        let data = run.folder.data
        let verified = Task.detached {
            var count = 0
            while !isDone.load(ordering: .relaxed) {
                let report = try Store.verify(directory: data, bootID: "boot-1")
                guard report.isSound else { return "\(report.findings.map(\.description))" }
                count += 1
                await Task.yield()
            }
            return count > 3 ? "" : "verified \(count) times"
        }
        await run.commit(2...8_000)
        isDone.store(true, ordering: .relaxed)
        let findings = try await verified.value
        #expect(findings == "", "\(findings)")
        await run.journal.close()
    }
}
