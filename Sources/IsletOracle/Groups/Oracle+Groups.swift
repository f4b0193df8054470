/// Commands about app groups: what their answers must say, and what they do.
extension Oracle {
    func perform(_ deed: GroupDeed, _ command: OracleCommand) -> Expectation.Say {
        if case .create(let members) = deed.kind { return create(deed, members, command) }
        guard let group = groupBook.groups[deed.group] else {
            return Self.refuse("notFound", "never", ["group": .string(deed.group)])
        }
        guard group.members.contains(command.app) else {
            return Self.refuse("unauthorized", "never", ["group": .string(deed.group)])
        }
        switch deed.kind {
        case .create: return Self.notFound
        case .admit(let member):
            if group.members.contains(member) { return told(deed, ignored: true) }
            return done(.admitted(member), deed, command)
        case .leave:
            if command.app == group.owner { return Self.refuse("badField", "never", ["field": .string("app")]) }
            return done(.left, deed, command)
        case .remove:
            if command.app != group.owner { return Self.refuse("badField", "never", ["field": .string("app")]) }
            guard group.keys.isEmpty else {
                return Self.refuse(
                    "conflict", "refresh",
                    ["group": .string(deed.group), "keys": .integer(Int64(group.keys.count))])
            }
            return done(.removed, deed, command)
        case .notify(let name): return done(.told(name), deed, command)
        case .set(let key, let value): return set(key, value, group, deed, command)
        case .delete(let key):
            guard let present = group.keys[key] else { return Self.notFound }
            if let conflict = conflict(command, present.revision) { return conflict }
            let short: [String: JSON] = [
                "group": .string(deed.group), "key": .string(key), "state": .string("removed"),
                "revision": .integer(Int64(present.revision + 1)),
            ]
            return done(.deleted(key: key), deed, command, short: short)
        case .get(let key):
            guard let present = group.keys[key] else { return Self.notFound }
            return say(
                group.owner, ["group": GroupBook.entity(deed.group, key, present)], values: [present.value])
        case .list(let prefix):
            let names = group.keys.keys.filter { $0.hasPrefix(prefix ?? "") }
                .sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
            let rows = names.compactMap { name in group.keys[name].map { GroupBook.entity(deed.group, name, $0) } }
            return say(
                group.owner, ["items": .array(rows), "total": .integer(Int64(rows.count))],
                values: names.compactMap { group.keys[$0]?.value })
        case .info:
            let info: [String: JSON] = [
                "group": .string(deed.group), "owner": .string(group.owner),
                "members": .array(group.members.map { .string($0) }), "keys": .integer(Int64(group.keys.count)),
                "bytes": .integer(Int64(group.bytes)),
            ]
            return say(group.owner, ["group": .object(info)])
        }
    }

    private func create(_ deed: GroupDeed, _ members: [String], _ command: OracleCommand) -> Expectation.Say {
        guard groupBook.groups[deed.group] == nil else {
            return Self.refuse("conflict", "refresh", ["group": .string(deed.group)])
        }
        var all = [command.app]
        for member in members where !all.contains(member) { all.append(member) }
        return done(.made(all), deed, command)
    }

    private func set(
        _ name: String, _ value: String, _ group: GroupBook.Group, _ deed: GroupDeed, _ command: OracleCommand
    ) -> Expectation.Say {
        let present = group.keys[name]
        if let conflict = conflict(command, present?.revision ?? 0) { return conflict }
        let count = value.utf8.count
        guard count <= rules.groupValueLimit else {
            return Self.refuse("badField", "never", ["field": .string("value")])
        }
        let bytes = group.bytes - (present?.value.utf8.count ?? 0) + count
        if bytes > rules.groupLimit, bytes > group.bytes {
            return Self.refuse("quotaExceeded", "later", ["limit": .integer(Int64(rules.groupLimit))])
        }
        func short(_ revision: Int) -> [String: JSON] {
            [
                "group": .string(deed.group), "key": .string(name), "state": .string("present"),
                "revision": .integer(Int64(revision)),
            ]
        }
        if let present, present.value == value { return told(deed, ignored: true, short: short(present.revision)) }
        if present == nil, group.keys.count >= rules.maximumGroupKeys {
            return Self.refuse("quotaExceeded", "later", ["limit": .integer(Int64(rules.maximumGroupKeys))])
        }
        let revision = (present?.revision ?? group.highestDeleted) + 1
        return done(.set(key: name, value: value), deed, command, short: short(revision))
    }

    /// 0 is the revision of what is not there.
    private func conflict(_ command: OracleCommand, _ present: Int) -> Expectation.Say? {
        guard let revision = command.ifRevision, revision != present else { return nil }
        return Self.refuse("conflict", "refresh", ["revision": .integer(Int64(present))])
    }

    /// Writes it into the book.
    private func done(
        _ act: GroupBook.Line.Act, _ deed: GroupDeed, _ command: OracleCommand, short: [String: JSON]? = nil
    ) -> Expectation.Say {
        let line = GroupBook.Line(
            order: order, at: now, app: command.app, group: deed.group, act: act,
            asker: Asker(client: command.client, req: command.req))
        let owner = groupBook.groups[deed.group]?.owner ?? command.app
        if let telling = groupBook.write(line) { tellings.append(telling) }
        tookEffect()
        return told(deed, owner: owner, ignored: false, short: short)
    }

    private func told(
        _ deed: GroupDeed, owner: String? = nil, ignored: Bool, short: [String: JSON]? = nil
    ) -> Expectation.Say {
        var members: [String: JSON] = ["outcome": .string(ignored ? "ignored" : "applied")]
        if ignored { members["reason"] = .string("unchanged") }
        members["group"] = .object(short ?? ["group": .string(deed.group)])
        return say(owner ?? groupBook.groups[deed.group]?.owner ?? "", members)
    }

    private func say(_ owner: String, _ members: [String: JSON], values: [String] = []) -> Expectation.Say {
        .group(GroupSay(owner: owner, events: groupBook.events[owner] ?? 0, members: members, values: values))
    }

    // MARK: Questions

    /// The events of groups since the last time, in order.
    package func takeTellings() -> [GroupTelling] {
        defer { tellings = [] }
        return tellings
    }

    /// The groups with their owners, in the order of their names.
    package var groupOwners: [(group: String, owner: String)] {
        groupBook.groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value.owner) }
    }

    /// How many keys a group has.
    package func groupKeyCount(_ group: String) -> Int { groupBook.groups[group]?.keys.count ?? 0 }

    /// The revision of a key.
    package func groupRevision(_ group: String, _ key: String) -> Int? {
        groupBook.groups[group]?.keys[key]?.revision
    }

    /// The keys on an app's stream, by their topics.
    package func listedGroupKeys(_ app: String) -> [String: JSON] {
        var keys: [String: JSON] = [:]
        for (name, group) in groupBook.groups where group.owner == app {
            for (key, value) in group.keys {
                keys[GroupBook.topic(app, name, key)] = GroupBook.entity(name, key, value)
            }
        }
        return keys
    }

    /// Whether a key ever was so.
    package func everWas(_ key: JSON, topic: String) -> Bool {
        guard let revision = key["revision"]?.integer else { return false }
        return groupBook.states[topic]?[Int(revision)] == key
    }
}
