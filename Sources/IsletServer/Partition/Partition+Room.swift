import IsletCore
import IsletJournal

/// How large a batch becomes while it waits for the one in the air.
///
/// Whatever came meanwhile would be the simplest rule, and batches of megabytes with it: what is written into one has left
/// the processor's caches when it is published and committed, and its buffers come and go. With 2 048 updates on their way,
/// 220,000 a second went through in batches of 512 KiB, 212,000 in batches of 1 MiB, 198,000 without a bound; a million
/// dismissals took 3.0 s instead of 3.5, and answers meanwhile 16 to 31 ms at p99 instead of 42. On a disk that is slow it
/// is the other way round: each commit must carry more.
extension Partition {
    /// A batch of as many bytes waits for its commit before it takes more, unless the journal is slow.
    private static let batchBytes = 512 << 10
    /// A commit that takes longer, in milliseconds, is slow: batches grow until they are full.
    private static let slowCommit: Milliseconds = 10
    /// Deadlines leave room for commands, which wait for the batch that they are in and for the one before.
    private static let deadlineBytes = 384 << 10
    /// The same where the journal is slow.
    private static let deadlineEvents = 4_096

    /// Whether the batch takes more.
    @inline(__always)
    var hasRoom: Bool { !batch.isFull && (batch.byteCount < Self.batchBytes || isJournalSlow) }

    /// Whether the batch takes more events of deadlines.
    var hasRoomForDeadlines: Bool {
        guard !batch.isFull, batch.events.count < Self.deadlineEvents else { return false }
        return batch.byteCount < Self.deadlineBytes || isJournalSlow
    }

    /// In how many milliseconds the batch takes more than now, if its commit does not come before; nil: nothing is kept
    /// waiting for that.
    var nextGrowth: Int? {
        guard batch.byteCount >= Self.deadlineBytes, let flown = flights.flightTime(at: now.monotonic) else { return nil }
        return flown < Self.slowCommit ? Int(Self.slowCommit - flown) : nil
    }

    /// Whether the commit in the air takes long.
    private var isJournalSlow: Bool {
        flights.flightTime(at: now.monotonic).map { $0 >= Self.slowCommit } ?? false
    }
}
