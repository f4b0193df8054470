import IsletCore
package import IsletJournal
import Synchronization

/// Makes a new folder of what a journal can give back, under a new epoch, beside the one that it was read from.
package enum JournalRebuild {
    /// What became of it.
    package struct Report: Equatable, Sendable {
        /// Listed entities that were kept.
        package var entities: Int
        /// What could not be kept, each with its place; not all where there was very much.
        package var losses: [String]
        /// How much that was.
        package var lossCount: Int
        package var epoch: String
    }

    /// Nothing was made.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// How long the loop waits for the journal's threads at a time.
    private static let wait = Duration.milliseconds(1)

    /// - Parameters:
    ///   - directory: Used by no service; it stays as it is.
    ///   - target: A folder that is empty or not there.
    /// - Throws: `StoreError` where the files themselves are damaged.
    package static func run(from directory: String, into target: String, options: StoreOptions) async throws -> Report {
        var options = options
        options.takesWhatIsThere = true
        // How long a service keeps events only the service knows that is going to run on it.
        (options.retentionBytes, options.retentionTime) = (.max, .max)
        try Store.copy(directory: directory, into: target, options: options)
        do {
            let report = try await rebuild(target, options)
            try Store.finish(directory: target)
            return report
        } catch {
            // Whoever tries again would be told that something is there already.
            Store.discard(directory: target)
            throw failure(error, directory, target)
        }
    }

    /// What is wrong with a copy is wrong with the file that it was made of, and the copies are gone.
    private static func failure(_ error: any Error, _ directory: String, _ target: String) -> any Error {
        guard let error = error as? StoreError else { return error }
        switch error {
        case .database, .system, .locked, .notADirectory, .notWritable, .readOnly, .volatile, .exists, .within,
            .noBackup, .backupNamedAsJournal, .halfMade:
            return error
        case .notADatabase, .foreign, .newerSchema, .missing, .otherStore, .damagedLog, .damaged, .damagedBackup,
            .batchesMissing, .commitsLost:
            return Failure(description: error.description.replacing(target + "/", with: directory + "/"))
        }
    }

    /// - Parameter target: A copy.
    private static func rebuild(_ target: String, _ options: StoreOptions) async throws -> Report {
        let store = try Store.open(directory: target, options: options)
        let salvage = RecoverySalvage()
        if let lost = store.summary.lostBatches {
            salvage.lose(
                lost.count == 1
                    ? "batch \(lost.lowerBound) was acknowledged and is gone"
                    : "batches \(lost.lowerBound) to \(lost.upperBound) were acknowledged and are gone")
        }
        let notices = Notices()
        // The clock of the journal: time does not pass by this.
        let clock = DomainClock(.manual(from: Instant(store.summary.clock)))
        let partition = try Partition(
            card: .offline, rules: .standard, clock: clock,
            journal: try store.startJournal(after: store.summary.lastBatch) { notices.put($0) },
            recovering: store, salvage: salvage, at: .system(), random: SystemRandomNumberGenerator())
        // It writes the whole snapshot before it ends, however long that takes, so that nothing that cannot be read is read
        // by the next start.
        partition.patienceAtStop = nil
        partition.stop()
        while !partition.isDone {
            _ = partition.beginTurn(.system())
            for notice in notices.takeAll() { partition.take(notice) }
            _ = partition.endTurn()
            while let flight = partition.nextReleased() { partition.sent(flight) }
            try await Task.sleep(for: wait)
        }
        let entities = partition.recovery.activities
        await partition.journal.close()
        if let problem = try JournalTrial.problems(of: target).first {
            throw Failure(description: "what was made cannot be started from either: \(problem)")
        }
        return Report(
            entities: entities, losses: salvage.losses, lossCount: salvage.count, epoch: store.summary.epoch)
    }

    /// The journal's notices on their way to the loop.
    private final class Notices: Sendable {
        private let notices = Mutex<[JournalNotice]>([])

        func put(_ notice: JournalNotice) { notices.withLock { $0.append(notice) } }

        func takeAll() -> [JournalNotice] {
            notices.withLock { notices in
                defer { notices = [] }
                return notices
            }
        }
    }
}
