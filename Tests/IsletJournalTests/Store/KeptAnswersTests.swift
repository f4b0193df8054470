import Foundation
import IsletJournal
import Testing

/// Answers that outlive their segments, and go when nobody can ask for them any more.
@Suite(.timeLimit(.minutes(10))) struct KeptAnswersTests {
    private let options = StoreOptions.testing {
        $0.segmentBytes = 1 << 20
        $0.retentionBytes = 0
    }

    private func size(_ name: String, in folder: TemporaryFolder) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: folder.data + "/" + name)[.size] as? Int)
    }

    /// Where answers have filled the disk there is no room for as many bytes again, which a single transaction would take.
    @Test func manyGoInALittleRoom() async throws {
        let run = try JournalRun(TemporaryFolder(), options)
        let answer = String(repeating: "a", count: 100_000)
        var last: UInt64 = 0
        while run.store.segmentCount < 14 {
            last += 1
            await run.commit(.sample(last, [SampleEvent(app: "com.a", seq: last)], answers: [answer]))
        }
        // Their segments go, and they move into the state's file.
        await run.hold(through: last, sweep: 1)
        #expect(run.store.segmentCount == 1)
        let kept = try size("state.db", in: run.folder) + size("state.db-wal", in: run.folder)
        #expect(kept > 12 << 20)
        last += 1
        await run.commit(.single(last))
        await run.hold(through: last, sweep: 2, answersFrom: last)
        #expect(try size("state.db-wal", in: run.folder) <= 4 << 20)
        let count = try TemporaryFolder.sqlite3(run.folder.data + "/state.db", "SELECT count(*) FROM answer")
        #expect(count == "0\n")
        // The disk has their room again, once the log has moved into the file.
        await run.journal.close()
        _ = try TemporaryFolder.sqlite3Writing(run.folder.data + "/state.db", "PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try size("state.db", in: run.folder) < 4 << 20)
        let again = try JournalRun(run.folder, options)
        #expect(try again.store.answers().last == "\(last) at \(1_000 * last): answer \(last)")
        await again.journal.close()
    }
}
