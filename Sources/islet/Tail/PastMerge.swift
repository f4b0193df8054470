package import IsletClient

/// Puts what several apps have had until now into one order, that of its dates. Each app's past comes by a replay of
/// its own; from there on events are in the order in which they come.
package struct PastMerge {
    /// The apps whose past has not come to its end, with its last event.
    private var heads: [String: UInt64]
    /// What waits, by app, each in its own order.
    private var waiting: [String: ArraySlice<StreamEvent>] = [:]
    private var count = 0
    private let countMax: Int

    /// - Parameters:
    ///   - heads: the last event of each app's past.
    ///   - countMax: where more than so many wait for one app, they wait no longer.
    package init(_ heads: [String: UInt64] = [:], countMax: Int = 65_536) {
        // One alone is in order.
        self.heads = heads.count > 1 ? heads : [:]
        self.countMax = countMax
    }

    /// Takes an event in; those that may be shown now, in order.
    package mutating func take(_ event: StreamEvent) -> [StreamEvent] {
        guard !heads.isEmpty else { return [event] }
        waiting[event.app, default: []].append(event)
        count += 1
        if let head = heads[event.app], event.seq >= head { heads[event.app] = nil }
        if count > countMax { heads = [:] }
        return ready()
    }

    /// An app's past has been cut: no more of it comes, or not what was expected.
    package mutating func giveUp(_ app: String) -> [StreamEvent] {
        guard heads.removeValue(forKey: app) != nil else { return [] }
        return ready()
    }

    /// What comes before anything that may still come.
    private mutating func ready() -> [StreamEvent] {
        var events: [StreamEvent] = []
        while heads.keys.allSatisfy({ waiting[$0]?.isEmpty == false }) {
            let first = waiting.compactMap { app, queue in queue.first.map { (app: app, event: $0) } }
                .min { ($0.event.at, $0.app) < ($1.event.at, $1.app) }
            guard let first else { break }
            waiting[first.app]?.removeFirst()
            count -= 1
            events.append(first.event)
        }
        return events
    }
}
