import IsletJournal
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct SegmentTests {
    private let small = StoreOptions.testing { $0.segmentBytes = 40_000 }

    @Test func aFullSegmentIsFollowedByAnotherAndNothingIsLostBetweenThem() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, small)
        let last = await run.commit(from: 1, untilSegments: 5)
        await run.journal.close()
        let store = try Store.open(directory: folder.data, options: small)
        #expect(store.summary.lastBatch == last)
        #expect(try store.answers() == (1...last).map { "\($0) at \($0)000: answer \($0)" })
        #expect(try store.recorded().filter { $0.hasPrefix("batch") } == (1...last).map { "batch \($0) at \($0)000" })
    }

    @Test func aFullSegmentIsNotWrittenAgain() async throws {
        // Whether the second one is ready in time to take over is up to the threads.
        for _ in 1...50 {
            let folder = try TemporaryFolder()
            let run = try JournalRun(folder, small)
            await run.commit(.single(1), .single(2, padding: 60_000))
            await run.journal.close()
            guard run.store.firstBatches == [1, 3] else { continue }
            // The second segment has nothing yet, and the state's file has written down what the first one has.
            let second = try JournalRun(folder, small)
            await second.commit(3...4)
            #expect(second.store.firstBatches == [1, 3])
            #expect(try folder.copiedLastBatch(small) == 4)
            return await second.journal.close()
        }
        Issue.record("the second segment never took over")
    }

    @Test func theNextSegmentIsMadeAheadWithItsSchema() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, small)
        await run.commit(1...1)
        await run.journal.close()
        #expect(
            folder.segments == ["journal-000001.db"] || folder.segments == ["journal-000001.db", "journal-000002.db"])
        for name in folder.segments {
            #expect(
                try TemporaryFolder.sqlite3(folder.data + "/" + name, "PRAGMA application_id; PRAGMA user_version")
                    == "1232301172\n1\n")
        }
    }

    @Test func aSegmentStaysUntilTheSnapshotHoldsItWhateverTheBytes() async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 0
        }
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 4)
        #expect(folder.segments.first == "journal-000001.db")
        let secondBegins = try #require(run.store.firstBatches.dropFirst().first)
        await run.hold(through: secondBegins - 1, sweep: 1)
        #expect(run.store.firstBatches.first == secondBegins)
        await run.hold(through: secondBegins, sweep: 2)
        #expect(run.store.firstBatches.first == secondBegins, "the snapshot holds its first batch, and not all of it")
        await run.hold(through: last, sweep: 3)
        #expect(run.store.segmentCount == 1)
        await run.journal.close()
        #expect(!folder.segments.contains("journal-000003.db"))

        let store = try Store.open(directory: folder.data, options: options)
        #expect(store.summary.lastBatch == last)
        #expect(store.summary.snapshotHoldsThrough == last)
        #expect(try store.recorded(after: last).isEmpty)
    }

    /// A segment that grows alone has more than all may have, as the next one cannot be made in time.
    @Test func aSegmentThatGrewStaysUntilThoseBehindItHaveAsMuchAsIsKept() async throws {
        let folder = try TemporaryFolder()
        let free = Atomic(0)
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 160_000
            $0.freeBytes = { _ in free.load(ordering: .relaxed) }
            $0.onWarning = { _ in }
        }
        let run = try JournalRun(folder, options)
        var last: UInt64 = 100
        await run.commit(1...last, padding: 4_000)
        #expect(run.store.segmentCount == 1)
        free.store(.max, ordering: .relaxed)
        last = await run.commit(from: last + 1, untilSegments: 2)
        await run.hold(through: last, sweep: 1)
        #expect(run.store.firstBatches.first == 1)
        #expect(await run.read("com.a", .stream(after: last - 3), id: 1)?.seqs == [last - 2, last - 1, last])
        // The next one is full, and has far less.
        last = await run.commit(from: last + 1, untilSegments: 3)
        await run.hold(through: last, sweep: 2)
        #expect(run.store.firstBatches.first == 1)
        // What comes after it makes it go like any other.
        last = await run.commit(from: last + 1, untilSegments: 8)
        await run.hold(through: last, sweep: 3)
        #expect(try #require(run.store.firstBatches.first) > 100)
        #expect(run.store.segmentCount > 1)
        await run.journal.close()
    }

    @Test func theNewestFullSegmentGoesWhereItsRoomIsNeeded() async throws {
        let folder = try TemporaryFolder()
        let free = Atomic(Int.max)
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 30_000
            $0.minimumFree = 1 << 20
            $0.freeBytes = { _ in free.load(ordering: .relaxed) }
            $0.onWarning = { _ in }
        }
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 2)
        free.store(0, ordering: .relaxed)
        await run.notices.wait { $0.contains { if case .isFull = $0 { true } else { false } } }
        // There is enough for the snapshot.
        free.store(3 << 18, ordering: .relaxed)
        await run.hold(through: last, sweep: 1)
        #expect(run.store.segmentCount == 1)
        await run.journal.close()
    }

    @Test func youngEventsStayWhileThereAreBytes() async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionTime = 3_000
        }
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 8)
        #expect(run.store.firstBatches.first == 1)
        await run.hold(through: last, sweep: 1)
        // A batch is a second: every segment that ended more than 3 s ago went, and no other.
        let firsts = run.store.firstBatches
        let kept = try #require(firsts.first)
        let next = firsts.count > 1 ? firsts[1] : last + 1
        #expect(kept > 1)
        #expect(kept - 1 < last - 3)
        #expect(next - 1 >= last - 3)
        await run.journal.close()
    }

    @Test func eventsGoWhenTheirTimeIsOverAlthoughNothingHappensAndTheDiskIsFull() async throws {
        let folder = try TemporaryFolder()
        let free = Atomic(Int.max)
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionTime = 3_600_000
            $0.minimumFree = 1 << 20
            $0.freeBytes = { _ in free.load(ordering: .relaxed) }
            // There is no room for the next segment either.
            $0.onWarning = { _ in }
        }
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 4)
        await run.hold(through: last, sweep: 1)
        #expect(run.store.segmentCount == 4)
        free.store(0, ordering: .relaxed)
        // A millisecond more than is kept: the last batch may stand in the segment that it filled.
        run.journal.timePassed(to: 1_000 * Int64(last) + 3_600_001)
        let isTrimmed = try await eventually { run.store.segmentCount == 1 }
        #expect(isTrimmed)
        await run.journal.close()
        #expect(folder.segments.first != "journal-000001.db")
    }

    @Test(arguments: [1, 4, 7] as [UInt64])
    func answersThatRetriesMayAskForOutliveTheirSegment(from: UInt64) async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 0
        }
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 8)
        await run.hold(through: last, sweep: 1, answersFrom: from)
        #expect(run.store.segmentCount == 1)
        await run.commit(last + 1...last + 2)
        await run.journal.close()
        #expect(try Store.verify(directory: folder.data).findings == [])

        let again = try JournalRun(folder, options)
        let batches = try again.store.answers().compactMap { UInt64($0.prefix { $0 != " " }) }
        #expect(batches == Array(from...last + 2))
        #expect(try again.store.answers(since: 1_000 * Int64(last)).count == 3)
        // A later round forgets them.
        await again.hold(through: last + 2, sweep: 1, answersFrom: last + 2)
        await again.journal.close()
        let left = try Store.open(directory: folder.data, options: options).answers()
        #expect(!left.isEmpty && !left.contains { $0.hasPrefix("\(last - 1) ") })
    }

    @Test func anotherSyncModeBeginsAnotherSegment() async throws {
        let folder = try TemporaryFolder()
        let first = try JournalRun(folder, .testing(sync: .normal))
        await first.commit(1...3)
        await first.journal.close()
        let second = try JournalRun(folder, .testing(sync: .full))
        await second.commit(4...5)
        await second.journal.close()
        let store = try Store.open(directory: folder.data, options: .testing(sync: .full))
        #expect(store.firstBatches == [1, 4])
        #expect(store.summary.epoch == "epoch-1")
        #expect(try store.answers().count == 5)
    }

    @Test func whatLayBesideATrimmedSegmentIsCleanedUp() async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing {
            $0.segmentBytes = 40_000
            $0.retentionBytes = 0
        }
        let run = try JournalRun(folder, options)
        let last = await run.commit(from: 1, untilSegments: 4)
        // As a process leaves it that is killed between the removal of a file and that of its log.
        let log = try folder.read("journal-000001.db-wal")
        await run.hold(through: last, sweep: 1)
        await run.journal.close()
        #expect(!folder.files.contains { $0.hasPrefix("journal-000001") })
        for name in ["journal-000001.db-wal", "journal-000001.db-shm", "journal-000099.db-wal"] {
            try folder.write(log, to: name)
        }
        #expect(try Store.verify(directory: folder.data).findings == [])
        let store = try Store.open(directory: folder.data, options: options)
        #expect(store.summary.lastBatch == last)
        #expect(!folder.files.contains { $0.hasPrefix("journal-000001") || $0.hasPrefix("journal-000099") })
    }

    @Test func aFileThatWasBeingMadeIsCleanedUp() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder)
        await run.commit(1...1)
        await run.journal.close()
        try folder.write([1, 2, 3], to: "journal-000003.db.unfinished")
        try folder.write([1, 2, 3], to: "journal-000003.db.unfinished-journal")
        _ = try Store.open(directory: folder.data, options: .testing())
        #expect(!folder.files.contains { $0.contains("unfinished") })
    }
}
