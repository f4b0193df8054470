import IsletClient
import Synchronization

/// What a tail has seen, for its last line.
final class TailSummary: Sendable {
    private struct Counts {
        var events = 0
        var seen = 0
        var missed: UInt64 = 0
    }

    private let counts = Mutex(Counts())

    /// Counts an event, whether it is shown or not.
    func saw() {
        counts.withLock { $0.seen += 1 }
    }

    /// Counts an event that is shown; how many there were.
    func counted() -> Int {
        counts.withLock { counts in
            counts.events += 1
            return counts.events
        }
    }

    /// What is to be said where a stream begins, or begins again.
    func synced(_ state: SyncedState) -> String? {
        let place = state.position.flatMap { $0.seq > 0 ? "seq \($0.seq)" : nil } ?? "the beginning"
        if let missed = state.missed {
            let count = (missed.upperBound - missed.lowerBound).addingClamped(1)
            counts.withLock { $0.missed = $0.missed.addingClamped(count) }
        }
        switch state.reason {
        case .joined: return "\(state.app): following from \(place)"
        case .epochChanged: return "\(state.app): the service began a new history; following from \(place)"
        case .inconsistent: return "\(state.app): following again from \(place)"
        case .eventsLost:
            let missed = state.missed.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "some"
            return "\(state.app): events \(missed) were missed, and the service does not keep them any more"
        }
    }

    /// Such as `17 of 230 events, 0 missed`.
    var fittingText: String {
        counts.withLock { "\($0.events) of \($0.seen) event\($0.seen == 1 ? "" : "s"), \($0.missed) missed" }
    }

    /// Such as `17 events, 0 missed`.
    var text: String {
        counts.withLock { "\($0.events) event\($0.events == 1 ? "" : "s"), \($0.missed) missed" }
    }
}
