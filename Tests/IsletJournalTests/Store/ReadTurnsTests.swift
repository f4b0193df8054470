import Dispatch
import IsletJournal
import Testing

/// Reads of stored events take turns, and a journal that closes leaves them.
@Suite(.timeLimit(.minutes(10))) struct ReadTurnsTests {
    private static let patience = DispatchTimeInterval.seconds(60)

    /// A journal over some segments whose reading thread stands still once it has reported its first read.
    private struct Held {
        /// It is removed with this.
        private let folder: TemporaryFolder
        let store: Store
        let journal: SQLiteJournal
        let notices = Notices()
        /// The app's last sequence number.
        let last: UInt64
        private let gate = DispatchSemaphore(value: 0)

        init(segments: Int) async throws {
            folder = try TemporaryFolder()
            let options = StoreOptions.testing { $0.segmentBytes = 40_000 }
            let run = try JournalRun(folder, options)
            last = await run.commit(from: 1, untilSegments: segments)
            await run.journal.close()
            store = try Store.open(directory: folder.data, options: options)
            journal = try store.startJournal(after: store.summary.lastBatch) { [notices, gate] notice in
                notices.report(notice)
                guard case .read(let result) = notice, result.id == 1 else { return }
                _ = gate.wait(timeout: .now() + ReadTurnsTests.patience)
            }
            read(1, .stream(after: last))
            _ = await notices.read(1)
        }

        func read(_ id: UInt64, _ kind: JournalRead.Kind) {
            journal.read(
                JournalRead(id: id, app: Array("com.a".utf8), kind: kind, maximumRows: 1_000, maximumBytes: 1 << 30))
        }

        func letGo() { gate.signal() }

        /// The reads that were answered, in order.
        var answered: [UInt64] {
            notices.all.compactMap { if case .read(let result) = $0 { result.id } else { nil } }
        }
    }

    @Test func aReadOfManySegmentsLetsOthersGoFirst() async throws {
        let held = try await Held(segments: 6)
        held.read(2, .chain(last: held.last))
        held.read(3, .stream(after: 0))
        held.read(4, .chain(last: 1))
        held.letGo()
        let chain = await held.notices.read(2)
        let stream = await held.notices.read(3)
        let short = await held.notices.read(4)
        #expect(held.answered.prefix(2) == [1, 4], "\(held.answered)")
        // Nothing is left out or comes twice where a read goes on.
        #expect(chain?.seqs == (1...held.last).reversed())
        #expect(stream?.seqs == Array(1...held.last))
        #expect(short?.seqs == [1])
        await held.journal.close()
    }

    @Test func readsThatNobodyGetsAreNotDoneBeforeTheEnd() async throws {
        let held = try await Held(segments: 4)
        for id: UInt64 in 2...9 { held.read(id, .chain(last: held.last)) }
        held.journal.stopReading()
        held.letGo()
        await held.journal.close()
        #expect(held.answered == [1])
    }
}
