/// One command: what its answer must say, and what it does.
extension Oracle {
    /// What happens when the command is executed now.
    ///
    /// - Parameters:
    ///   - bytes: the frame, to know a retry by.
    ///   - isExpired: its `ttl` was over before.
    /// - Returns: what the answer says, and the passages that it made.
    package func execute(
        _ command: OracleCommand, bytes: [UInt8], isExpired: Bool
    ) -> (expectation: Expectation, passages: [(handle: Handle, passage: Passage)], isNew: Bool) {
        happened = []
        if let settled = settled(command, bytes: bytes) { return (settled, [], false) }
        // A service whose clock nobody may move says that first.
        if isExpired, !isAdvance(command) || rules.datesByDue {
            return (expect(Self.refuse("expired", "later"), command), [], false)
        }
        let say = perform(command)
        let expectation = expect(say, command)
        if let key = memoryKey(of: command), expectation.isAccepted, !isAdvance(command) { noteMemory(key, bytes) }
        return (expect(say, command), happened, expectation.isAccepted)
    }

    /// What is said to a command that may have been executed before; nil where it was not.
    package func settled(_ command: OracleCommand, bytes: [UInt8]) -> Expectation? {
        guard let key = memoryKey(of: command) else { return nil }
        if let memory = memories[key], !memory.isForgotten {
            return expect(
                memory.bytes == bytes
                    ? .again(client: key.client, req: key.req) : Self.refuse("requestReused", "never"), command)
        }
        if let number = Self.number(key.req), let highest = forgottenNumbers[key.client + Self.stem(key.req)],
            number <= highest
        {
            return expect(Self.refuse("outcomeUnknown", "refresh"), command)
        }
        return nil
    }

    private func memoryKey(of command: OracleCommand) -> MemoryKey? {
        // A service whose clock nobody may move says so first.
        guard command.isRemembered, !isAdvance(command) || rules.datesByDue, let client = command.client,
            let req = command.req
        else { return nil }
        return MemoryKey(client: client, req: req)
    }

    /// The clock has arrived: its command is remembered now.
    package func arrived(_ command: OracleCommand, bytes: [UInt8]) -> Expectation {
        if let client = command.client, let req = command.req {
            noteMemory(MemoryKey(client: client, req: req), bytes)
        }
        return expect(.now(now), command)
    }

    /// What must be durable for something that is read now.
    package func expect(_ say: Expectation.Say, _ command: OracleCommand) -> Expectation {
        Expectation(say: say, req: command.req, shows: lastEffect, executedAt: now)
    }

    private func isAdvance(_ command: OracleCommand) -> Bool {
        if case .advance = command.operation { true } else { false }
    }

    package static func refuse(_ code: String, _ retry: String, _ detail: [String: JSON] = [:]) -> Expectation.Say {
        .refused(code: code, retry: retry, detail: detail)
    }

    private func perform(_ command: OracleCommand) -> Expectation.Say {
        let asker = Asker(client: command.client, req: command.req)
        switch command.operation {
        case .start(let start): return self.start(start, command, asker)
        case .update(let target, let content, let staleDate, let relevance, let alert, let stamp):
            guard let handle = find(target, command.app) else { return Self.notFound }
            return update(
                handle, content: content, staleDate: staleDate, relevance: relevance, alert: alert, stamp: stamp,
                command, asker)
        case .end(let target, let content, let policy, let stamp):
            return end(target, content, policy, stamp, command, asker)
        case .dismiss(let target, let by): return dismiss(target, by, command, asker)
        case .renew(let target, let content, let staleDate): return renew(target, content, staleDate, command, asker)
        case .heartbeat(let target): return heartbeat(target, command, asker)
        case .get(let target):
            guard let handle = find(target, command.app), let shape = shape(handle) else { return Self.notFound }
            return .entity(seq: seq(command.app), handle, shape)
        case .history(let target):
            guard let handle = find(target, command.app), let shape = shape(handle) else { return Self.notFound }
            return .history(handle, shape)
        case .list(let state):
            var rows: [Handle: Shape] = [:]
            for handle in known where app(handle) == command.app {
                guard let shape = shape(handle) else { continue }
                if state.map({ $0 == shape.state }) ?? shape.state.isListed { rows[handle] = shape }
            }
            return .list(rows)
        case .settingsSet(let device, let enabled, let frequent):
            set(command.app, device, enabled: enabled, frequent: frequent)
            let holds = settings(command.app, device)
            return .settings(seq: seq(command.app), enabled: holds.enabled, frequent: holds.frequent)
        case .settingsGet(let device):
            let holds = settings(command.app, device)
            return .settings(seq: nil, enabled: holds.enabled, frequent: holds.frequent)
        case .deviceEvent(let device, let event):
            report(device, event, command.app, asker)
            return .applied(seq: nil, nil, nil)
        case .control(let deed): return .control(deed)
        case .group(let deed): return perform(deed, command)
        case .info: return .info(timers: timers, states: states)
        case .ping: return .now(now)
        case .advance(let span):
            guard rules.datesByDue else {
                return Self.refuse("unavailable", "never", ["reason": .string("clockNotManual")])
            }
            return .now(now + span)
        case .wrong(let code): return Self.refuse(code, "never")
        }
    }

    static var notFound: Expectation.Say { refuse("notFound", "never") }

    func applied(_ handle: Handle, _ app: String) -> Expectation.Say {
        .applied(seq: seq(app), handle, shape(handle))
    }

    func ignored(_ reason: String, _ handle: Handle, _ app: String) -> Expectation.Say {
        guard let shape = shape(handle) else { return Self.notFound }
        return .ignored(reason: reason, seq: seq(app), handle, shape)
    }

    /// Why `ifRevision` does not hold.
    func conflict(_ command: OracleCommand, _ shape: Shape) -> Expectation.Say? {
        guard let revision = command.ifRevision, revision != shape.revision else { return nil }
        return Self.refuse("conflict", "refresh", ["revision": .integer(Int64(shape.revision))])
    }

    func tooLarge(_ attributes: String, _ content: String) -> Expectation.Say? {
        let bytes = attributes.utf8.count + content.utf8.count
        guard bytes > rules.contentLimit else { return nil }
        return Self.refuse(
            "attributesTooLarge", "never",
            ["bytes": .integer(Int64(bytes)), "limit": .integer(Int64(rules.contentLimit))])
    }
}
