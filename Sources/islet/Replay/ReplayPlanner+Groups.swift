import IsletClient

/// The groups that a recording has shown so far. What makes a group and its members is in no event.
struct ReplayGroups {
    private var owners: [String: String] = [:]
    private var members: Set<[String]> = []

    /// What must be there before a member sets a key.
    ///
    /// - Parameter owner: where the event tells it.
    mutating func admit(_ member: String, to group: String, owner: String?) -> [Command] {
        var commands: [Command] = []
        if let old = owners[group], let owner, owner != old {
            // Only a group that was removed is made by another app; no event tells that it was.
            commands.append(Command("group.remove", app: old, ["group": .string(group)]))
            owners[group] = nil
            members = members.filter { $0.first != group }
        }
        if owners[group] == nil {
            let owner = owner ?? member
            owners[group] = owner
            members.insert([group, owner])
            commands.append(Command("group.create", app: owner, ["group": .string(group)]))
        }
        if members.insert([group, member]).inserted, let owner = owners[group] {
            commands.append(Command("group.admit", app: owner, ["group": .string(group), "member": .string(member)]))
        }
        return commands
    }
}

extension ReplayPlanner {
    mutating func planGroup(_ event: RecordedEvent) -> ReplayVerdict {
        let item = event.event.object["notification"]?.object ?? event.patch
        guard let group = item["group"]?.string, let by = item["by"]?.string else { return .impossible(.incomplete) }
        var command = Command("group.\(event.verb)", app: by, ["group": .string(group)])
        switch event.verb {
        case "set", "deleted":
            guard let name = event.entity, let key = item["key"] else { return .impossible(.incomplete) }
            command["key"] = key
            if event.verb == "set" {
                command["value"] = item["value"] ?? .null
            } else {
                command.op = "group.delete"
            }
            var members = item
            members["state"] = .string(event.verb == "set" ? "present" : "removed")
            entities[name] = ReplayedEntity(
                family: .group, app: by, begin: event.line, members: members)
        case "notified":
            guard let name = item["name"] else { return .impossible(.incomplete) }
            command.op = "group.notify"
            command["name"] = name
        case _: return .impossible(.unknownEvent)
        }
        let preparation = groups.admit(by, to: group, owner: event.app ?? recording.owners[group]).prepared
        return .send(preparation + [PlannedCommand(command, entity: event.entity)])
    }
}
