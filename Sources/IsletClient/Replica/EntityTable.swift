/// The listed entities of one stream by topic, with their digest kept as they change.
package struct EntityTable: Sendable {
    package private(set) var byTopic: [String: Entity] = [:]
    /// The contract's digest over all of them.
    package private(set) var digest: UInt64 = 0

    package init() {}

    /// How many.
    package var count: Int { byTopic.count }

    package subscript(topic: String) -> Entity? {
        get { byTopic[topic] }
        set {
            if let old = byTopic.updateOrRemove(topic, newValue) { digest ^= old.digest }
            if let newValue { digest ^= newValue.digest }
        }
    }

    /// Whether it holds exactly what the service says it has.
    package func agrees(entities: Int?, digest wanted: UInt64?) -> Bool {
        if let entities, entities != count { return false }
        if let wanted, wanted != digest { return false }
        return true
    }
}

extension Dictionary {
    fileprivate mutating func updateOrRemove(_ key: Key, _ value: Value?) -> Value? {
        if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
    }
}
