import Synchronization

/// The streams of events that are open.
package final class EventStreams: Sendable {
    /// More are refused: each costs time for every event.
    package static let maximum = 64

    private struct State {
        var open: [ObjectIdentifier: EventQueue] = [:]
        var hasStopped = false
    }

    /// Shared by all.
    let text = EventText()

    private let bytes = EventBytes()
    private let state = Mutex(State())

    package init() {}

    /// The queue of a new stream; nil where there are too many, and at the stop.
    package func open() -> EventQueue? {
        state.withLock { state in
            guard !state.hasStopped, state.open.count < Self.maximum else { return nil }
            let queue = EventQueue(bytes)
            state.open[ObjectIdentifier(queue)] = queue
            return queue
        }
    }

    /// The stream is over.
    package func close(_ queue: EventQueue) {
        queue.end()
        state.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(queue)) }
    }

    /// Ends all, for good.
    package func stop() {
        let open = state.withLock { state in
            state.hasStopped = true
            return Array(state.open.values)
        }
        for queue in open { queue.end() }
    }
}
