import IsletJournal
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct FullDiskTests {
    /// Free bytes that a test sets.
    private final class Disk: Sendable {
        let free = Atomic<Int>(1_000)
    }

    @Test func aFullDiskIsWaitedOutAndNothingIsLost() async throws {
        let folder = try TemporaryFolder()
        let disk = Disk()
        let options = StoreOptions.testing {
            $0.minimumFree = 500
            $0.freeBytes = { _ in disk.free.load(ordering: .relaxed) }
            // There is never room for another segment.
            $0.onWarning = { _ in }
        }
        let run = try JournalRun(folder, options)
        await run.commit(1...2)
        disk.free.store(374, ordering: .relaxed)
        _ = run.journal.append(.single(3))
        _ = run.journal.append(.single(4))
        await run.notices.wait { notices in
            notices.contains { if case .isFull(free: 374) = $0 { true } else { false } }
        }
        #expect(try folder.copiedLastBatch(options) == 2)
        disk.free.store(500, ordering: .relaxed)
        await run.notices.committed(4)
        let order: [String] = run.notices.all.compactMap { notice in
            switch notice {
            case .committed(let through, _): "committed \(through)"
            case .isFull: "full"
            case .hasRoom: "room"
            case .swept, .read, .backedUp: "else"
            // Whether the next segment could be made before the disk was full is chance.
            case .segmentIsDelayed: nil
            }
        }
        #expect(order == ["committed 1", "committed 2", "full", "room", "committed 3", "committed 4"])
        await run.journal.close()
        #expect(try folder.copiedLastBatch(options) == 4)
    }

    /// While one waits that was handed over, the snapshot waits too, and without it nothing is trimmed.
    @Test func aBatchThatWasHandedOverHasAQuarterOfTheRoomThatIsKept() async throws {
        let folder = try TemporaryFolder()
        let disk = Disk()
        let options = StoreOptions.testing {
            $0.minimumFree = 500
            $0.freeBytes = { _ in disk.free.load(ordering: .relaxed) }
            // There is never room for another segment.
            $0.onWarning = { _ in }
        }
        let run = try JournalRun(folder, options)
        await run.commit(1...1)
        disk.free.store(375, ordering: .relaxed)
        await run.commit(2...2)
        let isTold = run.notices.all.contains { if case .isFull(free: 375) = $0 { true } else { false } }
        #expect(isTold)
        await run.journal.close()
        #expect(try folder.copiedLastBatch(options) == 2)
    }

    @Test func aJournalThatIsClosedWhileTheDiskIsFullDropsWhatNobodyWasToldOf() async throws {
        let folder = try TemporaryFolder()
        let disk = Disk()
        let options = StoreOptions.testing {
            $0.minimumFree = 500
            $0.freeBytes = { _ in disk.free.load(ordering: .relaxed) }
            // There is never room for another segment.
            $0.onWarning = { _ in }
        }
        let run = try JournalRun(folder, options)
        await run.commit(1...1)
        disk.free.store(0, ordering: .relaxed)
        _ = run.journal.append(.single(2))
        await run.notices.wait { notices in notices.contains { if case .isFull = $0 { true } else { false } } }
        await run.journal.close()
        let store = try Store.open(directory: folder.data, options: options)
        #expect(store.summary.lastBatch == 1)
        #expect(!store.summary.wasClosed)
    }
}
