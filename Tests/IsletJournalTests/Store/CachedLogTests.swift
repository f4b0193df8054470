import Glibc
import IsletJournal
import Testing

/// The system's own memory of a segment's log: its end is kept, and the rest is left to the next commits.
@Suite(.timeLimit(.minutes(10)), .enabled(if: TemporaryFolder.isOnDisk, "the folder for temporary files is in memory"))
struct CachedLogTests {
    private static let mebibyte = 1 << 20

    /// With all that was committed on the disk: what is not stays in memory.
    private func onDisk(_ change: (inout StoreOptions) -> Void = { _ in }) -> StoreOptions {
        .testing(sync: .full) { options in
            options.allowVolatile = false
            change(&options)
        }
    }

    @Test func theLastMebibytesOfALogStayInTheSystemsMemoryAndNoMore() async throws {
        let run = try JournalRun(TemporaryFolder(), onDisk())
        await run.commit(1...24, padding: Self.mebibyte)
        let log = run.folder.data + "/journal-000001.db-wal"
        let resident = try Self.residentBytes(of: log)
        #expect(resident.file > 24 * Self.mebibyte)
        #expect((6 * Self.mebibyte...11 * Self.mebibyte).contains(resident.inMemory), "\(resident)")
        #expect(await run.read("com.a", .stream(after: 0), rows: 1, bytes: 4 * Self.mebibyte)?.seqs == [1], "what is on the disk alone can be read")
        await run.journal.close()
    }

    @Test func aFullLogKeepsItsEndUntilTheNextIsFull() async throws {
        let run = try JournalRun(TemporaryFolder(), onDisk { $0.segmentBytes = 4 * Self.mebibyte })
        _ = await run.commit(from: 1, untilSegments: 3, padding: Self.mebibyte)
        await run.journal.close()
        let logs = try (1...2).map { try Self.residentBytes(of: run.folder.data + "/journal-00000\($0).db-wal") }
        let (first, second) = (logs[0], logs[1])
        #expect(first.file > 4 * Self.mebibyte && first.inMemory == 0, "\(first)")
        #expect(second.file > 4 * Self.mebibyte && second.inMemory > 3 * Self.mebibyte, "\(second)")
    }

    /// Bytes of a file, and of it those in memory (mincore(2)).
    private static func residentBytes(of path: String) throws -> (file: Int, inMemory: Int) {
        let descriptor = open(path, O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let memory = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
        try #require(memory != MAP_FAILED)
        defer { munmap(memory, size) }
        let page = Int(getpagesize())
        var pages = [UInt8](repeating: 0, count: (size + page - 1) / page)
        try #require(mincore(memory, size, &pages) == 0)
        return (size, pages.count { $0 & 1 == 1 } * page)
    }
}
