import IsletJournal
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventReadTests {
    private let small = StoreOptions.testing { $0.segmentBytes = 40_000 }

    @Test func aStreamIsReadAcrossSegmentsUpToItsLimits() async throws {
        let run = try JournalRun(TemporaryFolder(), small)
        let last = await run.commit(from: 1, untilSegments: 4)
        #expect(
            await run.read("com.a", .stream(after: 0), rows: 10_000, bytes: 1 << 30, id: 1)?.seqs == Array(1...last))
        #expect(await run.read("com.a", .stream(after: last - 2), id: 2)?.seqs == [last - 1, last])
        #expect(await run.read("com.a", .stream(after: last), id: 3)?.seqs == [])
        #expect(await run.read("com.a", .stream(after: last + 5), id: 4)?.seqs == [])
        #expect(await run.read("com.a", .stream(after: 3), rows: 2, id: 5)?.seqs == [4, 5])
        #expect(await run.read("com.a", .stream(after: 3), bytes: 9_000, id: 6)?.seqs == [4, 5])
        #expect(await run.read("com.a", .stream(after: 3), bytes: 1, id: 7)?.seqs == [4])
        #expect(await run.read("com.other", .stream(after: 0), id: 8)?.seqs == [])
        await run.journal.close()
    }

    @Test func eventsComeBackByteForByteAndEachAppHasItsOwn() async throws {
        let run = try JournalRun(TemporaryFolder(), small)
        let events = [
            SampleEvent(app: "com.a", seq: 1), SampleEvent(app: "com.b", seq: 1),
            SampleEvent(app: "com.a", seq: 2, previous: 1),
            SampleEvent(app: "com.a", seq: 3, previous: 2, padding: 5_000),
        ]
        await run.commit(.sample(1, events))
        let expected = [events[0], events[2], events[3]].map { event in
            StoredEvent(
                seq: event.seq, previous: event.previous, topic: Array(event.topic.utf8), json: Array(event.json.utf8),
                image: Array(event.image.utf8))
        }
        #expect(await run.read("com.a", .stream(after: 0), id: 1) == .events(expected))
        #expect(await run.read("com.a", .chain(last: 3), id: 2) == .events(expected.reversed()))
        #expect(await run.read("com.b", .stream(after: 0), id: 3)?.seqs == [1])
        await run.journal.close()
    }

    @Test func aChainGoesFromEventToEventOverSegments() async throws {
        let run = try JournalRun(TemporaryFolder(), small)
        var number: UInt64 = 0
        while run.store.segmentCount < 4 {
            number += 1
            let (odd, even) = (2 * number - 1, 2 * number)
            await run.commit(
                .sample(
                    number,
                    [
                        SampleEvent(app: "com.a", seq: odd, previous: odd < 3 ? 0 : odd - 2, padding: 4_000),
                        SampleEvent(app: "com.a", seq: even, previous: even < 3 ? 0 : even - 2),
                    ]))
        }
        let all = await run.read("com.a", .chain(last: 2 * number), rows: 1_000, bytes: 1 << 30, id: 1)
        #expect(all?.seqs == (1...number).reversed().map { 2 * $0 })
        #expect(await run.read("com.a", .chain(last: 7), rows: 3, id: 2)?.seqs == [7, 5, 3])
        #expect(await run.read("com.a", .chain(last: 2 * number + 9), id: 3)?.seqs == [])
        await run.journal.close()
    }

    @Test func whatIsTrimmedIsTooOldAlsoAfterARestart() async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 0
        }
        do {
            let run = try JournalRun(folder, options)
            await run.commit(.sample(1, [SampleEvent(app: "com.gone", seq: 1)]))
            await run.commit(.sample(2, [SampleEvent(app: "com.gone", seq: 2)]))
            var number: UInt64 = 2
            while run.store.segmentCount < 3 {
                number += 1
                await run.commit(.sample(number, [SampleEvent(app: "com.a", seq: number - 2, padding: 4_000)]))
            }
            await run.hold(through: number, sweep: 1)
            try await check(run, last: number - 2)
            await run.journal.close()
        }
        let run = try JournalRun(folder, options)
        try await check(run, last: run.store.summary.lastBatch - 2)
        await run.journal.close()
    }

    private func check(_ run: JournalRun, last: UInt64) async throws {
        // The last segment has the last event, or nothing yet.
        let oldest = try #require(run.store.firstBatches.first) - 2
        #expect(await run.read("com.a", .stream(after: 0), id: 1) == .tooOld(oldest: oldest))
        #expect(await run.read("com.a", .chain(last: 1), id: 2) == .tooOld(oldest: oldest))
        #expect(await run.read("com.a", .stream(after: oldest - 1), id: 3)?.seqs == Array((oldest..<(last + 1))))
        #expect(await run.read("com.gone", .stream(after: 0), id: 4) == .tooOld(oldest: 3))
        #expect(await run.read("com.gone", .stream(after: 1), id: 5) == .tooOld(oldest: 3))
        #expect(await run.read("com.gone", .stream(after: 2), id: 6)?.seqs == [])
    }
}
