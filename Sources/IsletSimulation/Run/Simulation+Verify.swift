import IsletOracle
import IsletServer

/// Reading everything and comparing it.
extension Simulation {
    /// Every activity, every list, the settings and the counts, and each stream's digest; then the subscribers.
    func verify() throws {
        try rest()
        checkRedaction()
        checkReloads()
        try readHidden()
        if mix.hasProviders { try settleControls() }
        try readEverything()
        try settleSubscribers()
    }

    func readEverything() throws {
        isComparing = true
        defer { isComparing = false }
        checkRedaction()
        checkReloads()
        var commands: [SentCommand] = []
        for handle in oracle.known {
            guard let app = oracle.app(handle), let id = oracle.id(handle) else { continue }
            let fields = "\"app\":\"\(app)\",\"id\":\"\(id)\"}"
            commands.append(query(OracleCommand(app: app, .get(.id(id))), "{\"op\":\"activity.get\"," + fields))
        }
        for app in CommandMaker.apps.prefix(mix.apps) {
            commands.append(
                query(
                    OracleCommand(app: app, .list(state: nil)),
                    "{\"op\":\"activity.list\",\"app\":\"\(app)\",\"limit\":1000}"))
            for device in [nil] + (0..<mix.devices).map({ Optional("d\($0)") }) {
                let field = device.map { ",\"device\":\"\($0)\"" } ?? ""
                commands.append(
                    query(
                        OracleCommand(app: app, .settingsGet(device: device)),
                        "{\"op\":\"settings.get\",\"app\":\"\(app)\"\(field)}"))
            }
        }
        commands += groupQueries()
        commands.append(query(OracleCommand(app: "", .info), "{\"op\":\"service.info\"}"))
        var messages: [Message] = []
        while !commands.isEmpty {
            messages.append(message(Array(commands.prefix(200))))
            commands.removeFirst(min(200, commands.count))
        }
        try turn(messages)
        try rest()
        try compareDigests()
    }

    private func query(_ command: OracleCommand, _ text: String) -> SentCommand {
        SentCommand(command: command, bytes: Array(text.utf8))
    }

    /// Everybody who follows a stream gets where it stands, and holds what it should.
    private func settleSubscribers() throws {
        for subscriber in subscribers { subscriber.isCareful = true }
        for reader in prefixReaders { reader.beCareful() }
        defer {
            for subscriber in subscribers { subscriber.isCareful = false }
            for reader in prefixReaders { reader.beCareless() }
        }
        for count in 0..<1_500 {
            let isSettled = subscribers.allSatisfy { subscriber in
                subscriber.isSettled(at: ledger.published[subscriber.app]?.seq ?? 0)
            } && prefixReaders.allSatisfy(\.isSettled)
            if isSettled, journal.isIdle, expected.isEmpty { break }
            if count > 10 { pass(100) }
            if count == 1_499 {
                throw SimFailure("subscribers do not settle: \(subscribers.map(\.description) + prefixReaders.map(\.description))")
            }
            try turn()
        }
        for subscriber in subscribers { subscriber.compare(with: self) }
        for reader in prefixReaders { reader.compare(followed(reader.app), self) }
        try stopIfWrong()
    }
}
