import Foundation
import IsletJournal
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    private final class Failure: Sendable {
        let reasons = Mutex<[String]>([])
    }

    @Test func aFailedCommitEndsEverythingAndIsNeverTriedAgain() async throws {
        let folder = try TemporaryFolder()
        let failure = Failure()
        let options = StoreOptions.testing {
            $0.onFailure = { reason in failure.reasons.withLock { $0.append(reason) } }
        }
        let run = try JournalRun(folder, options)
        await run.commit(1...1)
        // Somebody else's hands: the table is gone.
        _ = try TemporaryFolder.sqlite3Writing(folder.data + "/journal-000001.db", "DROP TABLE batch")
        _ = run.journal.append(.single(2))
        _ = run.journal.append(.single(3))
        await run.journal.close()
        let reasons = failure.reasons.withLock { $0 }
        #expect(reasons.count == 1)
        #expect(reasons.first?.contains("batch 2") == true)
        #expect(!run.notices.all.contains { if case .committed(through: 2..., _) = $0 { true } else { false } })
    }

    @Test func theMarkSaysNothingOfACommitThatFailed() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, .testing { $0.onFailure = { _ in } })
        await run.commit(1...1)
        let sound = try folder.copy()
        _ = try TemporaryFolder.sqlite3Writing(folder.data + "/journal-000001.db", "DROP TABLE batch")
        _ = run.journal.append(.single(2))
        await run.journal.close()
        // A mark that is ahead would say that a batch was acknowledged and is lost.
        try sound.write(folder.read("mark"), to: "mark")
        #expect(try Store.open(directory: sound.data, options: .testing()).summary.lastBatch == 1)
    }

    @Test func theDefaultIsToLeaveWithItsOwnExitCode() async {
        #expect(JournalExit.commitFailed == 74)
        await #expect(processExitsWith: .exitCode(74)) {
            JournalExit.leave("the commit failed")
        }
    }

    // The folders are the parent's, because a process that traps cleans nothing up.

    @Test func tooManyBatchesInFlightTrap() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let options = StoreOptions.testing {
                $0.minimumFree = 1
                $0.freeBytes = { _ in 0 }
                $0.onWarning = { _ in }
            }
            let run = try JournalRun(TemporaryFolder(existing: path), options)
            for number: UInt64 in 1...2 { _ = run.journal.append(.single(number)) }
            _ = run.journal.append(.single(3))
        }
    }

    @Test func aBatchOutOfOrderTraps() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let run = try JournalRun(TemporaryFolder(existing: path))
            _ = run.journal.append(.single(2))
        }
    }
}
