/// App groups in their plainest form: a book in which stands what was done, and what follows from all of it.
struct GroupBook: Sendable {
    struct Key: Equatable, Sendable {
        var revision: Int
        var value: String
        var by: String
        var updatedAt: Int64
    }

    struct Group: Sendable {
        var owner: String
        var members: [String]
        var keys: [String: Key] = [:]
        /// The highest revision at which a key was deleted.
        var highestDeleted = 0

        var bytes: Int { keys.values.reduce(0) { $0 + $1.value.utf8.count } }
    }

    /// Something that was done, at a place in the oracle's order.
    struct Line: Sendable {
        enum Act: Sendable {
            case made([String])
            case admitted(String)
            case left
            case removed
            case set(key: String, value: String)
            case deleted(key: String)
            case told(String)
        }

        var order: Int
        var at: Int64
        var app: String
        var group: String
        var act: Act
        var asker: Asker
    }

    private var lines: [Line] = []
    private(set) var groups: [String: Group] = [:]
    /// The highest revision at which a key of a removed group was deleted.
    private var highestRemoved = 0
    /// How many events each app's stream has had.
    private(set) var events: [String: Int] = [:]
    /// Every state of a key, by its topic and revision.
    private(set) var states: [String: [Int: JSON]] = [:]

    /// Writes a line.
    ///
    /// - Returns: the event that it makes, where it makes one.
    mutating func write(_ line: Line) -> GroupTelling? {
        lines.append(line)
        return apply(line)
    }

    /// What was written from a place on is gone.
    mutating func cut(from place: Int) {
        lines.removeAll { $0.order >= place }
        let kept = lines
        self = GroupBook()
        for line in kept { _ = write(line) }
    }

    private mutating func apply(_ line: Line) -> GroupTelling? {
        switch line.act {
        case .made(let members):
            groups[line.group] = Group(owner: line.app, members: members, highestDeleted: highestRemoved)
            return nil
        case .admitted(let member):
            groups[line.group]?.members.append(member)
            return nil
        case .left:
            groups[line.group]?.members.removeAll { $0 == line.app }
            return nil
        case .removed:
            highestRemoved = max(highestRemoved, groups.removeValue(forKey: line.group)?.highestDeleted ?? 0)
            return nil
        case .set(let key, let value): return set(key, value, line)
        case .deleted(let key): return delete(key, line)
        case .told(let name): return tell(name, line)
        }
    }

    private mutating func set(_ name: String, _ value: String, _ line: Line) -> GroupTelling? {
        guard var group = groups[line.group] else { return nil }
        let before = group.keys[name]
        let key = Key(
            revision: (before?.revision ?? group.highestDeleted) + 1, value: value, by: line.app, updatedAt: line.at)
        group.keys[name] = key
        groups[line.group] = group
        let topic = Self.topic(group.owner, line.group, name)
        let entity = Self.entity(line.group, name, key)
        states[topic, default: [:]][key.revision] = entity
        var members = head("group.set", line)
        if before != nil { members["from"] = .string("present") }
        members["to"] = .string("present")
        members["group"] = entity
        return telling(group.owner, topic, members, value: value, revision: key.revision, isListed: true)
    }

    private mutating func delete(_ name: String, _ line: Line) -> GroupTelling? {
        guard var group = groups[line.group], let key = group.keys.removeValue(forKey: name) else { return nil }
        let revision = key.revision + 1
        group.highestDeleted = max(group.highestDeleted, revision)
        groups[line.group] = group
        var members = head("group.deleted", line)
        members["from"] = .string("present")
        members["to"] = .string("removed")
        members["group"] = .object([
            "group": .string(line.group), "key": .string(name), "state": .string("removed"),
            "revision": .integer(Int64(revision)), "value": .null, "by": .string(line.app),
            "updatedAt": .integer(line.at),
        ])
        let topic = Self.topic(group.owner, line.group, name)
        return telling(group.owner, topic, members, value: nil, revision: revision, isListed: false)
    }

    private mutating func tell(_ name: String, _ line: Line) -> GroupTelling? {
        guard let group = groups[line.group] else { return nil }
        var members = head("group.notified", line)
        members["notification"] = .object([
            "group": .string(line.group), "name": .string(name), "by": .string(line.app),
        ])
        let topic = Self.topic(group.owner, line.group, "~")
        return telling(group.owner, topic, members, value: nil, revision: 0, isListed: false)
    }

    private func head(_ name: String, _ line: Line) -> [String: JSON] {
        var members: [String: JSON] = [
            "at": .integer(line.at), "event": .string(name), "cause": .string("command"),
        ]
        guard line.asker.client != nil || line.asker.req != nil else { return members }
        var by: [String: JSON] = [:]
        by["client"] = line.asker.client.map { .string($0) }
        by["req"] = line.asker.req.map { .string($0) }
        members["by"] = .object(by)
        return members
    }

    private mutating func telling(
        _ owner: String, _ topic: String, _ members: [String: JSON], value: String?, revision: Int, isListed: Bool
    ) -> GroupTelling {
        events[owner, default: 0] += 1
        return GroupTelling(
            owner: owner, topic: topic, members: members, value: value, revision: revision, isListed: isListed)
    }

    static func topic(_ owner: String, _ group: String, _ key: String) -> String { "\(owner)/group/\(group)/\(key)" }

    /// A key as it is shown.
    static func entity(_ group: String, _ name: String, _ key: Key) -> JSON {
        .object([
            "group": .string(group), "key": .string(name), "state": .string("present"),
            "revision": .integer(Int64(key.revision)), "value": JSON(Array(key.value.utf8)) ?? .null,
            "by": .string(key.by), "updatedAt": .integer(key.updatedAt),
        ])
    }
}
