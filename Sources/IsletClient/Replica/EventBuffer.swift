/// Events that wait until a snapshot or a replay has ended, in the order of their arrival.
///
/// It is bounded. Beyond that it forgets everything: the gap shows when reading goes on, or is told where numbers show
/// none, and is repaired like any other.
package struct EventBuffer: Sendable {
    /// How many events may wait for one stream.
    package static let maximumCount = 65_536
    /// How many bytes of them.
    package static let maximumBytes = 64 << 20

    private var events: [StreamEvent] = []
    private var start = 0
    private var bytes = 0

    package var isEmpty: Bool { start == events.count }
    package var count: Int { events.count - start }
    package var first: StreamEvent? { isEmpty ? nil : events[start] }

    /// Whether all that waited before still does.
    @discardableResult
    package mutating func append(_ event: StreamEvent) -> Bool {
        let isFull = count >= Self.maximumCount || bytes + event.bytes.count > Self.maximumBytes
        if isFull { removeAll() }
        events.append(event)
        bytes += event.bytes.count
        return !isFull
    }

    package mutating func removeFirst() {
        bytes -= events[start].bytes.count
        start += 1
        // Given back in large pieces, so that each event is moved at most once on average.
        if start >= 1_024, start * 2 >= events.count {
            events.removeFirst(start)
            start = 0
        }
        if isEmpty { removeAll() }
    }

    package mutating func removeAll() {
        events.removeAll()
        start = 0
        bytes = 0
    }

    /// Takes out what is not of this epoch.
    package mutating func keep(epoch: String?) {
        let kept = events[start...].filter { $0.position.epoch == epoch }
        guard kept.count < count else { return }
        events = kept
        start = 0
        bytes = kept.reduce(0) { $0 + $1.bytes.count }
    }

    /// Takes out what is at or below `seq` at the front.
    package mutating func drop(through seq: UInt64) {
        while let event = first, event.seq <= seq { removeFirst() }
    }
}
