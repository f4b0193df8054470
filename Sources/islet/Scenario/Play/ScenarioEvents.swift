import IsletClient
import Synchronization

/// The events that have come while a scenario is played, and what is known by them.
package final class ScenarioEvents: Sendable {
    /// More are not kept: a scenario is a story for people, and one that needs more fails.
    package static let eventsMax = 100_000

    private let room: Int

    private struct State {
        var events: [StreamEvent] = []
        /// The keys of activities by their ids: only their first events carry them.
        var keys: [String: String] = [:]
        var isCut = false
    }

    private let state = Mutex(State())

    /// No events yet, and room for so many.
    package init(room: Int = ScenarioEvents.eventsMax) {
        self.room = room
    }

    /// All, the oldest first.
    var all: [StreamEvent] { state.withLock { $0.events } }
    var count: Int { state.withLock { $0.events.count } }
    /// Why nothing can be said of events; nil where all that came are kept.
    package var problem: String? {
        state.withLock { state in
            guard state.isCut else { return nil }
            return "more than \(RecoveryText.grouped(room)) events came, and the later ones are not kept: "
                + "what came cannot be told any more"
        }
    }

    /// The key of an activity, where one of its events has told it.
    func key(of id: String) -> String? { state.withLock { $0.keys[id] } }

    /// Takes one in, as it came; watermarks are none.
    package func take(_ topic: [UInt8], _ body: [UInt8]) {
        guard let event = StreamEvent(topic: String(decoding: topic, as: UTF8.self), bytes: body) else { return }
        state.withLock { state in
            guard state.events.count < room else {
                state.isCut = true
                return
            }
            state.events.append(event)
            if let id = event.id, let key = event.patch["key"]?.string { state.keys[id] = key }
        }
    }

    /// What a person calls the entity of an event.
    func name(of event: StreamEvent) -> String {
        let topic = EntityTopic(event.topic)
        if let key = event.id.flatMap(key) { return "\(topic.type)/\(key)" }
        return topic.name
    }
}
