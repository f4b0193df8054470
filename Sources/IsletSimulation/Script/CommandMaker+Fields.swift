import IsletOracle

/// The parts of commands.
extension CommandMaker {
    static func uuid(_ number: UInt64) -> String {
        let hex = String(number, radix: 16)
        return "aaaaaaaa-0000-4000-8000-" + String(repeating: "0", count: 12 - hex.count) + hex
    }

    mutating func target(_ ids: [String]) -> (OracleCommand.Target, [String]) {
        if !random.oneIn(4), let id = random.oneIn(30) ? Self.uuid(999) : random.pick(Array(ids.suffix(24))) {
            return (.id(id), ["\"id\":\"\(id)\""])
        }
        let key = ["home", "k:1", "x-2"][random.below(3)]
        let device = device()
        return (.key(key, device: device), ["\"key\":\"\(key)\""] + text("device", device))
    }

    mutating func device() -> String? {
        mix.devices == 0 || random.oneIn(3) ? nil : "d\(random.below(mix.devices))"
    }

    mutating func content() -> String {
        switch random.below(6) {
        case 0: return "{\"s\":\"" + String(repeating: "x", count: random.below(90)) + "\"}"
        case 1: return "{}"
        default: return "{\"n\":\(random.below(4))}"
        }
    }

    mutating func relevance() -> Double? {
        random.oneIn(4) ? [0, 1, 2.5, -3, 100, 0.1][random.below(6)] : nil
    }

    /// A span from a millisecond to more than a life.
    mutating func span() -> Int64 {
        switch random.below(6) {
        case 0: Int64(random.below(3))
        case 1: Int64(random.below(1_000))
        case 2: Int64(random.below(60_000))
        case 3: random.below(mix.rules.activeLimit)
        case 4: random.below(mix.rules.dismissalLimit * 2)
        default: random.below(mix.longStep)
        }
    }

    /// A date around now.
    mutating func near() -> Int64 { random.oneIn(4) ? now - span() / 4 : now + span() }

    mutating func date(oneIn count: Int) -> Int64? { random.oneIn(count) ? near() : nil }

    mutating func changing(
        _ operation: OracleCommand.Operation, _ op: String, _ fields: [String], isGuarded: Bool = true
    ) -> (OracleCommand, [String]) {
        var (command, all) = plain(operation, op, fields)
        if isGuarded, random.oneIn(10) {
            command.ifRevision = 1 + random.below(4)
            all.append("\"ifRevision\":\(command.ifRevision ?? 0)")
        }
        if random.oneIn(6) {
            command.isPush = true
            all.append("\"source\":\"push\"")
        }
        return (command, all)
    }

    func plain(
        _ operation: OracleCommand.Operation, _ op: String, _ fields: [String]
    ) -> (OracleCommand, [String]) {
        (OracleCommand(app: app, operation), ["\"op\":\"\(op)\"", "\"app\":\"\(app)\""] + fields)
    }

    func reading(
        _ operation: OracleCommand.Operation, _ op: String, _ fields: [String]
    ) -> (OracleCommand, [String]) {
        plain(operation, op, fields)
    }

    func text(_ name: String, _ value: String?) -> [String] { value.map { ["\"\(name)\":\"\($0)\""] } ?? [] }
    func raw(_ name: String, _ value: String?) -> [String] { value.map { ["\"\(name)\":\($0)"] } ?? [] }
    func number(_ name: String, _ value: Int64?) -> [String] { value.map { ["\"\(name)\":\($0)"] } ?? [] }
    func score(_ value: Double?) -> [String] {
        guard let value else { return [] }
        return ["\"relevanceScore\":" + (value == value.rounded() ? "\(Int(value))" : "\(value)")]
    }
}
