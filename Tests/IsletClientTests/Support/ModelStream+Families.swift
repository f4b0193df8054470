import IsletClient

/// Widgets and groups in the model of a stream.
extension ModelStream {
    /// An event of any family, whose entity goes with the state `removed`.
    @discardableResult
    mutating func publish(
        _ name: String, topic: String, from: String?, to: String, _ patch: RawObject, besides: RawObject = [:]
    ) -> StreamEvent {
        let family = String(name.prefix { $0 != "." })
        let revision = (lastRevisions[topic] ?? 0) + 1
        lastRevisions[topic] = revision
        var patch = patch
        patch["state"] = .string(to)
        patch["revision"] = .integer(revision)
        var object = head(name)
        if let from { object["from"] = .string(from) }
        object["to"] = .string(to)
        for member in besides.members { object[member.name] = member.value }
        object[family] = patch.json
        let event = append(topic, object)
        var entity = entities[topic] ?? [:]
        entity.merge(patch)
        setEntity(to == "removed" ? nil : entity, at: topic)
        return event
    }

    /// A widget's event.
    @discardableResult
    mutating func widget(
        _ name: String, _ id: String, from: String? = "shown", to: String = "shown", _ patch: RawObject = [:],
        besides: RawObject = [:]
    ) -> StreamEvent {
        var members: RawObject = ["id": .string(id)]
        for member in patch.members { members[member.name] = member.value }
        return publish(
            "widget.\(name)", topic: "\(app)/widget/weather/\(id)", from: from, to: to, members, besides: besides)
    }

    @discardableResult
    mutating func setGroup(_ group: String, key: String, value: Int) -> StreamEvent {
        let topic = "\(app)/group/\(group)/\(key)"
        return publish(
            "group.set", topic: topic, from: entities[topic] == nil ? nil : "present", to: "present",
            ["group": .string(group), "key": .string(key), "value": .integer(value), "by": .string("b")])
    }

    @discardableResult
    mutating func deleteGroup(_ group: String, key: String) -> StreamEvent {
        publish(
            "group.deleted", topic: "\(app)/group/\(group)/\(key)", from: "present", to: "removed",
            ["group": .string(group), "key": .string(key), "value": .null])
    }

    /// A signal: an event without an entity.
    @discardableResult
    mutating func notifyGroup(_ group: String, _ name: String) -> StreamEvent {
        var object = head("group.notified")
        let notification: RawObject = ["group": .string(group), "name": .string(name), "by": .string("b")]
        object["notification"] = notification.json
        return append("\(app)/group/\(group)/~", object)
    }
}
