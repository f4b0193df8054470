/// How a control or a widget stood after each of its events, and since when it was in its state then.
struct WitnessedVersions {
    private(set) var entities: [[String: JSON]] = []
    /// When each state began: by the event that brought it, less how late that was.
    private var stateAts: [Int64] = []

    mutating func append(_ entity: [String: JSON], after event: JSON) {
        let isSame = event["from"] == event["to"] && !stateAts.isEmpty
        let at = (event["at"]?.integer ?? 0) - (event["lateBy"]?.integer ?? 0)
        stateAts.append(isSame ? stateAts[stateAts.count - 1] : at)
        entities.append(entity)
    }

    mutating func append(_ others: WitnessedVersions) {
        entities += others.entities
        stateAts += others.stateAts
    }

    /// Whether one of them stands at a place.
    ///
    /// - Parameters:
    ///   - entity: as an answer shows it.
    ///   - isRead: whether it has the date of its state, which only answers to reads show.
    func has(_ entity: [String: JSON], at index: Int, isRead: Bool) -> Bool {
        guard entities.indices.contains(index) else { return false }
        let stateAt = entity["stateAt"]?.integer
        guard isRead == (stateAt != nil), !isRead || stateAts[index] == stateAt else { return false }
        return entities[index] == entity.asFollowed
    }

    /// Whether any of them stands there.
    func contains(_ entity: [String: JSON], isRead: Bool) -> Bool {
        entities.indices.contains { has(entity, at: $0, isRead: isRead) }
    }
}

extension [String: JSON] {
    /// Without what only answers to reads show.
    package var asFollowed: [String: JSON] {
        var followed = self
        followed["stateAt"] = nil
        return followed
    }
}
