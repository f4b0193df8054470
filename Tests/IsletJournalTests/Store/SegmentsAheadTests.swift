import IsletJournal
import Testing

/// Segments are opened before recovery comes to them, and closed behind it.
@Suite(.timeLimit(.minutes(10))) struct SegmentsAheadTests {
    private static let options = StoreOptions.testing { $0.segmentBytes = 64 << 10 }

    /// A folder with three segments whose batches are behind the snapshot.
    private func filled() async throws -> (folder: TemporaryFolder, last: UInt64) {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, Self.options)
        let last = await run.commit(from: 1, untilSegments: 3)
        await run.journal.close()
        return (folder, last)
    }

    @Test func thoseThatAreReadAreOpenMeanwhileAndClosedAfterwards() async throws {
        let (folder, last) = try await filled()
        let store = try Store.open(directory: folder.data, options: Self.options)
        #expect(!folder.openSegments.contains(1))
        #expect(try store.entities().isEmpty)
        #expect(try await eventually { folder.openSegments.isSuperset(of: [1, 2]) })
        #expect(try store.recorded().count { $0.hasPrefix("batch ") } == Int(last))
        #expect(try store.answers().count == Int(last))
        #expect(folder.openSegments.isDisjoint(with: [1, 2]))
    }

    @Test func theyAreClosedWithAStoreThatIsGivenUp() async throws {
        let (folder, _) = try await filled()
        do {
            let store = try Store.open(directory: folder.data, options: Self.options)
            #expect(try store.entities().isEmpty)
        }
        #expect(folder.openSegments.isEmpty)
    }

    @Test func theyAreClosedBeforeTheJournalGoesOn() async throws {
        let (folder, last) = try await filled()
        let notices = Notices()
        let store = try Store.open(directory: folder.data, options: Self.options)
        #expect(try store.entities().isEmpty)
        let journal = try store.startJournal(after: last, report: notices.report)
        #expect(folder.openSegments.isDisjoint(with: [1, 2]))
        await journal.close()
    }

    @Test func oneThatIsDamagedIsToldByWhoReadsIt() async throws {
        let (folder, _) = try await filled()
        var bytes = try folder.read("journal-000001.db-wal")
        for index in 32..<bytes.count { bytes[index] = 0xA5 }
        try folder.write(bytes, to: "journal-000001.db-wal")
        let store = try Store.open(directory: folder.data, options: Self.options)
        #expect(try store.entities().isEmpty)
        #expect(throws: StoreError.self) { try store.recorded() }
    }
}
