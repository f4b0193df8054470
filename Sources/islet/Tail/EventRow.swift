import IsletClient
import IsletFilter

/// An event as one object, for filters.
struct EventRow {
    /// The members of the event, of what it says about its entity and what never changes of that, and the parts of its
    /// topic.
    let object: RawObject
    /// What the event does not say, and nobody else.
    private let unknown: Set<String>

    /// - Parameter lasting: what is known of its entity.
    init(_ event: StreamEvent, _ lasting: LastingMembers) {
        var row = event.patch
        for member in event.object.members where row[member.name] == nil || member.value.object == nil {
            if member.name != event.family?.rawValue { row[member.name] = member.value }
        }
        row["state"] = event.object["to"] ?? row["state"]
        for member in lasting.known?.members ?? [] where row[member.name] == nil { row[member.name] = member.value }
        if event.family == .widget { Self.tellMarks(in: &row, ofStart: event.object["from"] == nil) }
        unknown = lasting.unknown.filter { row[$0] == nil }
        if !event.topic.isEmpty { Self.tellTopic(of: event, in: &row) }
        object = row
    }

    private static func tellTopic(of event: StreamEvent, in row: inout RawObject) {
        let topic = EntityTopic(event.topic)
        row["topic"] = .string(event.topic)
        row["app"] = .string(event.app)
        row["id"] = row["id"] ?? .string(topic.id)
        if let family = topic.family {
            row["family"] = .string(family.rawValue)
            row[family == .activity ? "type" : family == .group ? "group" : "kind"] = .string(topic.type)
        }
    }

    /// Whether a filter selects it, in which spans count from the event.
    func fits(_ filter: Filter, at now: Int64) -> Bool { filter.matches(object, now: now, unknown: unknown) }

    /// Of flags that stand only where they are true an event says null where they are so no more, and the first one
    /// nothing.
    private static func tellMarks(in row: inout RawObject, ofStart isStart: Bool) {
        for name in FilterSubject.widget.marks {
            if let value = row[name] {
                if value.isNull { row[name] = .bool(false) }
            } else if isStart {
                row[name] = .bool(false)
            }
        }
    }
}

extension StreamEvent {
    /// Whose event it is, by its name; nil for one that this command does not know.
    var family: EntityTopic.Family? { EntityTopic.Family(rawValue: String(name.prefix { $0 != "." })) }
}
