import IsletClient

/// An event as one object, for filters.
enum EventRow {
    /// The members of the event, of what it says about its entity, and the parts of its topic.
    ///
    /// - Parameter key: the activity's, where it is known and the event does not carry it.
    static func row(_ event: StreamEvent, key: String?) -> RawObject {
        var row = event.patch
        for member in event.object.members where member.value.object == nil { row[member.name] = member.value }
        row["state"] = event.object["to"] ?? row["state"]
        row["key"] = row["key"] ?? key.map(RawJSON.string)
        guard !event.topic.isEmpty else { return row }
        let topic = EntityTopic(event.topic)
        row["topic"] = .string(event.topic)
        row["app"] = .string(event.app)
        row["id"] = row["id"] ?? .string(topic.id)
        if let family = topic.family {
            row["family"] = .string(family.rawValue)
            row[family == .activity ? "type" : family == .group ? "group" : "kind"] = .string(topic.type)
        }
        return row
    }
}
