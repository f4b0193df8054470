import IsletOracle

/// Draws a command about an app group, beside the bytes that the service gets.
struct GroupMaker {
    var random: SimRandom
    let mix: Mix
    let oracle: Oracle
    /// Who makes groups.
    let app: String

    private static let groups = ["g.one", "g:two"]
    private static let keys = ["a", "b", "k:1", "k:2", "z"]
    private static let values = ["1", "false", "\"a\"", "{\"n\":1}", "{\"n\":[1,\"a \\\"b\\\"\"]}", "2.50", "-0"]

    mutating func make() -> (command: OracleCommand, fields: [String]) {
        let group = Self.groups[random.below(2)]
        // Members and others: who may do what is what is asked.
        let owner = oracle.groupOwners.first { $0.group == group }?.owner
        if owner == nil, random.oneIn(2) { return create(group) }
        let asker = random.oneIn(3) ? CommandMaker.apps[random.below(CommandMaker.apps.count)] : owner ?? app
        let key = Self.keys[random.below(Self.keys.count)]
        // Few groups come to have no key by chance.
        if owner != nil, oracle.groupKeyCount(group) <= 1, random.oneIn(4) {
            return command(asker, GroupDeed(group, .remove), "remove", [])
        }
        switch random.weighted([2, 4, 3, 2, 40, 8, 5, 16, 6]) {
        case 0: return create(group)
        case 1:
            let member = CommandMaker.apps[random.below(CommandMaker.apps.count)]
            return command(asker, GroupDeed(group, .admit(member)), "admit", ["\"member\":\"\(member)\""])
        case 2: return command(asker, GroupDeed(group, .leave), "leave", [])
        case 3: return command(asker, GroupDeed(group, .info), "info", [])
        case 4:
            let value = value()
            let fields = ["\"key\":\"\(key)\"", "\"value\":\(value)"]
            return guarded(command(asker, GroupDeed(group, .set(key: key, value: value)), "set", fields), key)
        case 5: return command(asker, GroupDeed(group, .get(key: key)), "get", ["\"key\":\"\(key)\""])
        case 6:
            let prefix = random.pick([nil, "k:", "a", "q"] as [String?]) ?? nil
            let fields = prefix.map { ["\"prefix\":\"\($0)\""] } ?? []
            return command(asker, GroupDeed(group, .list(prefix: prefix)), "list", fields)
        case 7:
            return guarded(
                command(asker, GroupDeed(group, .delete(key: key)), "delete", ["\"key\":\"\(key)\""]), key)
        default:
            return command(asker, GroupDeed(group, .notify("moved")), "notify", ["\"name\":\"moved\""])
        }
    }

    private mutating func create(_ group: String) -> (OracleCommand, [String]) {
        let members = CommandMaker.apps.filter { _ in random.oneIn(2) }
        let list = members.map { "\"\($0)\"" }.joined(separator: ",")
        let fields = members.isEmpty ? [] : ["\"members\":[\(list)]"]
        return command(app, GroupDeed(group, .create(members: members)), "create", fields)
    }

    private mutating func value() -> String {
        if random.oneIn(4) { return "\"" + String(repeating: "x", count: random.below(60)) + "\"" }
        return Self.values[random.below(Self.values.count)]
    }

    private func command(
        _ asker: String, _ deed: GroupDeed, _ verb: String, _ fields: [String]
    ) -> (command: OracleCommand, fields: [String]) {
        let all = ["\"op\":\"group.\(verb)\"", "\"app\":\"\(asker)\"", "\"group\":\"\(deed.group)\""] + fields
        return (OracleCommand(app: asker, .group(deed)), all)
    }

    /// Some changes say which revision they expect: often that of what is not there, or the one that is.
    private mutating func guarded(
        _ made: (command: OracleCommand, fields: [String]), _ key: String
    ) -> (OracleCommand, [String]) {
        guard random.oneIn(3), case .group(let deed) = made.command.operation else { return made }
        var (command, fields) = made
        let present = oracle.groupRevision(deed.group, key) ?? 0
        let revision = random.pick([0, present, present, present + 1]) ?? 0
        command.ifRevision = revision
        fields.append("\"ifRevision\":\(revision)")
        return (command, fields)
    }
}
