import IsletJournal
import Testing

/// Full segments stay open, so that SQLite does not read a whole log again for each event that is asked for.
@Suite(.timeLimit(.minutes(10))) struct OpenSegmentsTests {
    private let small = StoreOptions.testing { $0.segmentBytes = 40_000 }

    /// Whether just these are open in the end.
    private func opened(_ folder: TemporaryFolder, _ wanted: Set<Int>) async throws -> Bool {
        try await eventually(within: .seconds(20)) { folder.openSegments == wanted }
    }

    @Test func theNewestFullOnesStayOpen() async throws {
        let run = try JournalRun(TemporaryFolder(), small)
        _ = await run.commit(from: 1, untilSegments: 12)
        // The last two are the one that is written and the one that was made ahead.
        #expect(try await opened(run.folder, Set(4...13)))
        await run.journal.close()
    }

    @Test func theyAreClosedWithTheJournal() async throws {
        let folder = try TemporaryFolder()
        do {
            let run = try JournalRun(folder, small)
            _ = await run.commit(from: 1, untilSegments: 4)
            #expect(!folder.openSegments.isEmpty)
            await run.journal.close()
        }
        #expect(try await opened(folder, []))
    }

    @Test func oneThatIsTrimmedIsClosed() async throws {
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 0
        }
        let run = try JournalRun(TemporaryFolder(), options)
        let last = await run.commit(from: 1, untilSegments: 4)
        await run.hold(through: last, sweep: 1)
        #expect(run.store.segmentCount == 1)
        #expect(try await opened(run.folder, [4, 5]))
        await run.journal.close()
    }

    /// Also where nobody asks for an event any more.
    @Test func oneThatWasReadFromIsClosedWhenItIsTrimmed() async throws {
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 0
        }
        let run = try JournalRun(TemporaryFolder(), options)
        let last = await run.commit(from: 1, untilSegments: 12)
        let all = await run.read("com.a", .chain(last: last), rows: 1_000, bytes: 1 << 30, id: 1)
        #expect(all?.seqs == (1...last).reversed())
        #expect(run.folder.openSegments.isSuperset(of: 2...12))
        await run.hold(through: last, sweep: 1)
        #expect(try await opened(run.folder, [12, 13]))
        await run.journal.close()
    }

    @Test func thoseThatEventsAreReadFromStayOpenUpToABound() async throws {
        let run = try JournalRun(TemporaryFolder(), small)
        let last = await run.commit(from: 1, untilSegments: 50)
        let all = await run.read("com.a", .chain(last: last), rows: 1_000, bytes: 1 << 30, id: 1)
        #expect(all?.seqs == (1...last).reversed())
        #expect(try await opened(run.folder, Set(1...16).union(42...51)))
        await run.journal.close()
    }
}
