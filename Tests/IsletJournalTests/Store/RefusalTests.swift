import Foundation
import Glibc
import IsletJournal
import Testing

/// A folder that something happened to is refused, and the message says what, where, and what can be done.
@Suite(.timeLimit(.minutes(10))) struct RefusalTests {
    /// Without room, so that the log's last frame is its end; `LogRoomTests` have what is wrong with one that has room.
    private static let full = StoreOptions.testing(sync: .full) {
        $0.makeEpoch = { "epoch-1" }
        $0.logRoom = false
    }

    /// A folder with ten batches in the first segment, as a kill leaves it.
    private func used(_ options: StoreOptions = full) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        await run.commit(1...10, padding: 3_000)
        let left = try folder.copy()
        await run.journal.close()
        return left
    }

    /// A folder with four segments, of which the snapshot holds nothing.
    private func segmented() async throws -> (folder: TemporaryFolder, options: StoreOptions) {
        let options = StoreOptions.testing(sync: .full) { $0.segmentBytes = 40_000 }
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 4)
        await run.commit((last + 1)...(last + 1))
        await run.journal.close()
        return (folder, options)
    }

    private func refusal(_ folder: TemporaryFolder, _ options: StoreOptions = full) -> StoreError? {
        do throws(StoreError) {
            _ = try Store.open(directory: folder.data, options: options)
            return nil
        } catch {
            return error
        }
    }

    private func file(_ folder: TemporaryFolder, _ name: String) -> String { folder.data + "/" + name }

    @Test func aSecondOwnerIsToldTheFirstOnesNumber() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(directory: folder.data, options: Self.full)
        #expect(refusal(folder) == .locked(directory: folder.data, pid: getpid()))
        #expect(refusal(folder)?.description.contains("pid \(getpid())") == true)
        _ = store.summary
    }

    @Test func aLockOfAProcessThatIsGoneIsNoObstacle() throws {
        let folder = try TemporaryFolder()
        do { _ = try Store.open(directory: folder.data, options: Self.full) }
        #expect(refusal(folder) == nil)
    }

    @Test func aFileInThePlaceOfTheFolderIsRefused() throws {
        let folder = try TemporaryFolder()
        #expect(FileManager.default.createFile(atPath: folder.data, contents: nil))
        #expect(refusal(folder) == .notADirectory(folder.data))
    }

    @Test func aFolderInMemoryIsRefusedUnlessItIsAllowed() throws {
        guard FileManager.default.fileExists(atPath: "/dev/shm") else { return }
        let path = "/dev/shm/islet-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let options = StoreOptions.testing { $0.allowVolatile = false }
        #expect(throws: StoreError.volatile(directory: path, fileSystem: "tmpfs")) {
            try Store.open(directory: path, options: options)
        }
    }

    @Test func aFolderThatCannotBeWrittenIsRefused() throws {
        let folder = try TemporaryFolder()
        do { _ = try Store.open(directory: folder.data, options: Self.full) }
        chmod(folder.data, 0o500)
        defer { chmod(folder.data, 0o700) }
        // Nothing is forbidden to root.
        if geteuid() != 0 { #expect(refusal(folder) == .notWritable(folder.data)) }
    }

    @Test func aNewFolderIsForItsOwnerAlone() throws {
        let folder = try TemporaryFolder()
        let nested = folder.data + "/a/b"
        _ = try Store.open(directory: nested, options: Self.full)
        var status = stat()
        #expect(stat(nested, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test(arguments: ["journal-000001.db", "state.db"]) func aForeignFileIsRefused(name: String) async throws {
        let folder = try await used()
        try folder.remove(name)
        _ = try TemporaryFolder.sqlite3Writing(file(folder, name), "PRAGMA application_id = 7; CREATE TABLE t(a)")
        #expect(refusal(folder) == .foreign(file: file(folder, name), applicationID: 7))
    }

    @Test(arguments: ["journal-000001.db", "state.db"]) func anEmptyFileIsRefused(name: String) async throws {
        let folder = try await used()
        try folder.write([], to: name)
        #expect(refusal(folder) == .notADatabase(file: file(folder, name), reason: "it is empty"))
    }

    @Test(arguments: ["journal-000001.db", "state.db"]) func aFileOfSomethingElseIsRefused(name: String) async throws {
        let folder = try await used()
        try folder.write([UInt8](repeating: 65, count: 5_000), to: name)
        #expect(refusal(folder) == .notADatabase(file: file(folder, name), reason: "it does not begin like one"))
    }

    @Test(arguments: ["journal-000001.db", "state.db"]) func aLaterSchemaIsRefused(name: String) async throws {
        let folder = try await used()
        var bytes = try folder.read(name)
        bytes[63] = 2
        try folder.write(bytes, to: name)
        #expect(refusal(folder) == .newerSchema(file: file(folder, name), found: 2, known: 1))
    }

    @Test func aFlippedBitInTheMiddleOfTheLogIsRefusedWithItsPlace() async throws {
        let folder = try await used()
        let name = "journal-000001.db-wal"
        var bytes = try folder.read(name)
        let frame = 32 + 10 * 4_120
        bytes[frame + 2_000] ^= 4
        try folder.write(bytes, to: name)
        guard case .damagedLog(let path, let offset, _) = refusal(folder) else {
            Issue.record("not refused as a damaged log: \(String(describing: refusal(folder)))")
            return
        }
        #expect(path == file(folder, name))
        #expect(offset == frame)
        #expect(refusal(folder)?.description.contains("islet journal verify") == true)
        #expect(try folder.read(name) == bytes)
    }

    @Test func everyBitOfTheLogMatters() async throws {
        let folder = try await used()
        let name = "journal-000001.db-wal"
        let original = try folder.read(name)
        for offset in stride(from: 0, to: original.count, by: max(1, original.count / 60)) {
            var bytes = original
            bytes[offset] ^= 1
            try folder.write(bytes, to: name)
            #expect(refusal(folder) != nil, "a flipped bit at \(offset)")
        }
        try folder.write(original, to: name)
        #expect(refusal(folder) == nil)
    }

    @Test func aLogThatWasCutIsRefused() async throws {
        let folder = try await used()
        let name = "journal-000001.db-wal"
        let original = try folder.read(name)
        for size in [0, 20, 32, 5_000, original.count / 2, original.count - 1] {
            try folder.write(Array(original.prefix(size)), to: name)
            guard case .commitsLost(folder.data, let last, acknowledged: 10) = refusal(folder), last < 10 else {
                Issue.record("cut to \(size): \(String(describing: refusal(folder)))")
                continue
            }
        }
        try folder.remove(name)
        #expect(refusal(folder) == .commitsLost(directory: folder.data, last: 0, acknowledged: 10))
    }

    @Test func anUnfinishedTransactionAtTheEndIsNormalAndCutOff() async throws {
        let folder = try await used()
        let name = "journal-000001.db-wal"
        let original = try folder.read(name)
        // As if the power had failed within the eleventh commit: its first frames are there, and some of the later
        // ones.
        let frame = Array(original[(original.count - 4_120)...])
        var torn = frame
        torn[4...7] = [0, 0, 0, 0]
        try folder.write(original + torn + [UInt8](repeating: 0, count: 4_120) + frame, to: name)
        let store = try Store.open(directory: folder.data, options: Self.full)
        #expect(store.summary.lastBatch == 10)
        #expect(try folder.read(name).count == original.count)
    }

    @Test func twoTransactionsBehindABadFrameAreDamage() async throws {
        let folder = try await used()
        let name = "journal-000001.db-wal"
        let original = try folder.read(name)
        let frame = Array(original[(original.count - 4_120)...])
        var other = frame
        other[3] ^= 1
        try folder.write(original + frame + other, to: name)
        guard case .damagedLog(_, original.count, _) = refusal(folder) else {
            Issue.record("not refused: \(String(describing: refusal(folder)))")
            return
        }
    }

    @Test func aMissingSegmentIsRefused() async throws {
        let (folder, options) = try await segmented()
        for suffix in ["", "-wal", "-shm"] { try folder.remove("journal-000002.db" + suffix) }
        guard case .missing(file(folder, "journal-000002.db"), _) = refusal(folder, options) else {
            Issue.record("not refused: \(String(describing: refusal(folder, options)))")
            return
        }
    }

    @Test func missingSegmentsAtTheEndAreRefused() async throws {
        let (folder, options) = try await segmented()
        for name in folder.files where name.hasPrefix("journal-") && name > "journal-000004" { try folder.remove(name) }
        guard case .commitsLost? = refusal(folder, options) else {
            Issue.record("not refused: \(String(describing: refusal(folder, options)))")
            return
        }
    }

    @Test func allSegmentsMissingIsRefused() async throws {
        let (folder, options) = try await segmented()
        for name in folder.files where name.hasPrefix("journal-") { try folder.remove(name) }
        #expect(refusal(folder, options) != nil)
        try folder.remove("state.db")
        for name in folder.files where name.hasPrefix("state") { try folder.remove(name) }
        guard case .commitsLost(folder.data, last: 0, _) = refusal(folder, options) else {
            Issue.record("a mark alone was taken for a new folder")
            return
        }
    }

    @Test func aSegmentOfAnotherFolderIsRefused() async throws {
        let other = StoreOptions.testing(sync: .full) { $0.makeEpoch = { "other" } }
        let folder = try await used()
        let foreign = try await used(other)
        for suffix in ["", "-wal"] {
            try folder.write(try foreign.read("journal-000001.db" + suffix), to: "journal-000001.db" + suffix)
        }
        #expect(
            refusal(folder)
                == .otherStore(file: file(folder, "journal-000001.db"), expected: "epoch-1", found: "other"))
    }

    @Test func aSegmentUnderAnotherNumberIsRefused() async throws {
        let (folder, options) = try await segmented()
        for suffix in ["", "-wal"] {
            try folder.write(try folder.read("journal-000001.db" + suffix), to: "journal-000002.db" + suffix)
        }
        guard case .otherStore? = refusal(folder, options) else {
            Issue.record("not refused: \(String(describing: refusal(folder, options)))")
            return
        }
    }

    @Test func aSealedSegmentThatEndsTooEarlyIsRefused() async throws {
        let (folder, options) = try await segmented()
        // Unknown to the state, so that it has to be read.
        for name in folder.files where name.hasPrefix("state") { try folder.remove(name) }
        let log = try folder.read("journal-000002.db-wal")
        try folder.write(Array(log.prefix(log.count - 9_000)), to: "journal-000002.db-wal")
        guard case .damagedLog(file(folder, "journal-000002.db-wal"), _, _)? = refusal(folder, options) else {
            Issue.record("not refused: \(String(describing: refusal(folder, options)))")
            return
        }
    }

    @Test func aSealedSegmentThatIsDamagedIsFoundByRecovery() async throws {
        let (folder, options) = try await segmented()
        let log = try folder.read("journal-000002.db-wal")
        try folder.write(Array(log.prefix(log.count - 9_000)), to: "journal-000002.db-wal")
        #expect(throws: StoreError.self) {
            try Store.open(directory: folder.data, options: options).recorded()
        }
    }

    @Test func aBatchThatIsMissingInTheMiddleIsFoundByRecovery() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder)
        await run.commit(1...3)
        await run.journal.close()
        let segment = file(folder, "journal-000001.db")
        #expect(try TemporaryFolder.sqlite3Writing(segment, "DELETE FROM batch WHERE number = 2") == "")
        #expect(throws: StoreError.batchesMissing(file: segment, expected: 2, found: 3)) {
            try Store.open(directory: folder.data, options: .testing()).recorded()
        }
    }

    @Test func aMissingMarkIsRefusedAndADamagedOneToo() async throws {
        let folder = try await used()
        let mark = try folder.read("mark")
        var damaged = mark
        damaged[17] ^= 1
        try folder.write(damaged, to: "mark")
        guard case .damaged(file(folder, "mark"), _) = refusal(folder) else {
            Issue.record("not refused: \(String(describing: refusal(folder)))")
            return
        }
        try folder.remove("mark")
        guard case .missing(file(folder, "mark"), _) = refusal(folder) else {
            Issue.record("not refused: \(String(describing: refusal(folder)))")
            return
        }
    }

    @Test func anOlderCopyOfTheStateIsRefusedOnceItsSegmentsAreTrimmed() async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing(sync: .full) {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 0
        }
        let run = try JournalRun(folder, options)
        await run.commit(1...2)
        let early = try folder.copy()
        let last = await run.commit(from: 3, untilSegments: 3)
        await run.hold(through: last, sweep: 1)
        await run.journal.close()
        for name in ["state.db", "state.db-wal"] { try folder.write(try early.read(name), to: name) }
        #expect(refusal(folder, options) != nil)
        for name in folder.files where name.hasPrefix("state") { try folder.remove(name) }
        guard case .missing(file(folder, "state.db"), _) = refusal(folder, options) else {
            Issue.record("not refused: \(String(describing: refusal(folder, options)))")
            return
        }
    }

    @Test(arguments: ["key-7", "{\"c\":\"seven\"}", "image-7", "v\u{1}v"])
    func aFlippedBitInTheSnapshotIsFoundByRecoveryAndVerify(text: String) async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder)
        await run.commit(1...1)
        var chunk = StateChunk()
        for slot: UInt64 in 1...20 { chunk.add(slot: slot, content: slot == 7 ? "{\"c\":\"seven\"}" : "{}") }
        chunk.set(Array("k".utf8).span, to: Array("v\u{1}v".utf8).span)
        run.journal.sweep(chunk)
        await run.notices.swept(1)
        await run.journal.close()
        // Into the file, whose pages have no checksums.
        _ = try TemporaryFolder.sqlite3Writing(folder.data + "/state.db", "PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try folder.read("state.db")
        let place = try #require(bytes.firstRange(of: Array(text.utf8)))
        bytes[place.lowerBound + 2] ^= 1
        try folder.write(bytes, to: "state.db")
        let store = try Store.open(directory: folder.data, options: .testing())
        #expect(throws: StoreError.self) { (try store.entities(), try store.facts()) }
        #expect(
            try Store.verify(directory: folder.data).findings.contains { $0.meaning.contains("not as it was written") })
    }

    @Test func aMissingStateIsMadeAgainWhileNothingIsTrimmed() async throws {
        let (folder, options) = try await segmented()
        let before = try Store.open(directory: folder.data, options: options).recorded()
        for name in folder.files where name.hasPrefix("state") { try folder.remove(name) }
        let store = try Store.open(directory: folder.data, options: options)
        #expect(store.summary.epoch == "epoch-1")
        #expect(store.summary.snapshotHoldsThrough == 0)
        #expect(try store.recorded() == before)
    }
}
