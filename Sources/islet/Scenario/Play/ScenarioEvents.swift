import IsletClient
import Synchronization

/// The events that have come while a scenario is played, and what is known by them.
package final class ScenarioEvents: Sendable {
    /// More are not kept: a scenario is a story for people, and one that needs more fails.
    package static let eventsMax = 100_000

    private let room: Int

    private struct State {
        var events: [StreamEvent] = []
        /// What never changes of entities, by their ids: only their first events carry it.
        var constants: [String: RawObject] = [:]
        /// Entities from before the scenario that were asked for, and of which nothing was told.
        var unknown: Set<String> = []
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
    func key(of id: String) -> String? { constants(of: id)?["key"]?.string }

    /// What never changes of an entity; nil where nothing has told it.
    func constants(of id: String) -> RawObject? { state.withLock { $0.constants[id] } }

    /// An entity by which one asks for it.
    struct Address {
        var family: String
        var app: String
        var id: String
    }

    /// The entities of events of which nothing has told what they are, and that have not been asked for.
    func strangers(since begun: Int) -> [Address] {
        state.withLock { state in
            var all: [Address] = []
            var seen: Set<String> = []
            for event in state.events.dropFirst(begun) {
                let family = ScenarioEntity.family(of: event.name)
                guard let id = event.id, state.constants[id] == nil, !state.unknown.contains(id),
                    ScenarioEntity.constants[family] != nil, seen.insert(id).inserted
                else { continue }
                all.append(Address(family: family, app: event.app, id: id))
            }
            return all
        }
    }

    /// Takes in what somebody has told of an entity; nil: nothing.
    func learn(_ address: Address, _ entity: RawObject?) {
        state.withLock { state in
            if let entity {
                state.constants[address.id] = ScenarioEntity.constants(of: entity, address.family)
            } else {
                state.unknown.insert(address.id)
            }
        }
    }

    /// Takes one in, as it came; watermarks are none.
    package func take(_ topic: [UInt8], _ body: [UInt8]) {
        guard let event = StreamEvent(topic: String(decoding: topic, as: UTF8.self), bytes: body) else { return }
        state.withLock { state in
            guard state.events.count < room else {
                state.isCut = true
                return
            }
            state.events.append(event)
            // A first event has the whole entity, of which this is a part.
            if let id = event.id, event.patch["app"] != nil {
                state.constants[id] = ScenarioEntity.constants(of: event.patch, ScenarioEntity.family(of: event.name))
            }
        }
    }

    /// The entity of each event as the event left it; nil where its events do not tell all of it.
    static func wholes(of events: [StreamEvent]) -> [RawObject?] {
        var entities: [String: RawObject] = [:]
        return events.map { event in
            // A key of a group is told as a whole each time.
            guard let id = event.id else { return event.patch.members.isEmpty ? nil : event.patch }
            // A first event has the whole entity, and those after it what has changed.
            guard event.patch["app"] == nil else {
                entities[id] = event.patch
                return event.patch
            }
            guard var entity = entities[id] else { return nil }
            entity.merge(event.patch)
            if let to = event.object["to"] { entity["state"] = to }
            entities[id] = entity
            return entity
        }
    }

    /// What a person calls the entity of an event.
    func name(of event: StreamEvent) -> String {
        let topic = EntityTopic(event.topic)
        if let key = event.id.flatMap(key) { return "\(topic.type)/\(key)" }
        return topic.name
    }
}
