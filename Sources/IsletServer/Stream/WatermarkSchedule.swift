package import IsletCore

/// When each app's watermark is due (contract, "Events"): 100 ms after a burst ended, and within a second of its first
/// change however long it goes on; every second while the app changed within the last minute; every 30 s else.
///
/// All times are real monotonic milliseconds. A change costs a store; the heap is touched at most once per
/// ``quietSpan`` and app, because an app that surfaces too early is put back where it belongs.
package struct WatermarkSchedule: Sendable {
    /// A burst has ended when nothing has changed for this long.
    package static let quietSpan: Milliseconds = 100
    /// The longest time between watermarks of an app that changes, or changed within ``recentSpan``.
    package static let recentInterval: Milliseconds = 1_000
    /// How long an app counts as one that changed lately.
    package static let recentSpan: Milliseconds = 60_000
    /// The time between watermarks of an app that did not.
    package static let idleInterval: Milliseconds = 30_000
    /// At most this many apps are due in one turn; the others are due in the next.
    package static let maximumPerTurn = 256

    private struct State {
        var lastChange: Milliseconds
        /// The watermark is due then at the latest.
        var latest: Milliseconds
        /// Whether it changed since its last watermark.
        var hasChanged: Bool
    }

    /// By app; nil for one that has never changed.
    private var states: [State?] = []
    private var heap = IndexedHeap()

    package init() {}

    /// How many apps have a watermark.
    package var count: Int { heap.count }

    /// An event of the app was published, or the app is known again after a start.
    package mutating func changed(_ app: AppID, at now: Milliseconds) {
        if Int(app) >= states.count {
            states.append(contentsOf: repeatElement(nil, count: Int(app) + 1 - states.count))
        }
        if var state = states[Int(app)] {
            state.lastChange = now
            if !state.hasChanged {
                state.hasChanged = true
                state.latest = min(state.latest, now + Self.recentInterval)
                heap.set(app, to: min(state.latest, now + Self.quietSpan))
            }
            states[Int(app)] = state
        } else {
            states[Int(app)] = State(lastChange: now, latest: now + Self.recentInterval, hasChanged: true)
            heap.set(app, to: now + Self.quietSpan)
        }
    }

    /// The apps whose watermark is to be sent now, at most ``maximumPerTurn`` of them; the next of each is scheduled.
    package mutating func due(at now: Milliseconds) -> [AppID] {
        var result: [AppID] = []
        // An app that is put back is later than `now`, so each surfaces once at most; but there are many of them.
        var surfaced = 0
        while surfaced < Self.maximumPerTurn, let (app, time) = heap.first, time <= now {
            surfaced += 1
            guard var state = states[Int(app)] else { preconditionFailure("an app in the heap without a state") }
            let due = state.hasChanged ? min(state.latest, state.lastChange + Self.quietSpan) : state.latest
            if due <= now {
                result.append(app)
                let isRecent = now - state.lastChange < Self.recentSpan
                state.hasChanged = false
                state.latest = now + (isRecent ? Self.recentInterval : Self.idleInterval)
                states[Int(app)] = state
                heap.set(app, to: state.latest)
            } else {
                heap.set(app, to: due)
            }
        }
        return result
    }

    /// When ``due(at:)`` is to be called again at the latest; nil while no app is known.
    package func nextDue() -> Milliseconds? {
        heap.first?.key
    }
}
