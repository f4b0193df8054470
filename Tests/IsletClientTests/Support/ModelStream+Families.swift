import IsletClient

/// Widgets and groups in the model of a stream.
extension ModelStream {
    /// A widget's event.
    @discardableResult
    mutating func widget(
        _ name: String, _ id: String, from: String? = "shown", to: String = "shown", _ patch: RawObject = [:],
        besides: RawObject = [:]
    ) -> StreamEvent {
        var object = head("widget.\(name)")
        if let from { object["from"] = .string(from) }
        object["to"] = .string(to)
        for member in besides.members { object[member.name] = member.value }
        var members: RawObject = ["id": .string(id), "state": .string(to)]
        for member in patch.members { members[member.name] = member.value }
        return change("widget", "\(app)/widget/weather/\(id)", object, members)
    }

    /// A key of a group is set; such an event has the whole key, and no states before and after.
    @discardableResult
    mutating func setGroup(_ group: String, key: String, value: Int) -> StreamEvent {
        change(
            "group", "\(app)/group/\(group)/\(key)", head("group.set"),
            [
                "group": .string(group), "key": .string(key), "state": .string("present"), "value": .integer(value),
                "by": .string("b"),
            ])
    }

    /// A key of a group is removed.
    @discardableResult
    mutating func deleteGroup(_ group: String, key: String) -> StreamEvent {
        change(
            "group", "\(app)/group/\(group)/\(key)", head("group.deleted"),
            [
                "group": .string(group), "key": .string(key), "state": .string("removed"), "value": .null,
                "by": .string("b"),
            ])
    }

    /// A signal: an event without an entity.
    @discardableResult
    mutating func notifyGroup(_ group: String, _ name: String) -> StreamEvent {
        var object = head("group.notified")
        let notification: RawObject = ["group": .string(group), "name": .string(name), "by": .string("b")]
        object["notification"] = notification.json
        return append("\(app)/group/\(group)/~", object)
    }

    /// An event with the next revision of its entity, which goes with the state `removed`.
    private mutating func change(
        _ family: String, _ topic: String, _ head: RawObject, _ members: RawObject
    ) -> StreamEvent {
        var (object, patch) = (head, members)
        let revision = (lastRevisions[topic] ?? 0) + 1
        lastRevisions[topic] = revision
        patch["revision"] = .integer(revision)
        object[family] = patch.json
        let event = append(topic, object)
        var entity = entities[topic] ?? [:]
        entity.merge(patch)
        setEntity(patch["state"]?.string == "removed" ? nil : entity, at: topic)
        return event
    }
}
