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
        /// How far each app's stream has come.
        var positions: [String: StreamPosition] = [:]
        /// Whether a join has named all streams, so that one that is not known begins now.
        var namesAll = false
        /// Before which events others are missing, in order.
        var gaps: [Int] = []

        /// Events are missing here.
        mutating func miss() {
            if gaps.last != events.count { gaps.append(events.count) }
        }

        /// Looks whether an event is the next one of its stream: they are numbered without a gap.
        mutating func follow(_ event: StreamEvent) {
            let known = positions.updateValue(event.position, forKey: event.app)
            guard let known else {
                if namesAll, event.seq > 1 { miss() }
                return
            }
            if known.epoch != event.position.epoch || event.seq > known.seq + 1 { miss() }
        }
    }

    private let state = Mutex(State())

    /// No events yet, and room for so many.
    package init(room: Int = ScenarioEvents.eventsMax) {
        self.room = room
    }

    /// All, the oldest first.
    var all: [StreamEvent] { state.withLock { $0.events } }
    var count: Int { state.withLock { $0.events.count } }
    /// Why nothing can be said of the events from one on; nil where all that came are here.
    package func problem(since begun: Int = 0) -> String? {
        state.withLock { state in
            if state.isCut {
                return "more than \(RecoveryText.grouped(room)) events came, and the later ones are not kept: "
                    + "what came cannot be told any more"
            }
            guard let gap = state.gaps.last, gap >= begun else { return nil }
            return "events are missing: they came faster than they were read, their connection was lost, or the service "
                + "began anew; what came cannot be told"
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

    /// Takes in where the streams stand, as a join was told: what came until then is here, or is missing.
    package func stand(_ answer: [UInt8]) {
        // Of more apps than a join names nothing is told.
        guard case .success(let join)? = JoinAnswer.read(answer) else { return }
        state.withLock { state in
            if state.namesAll {
                let isBehind = join.positions.contains { app, now in
                    let known = state.positions[app]
                    return now.seq > known?.seq ?? 0 || known.map { $0.epoch != now.epoch } ?? false
                }
                // One that is not named any more had another history.
                if isBehind || state.positions.contains(where: { $1.seq > 0 && join.positions[$0] == nil }) {
                    state.miss()
                }
            }
            state.positions = join.positions
            state.namesAll = true
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
            state.follow(event)
            state.events.append(event)
            // A first event has the whole entity, of which this is a part.
            if let id = event.id, event.patch["app"] != nil {
                state.constants[id] = ScenarioEntity.constants(of: event.patch, ScenarioEntity.family(of: event.name))
            }
        }
    }

    /// The entity of each event as the event left it; nil where its events do not tell all of it.
    func wholes(of events: [StreamEvent]) -> [RawObject?] {
        let gaps = Set(state.withLock(\.gaps))
        var entities: [String: RawObject] = [:]
        return events.enumerated().map { index, event in
            // What is missing may have changed any of them.
            if gaps.contains(index) { entities = [:] }
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
