import IsletCore
import Testing

/// What the groups must be: dictionaries, told of what was applied.
final class GroupModel {
    struct Key: Equatable {
        var revision: UInt32
        var value: String
        var by: String
        var updatedAt: Instant
    }

    struct Group {
        var owner: String
        var members: [String]
        var keys: [String: Key] = [:]
        var highestDeleted: UInt32 = 0
    }

    private(set) var groups: [String: Group] = [:]
    private var highestRemoved: UInt32 = 0
    private var seqs: [String: UInt64] = [:]

    func create(_ group: String, _ app: String, _ members: [String]) {
        var all = [app]
        for member in members where !all.contains(member) { all.append(member) }
        groups[group] = Group(owner: app, members: all, highestDeleted: highestRemoved)
    }

    func admit(_ member: String, _ group: String) { groups[group]?.members.append(member) }
    func leave(_ group: String, _ app: String) { groups[group]?.members.removeAll { $0 == app } }
    func remove(_ group: String) {
        highestRemoved = max(highestRemoved, groups.removeValue(forKey: group)?.highestDeleted ?? 0)
    }
    func notify(_ group: String) { seqs[groups[group]?.owner ?? "", default: 0] += 1 }

    func set(_ key: String, _ value: String, _ group: String, _ app: String, _ now: Instant) {
        guard let known = groups[group] else { return }
        let revision = (known.keys[key]?.revision ?? known.highestDeleted) + 1
        // The rig's clock went on with the command.
        groups[group]?.keys[key] = Key(revision: revision, value: value, by: app, updatedAt: now)
        notify(group)
    }

    func delete(_ key: String, _ group: String) {
        guard let known = groups[group], let old = known.keys[key] else { return }
        groups[group]?.keys[key] = nil
        groups[group]?.highestDeleted = max(known.highestDeleted, old.revision + 1)
        notify(group)
    }

    /// Whether an engine says the same: members, keys in order, values, counts, and the streams' digests.
    func check(_ engine: borrowing Engine) {
        #expect(engine.groups.groupCount == groups.count)
        var entities = 0
        var digests: [String: UInt64] = [:]
        for (name, group) in groups {
            guard let number = engine.groups.find(Array(name.utf8)) else { return complain("\(name) is gone") }
            let record = engine.groups[number]
            #expect(record.members.map { text(engine.apps[$0].name) } == group.members)
            #expect(record.bytes == group.keys.values.reduce(0) { $0 + $1.value.utf8.count })
            var keys: [String: Key] = [:]
            var order: [String] = []
            for slot in record.keys {
                guard let item = engine.groups.record(at: slot) else { return complain("a key in a free slot") }
                let key = engine.withBytes(of: item.key) { String(decoding: $0, as: UTF8.self) }
                let value = engine.withBytes(of: item.value) { String(decoding: $0, as: UTF8.self) }
                order.append(key)
                keys[key] = Key(
                    revision: item.revision, value: value, by: text(engine.apps[item.by].name),
                    updatedAt: item.updatedAt)
                let topic = "\(group.owner)/group/\(name)/\(key)"
                digests[group.owner, default: 0] ^= NaiveDigest.share(topic: topic, revision: UInt64(item.revision))
            }
            #expect(keys == group.keys)
            #expect(order == group.keys.keys.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
            entities += group.keys.count
        }
        #expect(engine.entityCount == entities && engine.groups.count == entities)
        for (owner, seq) in seqs where !owner.isEmpty {
            guard let app = engine.apps.find(Array(owner.utf8)) else { return complain("\(owner) is gone") }
            #expect(engine.apps[app].seq == seq)
            #expect(engine.apps[app].digest.value == digests[owner] ?? 0)
        }
    }

    private func text(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self) }
}
