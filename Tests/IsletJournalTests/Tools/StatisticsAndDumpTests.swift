import IsletJournal
import Testing

@Suite(.timeLimit(.minutes(10))) struct StatisticsAndDumpTests {
    @Test func figuresSayWhatIsThere() async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing { $0.segmentBytes = 40_000 }
        let run = try JournalRun(folder, options)
        await run.commit(
            .sample(1, [SampleEvent(app: "com.a", seq: 1), SampleEvent(app: "com.b", seq: 1)]), .sample(2, facts: ["x"])
        )
        var chunk = StateChunk()
        chunk.add(slot: 1)
        chunk.add(slot: 2)
        chunk.set(Array("k".utf8).span, to: Array("v".utf8).span)
        chunk.holdsThrough = 1
        run.journal.sweep(chunk)
        await run.notices.swept(1)
        let live = try Store.statistics(directory: folder.data)
        #expect(!live.wasClosed)
        await run.journal.close()
        let statistics = try Store.statistics(directory: folder.data)
        #expect(statistics.epoch == "epoch-1")
        #expect(statistics.entities == 2)
        #expect(statistics.facts == 1)
        #expect(statistics.holdsThrough == 1)
        #expect(statistics.acknowledged == 2)
        #expect(statistics.trimmedThrough == 0)
        #expect(statistics.wasClosed)
        #expect(statistics.bytes > 40_000)
        let segment = try #require(statistics.segments.first)
        #expect(segment.name == "journal-000001.db")
        #expect((segment.batches, segment.events, segment.apps) == (2, 2, 2))
        #expect((segment.firstBatch, segment.lastBatch, segment.firstAt, segment.lastAt) == (1, 2, 1_000, 2_000))
    }

    @Test func aDumpHasEveryRowInOrder() async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing { $0.segmentBytes = 40_000 }
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 3)
        await run.commit(.sample(last + 1, facts: ["a", "b"], answers: ["c"]))
        await run.journal.close()
        var rows: [DumpedRow] = []
        #expect(try Store.dump(directory: folder.data) { rows.append($0) } == [])
        #expect(rows.map(\.batch) == Array(1...(last + 1)))
        let first = try #require(rows.first)
        #expect(first.app == Array("com.a".utf8))
        #expect((first.at, first.facts, first.answers) == (1_000, 0, 1))
        let event = SampleEvent(app: "com.a", seq: 1, padding: 4_000)
        #expect(first.events.map(\.json) == [Array(event.json.utf8)])
        #expect(first.events.map(\.topic) == [Array(event.topic.utf8)])
        let notes = try #require(rows.last)
        #expect(notes.app == nil && notes.events.isEmpty)
        #expect((notes.facts, notes.answers) == (2, 1))
        var from: [UInt64] = []
        #expect(try Store.dump(directory: folder.data, from: last) { from.append($0.batch) } == [])
        #expect(from == [last, last + 1])
    }

    /// Which batches a dump has, and what it says is missing, where segments go before it or at its first row.
    private func dump(
        without gone: [Int], atFirstRow: Bool
    ) async throws -> (batches: [UInt64], gaps: [DumpGap], ends: [UInt64]) {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, .testing { $0.segmentBytes = 40_000 })
        let last = await run.commit(from: 1, untilSegments: 4) + 1
        await run.commit(.sample(last, facts: ["a"]))
        await run.journal.close()
        // The last batch of each segment that has any: the next one is there already.
        let ends = try Store.statistics(directory: folder.data).segments.map(\.lastBatch).filter { $0 > 0 }
        try #require(ends.count >= 3 && ends == ends.sorted() && ends.last == last)
        func remove() throws {
            let names = gone.map { "journal-00000\($0).db" }
            for name in folder.segments where names.contains(name) { try folder.remove(name) }
        }
        if !atFirstRow { try remove() }
        var batches: [UInt64] = []
        let gaps = try Store.dump(directory: folder.data) { row in
            if atFirstRow, batches.isEmpty { try remove() }
            batches.append(row.batch)
        }
        return (batches, gaps, ends)
    }

    @Test(arguments: [false, true]) func aDumpSaysWhichBatchesAreMissingInItsMiddle(atFirstRow: Bool) async throws {
        let (batches, gaps, ends) = try await dump(without: [2], atFirstRow: atFirstRow)
        #expect(gaps == [DumpGap(first: ends[0] + 1, last: ends[1])])
        #expect(batches == (1...ends[ends.count - 1]).filter { $0 <= ends[0] || $0 > ends[1] })
    }

    @Test func aDumpWhoseLastSegmentsGoSaysThatItsEndIsMissing() async throws {
        let (batches, gaps, ends) = try await dump(without: Array(2...9), atFirstRow: true)
        #expect(batches == Array(1...ends[0]) && gaps == [DumpGap(first: ends[0] + 1, last: nil)])
    }

    @Test func whatWasTrimmedBeforeADumpIsNotMissingInIt() async throws {
        let (batches, gaps, ends) = try await dump(without: [1], atFirstRow: false)
        #expect(gaps.isEmpty && batches.first == ends[0] + 1)
    }
}
