import IsletClient
import Synchronization

/// What a recording has, as it grows.
final class RecordCounts: Sendable {
    private struct Counts {
        var apps = 0
        var entities = 0
        var events = 0
        var missed: UInt64 = 0
        var isSnapshotWhole = false
        var isStopped = false
    }

    private let counts = Mutex(Counts())

    /// The snapshot of an app is written.
    func wrote(entities: Int) {
        counts.withLock { counts in
            counts.apps += 1
            counts.entities += entities
        }
    }

    /// The end of the snapshot is written.
    func wroteSnapshot() {
        counts.withLock { $0.isSnapshotWhole = true }
    }

    /// An event is written; how many there are.
    func wroteEvent() -> Int {
        counts.withLock { counts in
            counts.events += 1
            return counts.events
        }
    }

    /// The person has stopped it.
    func stop() {
        counts.withLock { $0.isStopped = true }
    }

    /// The service has not kept these, and they were not seen.
    func missed(_ numbers: ClosedRange<UInt64>?) {
        let count = numbers.map { ($0.upperBound - $0.lowerBound).addingClamped(1) } ?? 1
        counts.withLock { $0.missed = $0.missed.addingClamped(count) }
    }

    /// Whether whoever plays it gets all that there was.
    var isWhole: Bool { counts.withLock { $0.isSnapshotWhole && $0.missed == 0 } }
    /// Whether the person has stopped it, so that what fails then is no failure.
    var isStopped: Bool { counts.withLock(\.isStopped) }
    /// Whether what follows are events.
    var isSnapshotWhole: Bool { counts.withLock(\.isSnapshotWhole) }
    /// Whether it is longer than what a replay takes.
    var isTooLong: Bool { counts.withLock { $0.entities + $0.events > Recording.eventsMax } }

    /// Such as `12 entities of 2 apps`.
    var snapshot: String {
        counts.withLock { counts in
            "\(Self.entities(counts.entities)) of " + ReplayCounts.counted(counts.apps, "app")
        }
    }

    /// Such as `12 entities`.
    static func entities(_ count: Int) -> String {
        count == 1 ? "1 entity" : "\(RecoveryText.grouped(count)) entities"
    }

    /// Such as `12 entities of 2 apps and 57 events, 0 missed`.
    var text: String {
        let events = counts.withLock { counts in
            "\(ReplayCounts.counted(counts.events, "event")), "
                + "\(RecoveryText.grouped(Int(clamping: counts.missed))) missed"
        }
        return isSnapshotWhole ? "\(snapshot) and \(events)" : "\(snapshot), and no more of its snapshot"
    }
}
