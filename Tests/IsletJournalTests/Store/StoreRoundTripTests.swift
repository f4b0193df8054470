import IsletJournal
import Testing

@Suite(.timeLimit(.minutes(10))) struct StoreRoundTripTests {
    @Test(arguments: SyncMode.allCases) func whatWasCommittedComesBackByteForByte(sync: SyncMode) async throws {
        let folder = try TemporaryFolder()
        let notices = Notices()
        let events = [
            SampleEvent(app: "com.a", seq: 1), SampleEvent(app: "com.b", seq: 5, previous: 2),
            SampleEvent(app: "com.a", seq: 2, previous: 1, padding: 9_000),
        ]
        do {
            let store = try Store.open(directory: folder.data, options: .testing(sync: sync))
            #expect(store.summary.isNew)
            #expect(store.summary.epoch == "epoch-1")
            #expect(store.summary.lastBatch == 0)
            let journal = try store.startJournal(after: 0, report: notices.report)
            #expect(journal.guarantee == sync.guarantee)
            let first = JournalBatch.sample(1, events, facts: ["one", "", "three"], answers: ["yes", "no"])
            #expect(journal.append(first) == .pending)
            #expect(journal.append(.sample(2, facts: ["alone"])) == .pending)
            await notices.committed(2)
            await journal.close()
        }
        let store = try Store.open(directory: folder.data, options: .testing(sync: sync))
        #expect(!store.summary.isNew)
        #expect(store.summary.wasClosed)
        #expect(store.summary.epoch == "epoch-1")
        #expect(store.summary.lastBatch == 2)
        #expect(store.summary.snapshotHoldsThrough == 0)
        #expect(store.summary.clock == 2_000)
        #expect(!store.summary.mayHaveLostCommits)
        #expect(
            try store.recorded() == [
                "batch 1 at 1000", "fact one", "fact ", "fact three", events[0].line, events[2].line,
                "com.a ends at 2: 3, 77", events[1].line, "com.b ends at 5: 3, 77", "batch 2 at 2000", "fact alone",
            ])
        #expect(try store.recorded(after: 1) == ["batch 2 at 2000", "fact alone"])
        #expect(try store.recorded(after: 2).isEmpty)
        #expect(try store.answers() == ["1 at 1000: yes", "1 at 1000: no"])
        #expect(try store.answers(since: 1_001).isEmpty)
    }

    @Test func theSnapshotComesBackInTheOrderOfItsSlots() async throws {
        let folder = try TemporaryFolder()
        let notices = Notices()
        do {
            let store = try Store.open(directory: folder.data, options: .testing())
            let journal = try store.startJournal(after: 0, report: notices.report)
            _ = journal.append(.single(1))
            _ = journal.append(.single(2))
            await notices.committed(2)
            var chunk = StateChunk()
            chunk.at = 5_000
            chunk.add(slot: 1 << 32 | 3)
            chunk.add(slot: 7, revision: 1)
            chunk.add(slot: 2)
            chunk.set(Array("k".utf8).span, to: Array("v".utf8).span)
            chunk.set(Array("gone".utf8).span, to: Array("v".utf8).span)
            journal.sweep(chunk)
            await notices.swept(1)
            chunk.reset()
            chunk.at = 6_000
            chunk.add(slot: 7, revision: 9, seq: 4)
            chunk.free(2)
            chunk.forget(Array("gone".utf8).span)
            chunk.set(Array("k".utf8).span, to: [UInt8]().span)
            chunk.holdsThrough = 2
            journal.sweep(chunk)
            await notices.swept(2)
        }
        let store = try await reopen(folder)
        #expect(!store.summary.wasClosed)
        #expect(store.summary.snapshotHoldsThrough == 2)
        #expect(store.summary.clock == 6_000)
        #expect(
            try store.entities() == [
                "7 r9 s4 a-7|com.a|Delivery|key-7|phone|{\"a\":1}|{} image-7",
                "4294967299 r1 s1 a-4294967299|com.a|Delivery|key-4294967299|phone|{\"a\":1}|{} image-4294967299",
            ])
        #expect(try store.facts() == ["k: "])
    }

    @Test func aKilledProcessLosesNothingThatWasReported() async throws {
        let folder = try TemporaryFolder()
        let notices = Notices()
        let store = try Store.open(directory: folder.data, options: .testing(sync: .full))
        let journal = try store.startJournal(after: 0, report: notices.report)
        for number: UInt64 in 1...20 {
            _ = journal.append(.single(number))
            await notices.committed(number)
            let left = try folder.copy()
            let found = try Store.open(directory: left.data, options: .testing(sync: .full))
            #expect(found.summary.lastBatch == number)
            #expect(!found.summary.wasClosed)
            #expect(try found.answers().count == Int(number))
        }
        await journal.close()
    }

    @Test func numbersGoOnAfterARestart() async throws {
        let folder = try TemporaryFolder()
        for round: UInt64 in 0..<5 {
            let notices = Notices()
            let store = try Store.open(directory: folder.data, options: .testing())
            #expect(store.summary.lastBatch == 3 * round)
            let journal = try store.startJournal(after: 3 * round, report: notices.report)
            for number in (3 * round + 1)...(3 * round + 3) {
                _ = journal.append(.single(number))
                await notices.committed(number)
            }
            await journal.close()
        }
        let store = try Store.open(directory: folder.data, options: .testing())
        #expect(try store.recorded().filter { $0.hasPrefix("batch") }.count == 15)
        #expect(folder.segments.count <= 2)
    }

    /// Opens a folder whose last owner went away without a goodbye, as soon as its threads have let go of the lock.
    private func reopen(_ folder: TemporaryFolder) async throws -> Store {
        var store: Store?
        let isOpen = try await eventually {
            do throws(StoreError) {
                store = try Store.open(directory: folder.data, options: .testing())
                return true
            } catch .locked {
                return false
            } catch {
                throw error
            }
        }
        try #require(isOpen)
        return try #require(store)
    }
}
