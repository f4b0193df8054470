import Foundation
import IsletJournal
import Testing

/// Segments are opened before recovery comes to them, and closed behind it.
@Suite(.timeLimit(.minutes(10))) struct SegmentsAheadTests {
    private static let options = StoreOptions.testing { $0.segmentBytes = 64 << 10 }

    /// The segments of a folder that this process has open.
    private func open(_ folder: TemporaryFolder) -> Set<String> {
        let files = FileManager.default
        let descriptors = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let paths = descriptors.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return Set(paths.filter { $0.hasPrefix(folder.data + "/journal-") && $0.hasSuffix(".db") })
    }

    private func segment(_ number: Int, _ folder: TemporaryFolder) -> String {
        folder.data + "/journal-00000\(number).db"
    }

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
        #expect(!open(folder).contains(segment(1, folder)))
        #expect(try store.entities().isEmpty)
        let both: Set = [segment(1, folder), segment(2, folder)]
        #expect(try await eventually { open(folder).isSuperset(of: both) })
        #expect(try store.recorded().count { $0.hasPrefix("batch ") } == Int(last))
        #expect(try store.answers().count == Int(last))
        #expect(open(folder).isDisjoint(with: both))
    }

    @Test func theyAreClosedWithAStoreThatIsGivenUp() async throws {
        let (folder, _) = try await filled()
        do {
            let store = try Store.open(directory: folder.data, options: Self.options)
            #expect(try store.entities().isEmpty)
        }
        #expect(open(folder).isEmpty)
    }

    @Test func theyAreClosedBeforeTheJournalGoesOn() async throws {
        let (folder, last) = try await filled()
        let notices = Notices()
        let store = try Store.open(directory: folder.data, options: Self.options)
        #expect(try store.entities().isEmpty)
        let journal = try store.startJournal(after: last, report: notices.report)
        #expect(open(folder).isDisjoint(with: [segment(1, folder), segment(2, folder)]))
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
