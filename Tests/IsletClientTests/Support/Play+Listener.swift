import IsletClient

extension Play {
    /// The reader, who believes what it is told, and notices what it may not be told.
    struct Listener {
        let scope: ReplicaScope
        let script: Script
        private(set) var entities: [String: Entity] = [:]
        /// By app: what was told last.
        private(set) var last: [String: StreamPosition] = [:]
        /// By app: since when each event must have been told.
        private(set) var known: [String: StreamPosition] = [:]
        private(set) var told: Set<StreamPosition> = []
        /// Whether it was told that something differed.
        private(set) var heardOfDifference = false
        /// By app: beginnings told while it is behind; nil while it is not.
        var pausedFor: [String: Int]?
        private var newEpochs: [String: Int] = [:]

        private var seesAll: Bool { scope.wants(topic: (scope.app ?? "") + "/") || scope.app == nil }

        init(scope: ReplicaScope, script: Script) {
            self.scope = scope
            self.script = script
        }

        /// Takes a delivery in; a problem where it should not have come.
        mutating func hear(_ delivery: Delivery) -> String? {
            switch delivery {
            case .joined, .closing: return nil
            case .synced(let state): return begin(state)
            case .event(let event, let context):
                if pausedFor != nil { return "event \(event.seq) was told to a reader who is behind" }
                told.insert(event.position)
                let before = last[event.app]
                last[event.app] = event.position
                if let before, before.epoch == event.position.epoch {
                    guard event.seq > before.seq else { return "event \(event.seq) was told after \(before.seq)" }
                    if scope.app == nil || seesAll, event.seq != before.seq + 1 {
                        return "event \(event.seq) was told after \(before.seq), and none between"
                    }
                }
                if let entity = context.entity, context.isNews {
                    entities[event.topic] = entity.state == .dismissed ? nil : entity
                }
                return nil
            }
        }

        private mutating func begin(_ state: SyncedState) -> String? {
            entities = entities.filter { !$0.key.hasPrefix(state.app + "/") }
            for entity in state.entities { entities[entity.topic] = entity }
            let before = last[state.app]
            last[state.app] = state.position
            known[state.app] = state.position
            if pausedFor != nil {
                pausedFor?[state.app, default: 0] += 1
                if pausedFor?[state.app] ?? 0 > 1 { return "a reader who is behind was told everything twice" }
            }
            switch state.reason {
            case .joined: return before == nil ? nil : "\(state.app) began twice"
            case .epochChanged:
                newEpochs[state.app, default: 0] += 1
                return newEpochs[state.app, default: 0] <= script.forgets
                    ? nil : "a new history of \(state.app) was told"
            case .eventsLost: return script.trims ? nil : "lost events were told"
            case .inconsistent:
                // A filtered one notices so what it missed on a connection that goes on.
                heardOfDifference = true
                return seesAll ? "a whole one was told to be inconsistent" : nil
            }
        }
    }
}
