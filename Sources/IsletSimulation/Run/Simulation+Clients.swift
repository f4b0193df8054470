import IsletOracle

/// The clients: what they send, send again, and send late.
extension Simulation {
    /// A message of so many new commands of one client.
    func newMessage(_ count: Int) -> Message {
        let client = random.below(mix.clients)
        return message((0..<count).map { _ in newCommand(client) })
    }

    func message(_ commands: [SentCommand]) -> Message {
        nextCorrelation += 1
        return Message(correlation: nextCorrelation, peer: random.below(3), commands)
    }

    func newCommand(_ client: Int, isAdvance: Bool = false) -> SentCommand {
        let app = CommandMaker.apps[random.below(mix.apps)]
        if mix.hasControls, !isAdvance, random.percent(mix.controlShare) { return newControlCommand(client, app) }
        if mix.hasWidgets, !isAdvance, random.percent(mix.widgetShare) {
            return newControlCommand(client, app, isOfWidget: true)
        }
        var (command, fields) = makeCommand(app, isAdvance: isAdvance)
        var sent = SentCommand(command: command, bytes: [])
        if random.percent(70), command.isRemembered || random.oneIn(4) {
            let req = newReq(client)
            command.req = req
            fields.append("\"req\":\"\(req)\"")
            if !random.oneIn(8) {
                command.client = clientID(client)
                fields.append("\"client\":\"\(clientID(client))\"")
            }
        }
        if case .wrong(let code) = command.operation, code == "badMessage" {
        } else if random.oneIn(25) {
            sent.wantsAnswer = false
            fields.append("\"ack\":\"none\"")
        }
        hurry(&sent, command, &fields)
        sent.command = command
        sent.bytes = Array(("{" + fields.joined(separator: ",") + "}").utf8)
        if command.isRemembered, command.client != nil {
            sentLog.append(sent)
            if sentLog.count > 48 { sentLog.removeFirst() }
        }
        return sent
    }

    private func makeCommand(_ app: String, isAdvance: Bool) -> (command: OracleCommand, fields: [String]) {
        if mix.hasGroups, !isAdvance, random.percent(mix.groupShare) {
            var maker = GroupMaker(random: SimRandom(seed: random.next()), mix: mix, oracle: oracle, app: app)
            return maker.make()
        }
        var maker = CommandMaker(random: SimRandom(seed: random.next()), mix: mix, now: oracle.now, app: app)
        maker.isKnown = ledger.published[app]?.seq ?? 0 > 0
        if isAdvance { return maker.advance(near: widgetWitness.nextDate(after: oracle.now)) }
        let isStranger = random.oneIn(20)
        return maker.make(ids: oracle.knownIDs(isStranger ? CommandMaker.apps[random.below(mix.apps)] : app))
    }

    /// Some commands name a `ttl`, and some reads a `minSeq`.
    private func hurry(_ sent: inout SentCommand, _ command: OracleCommand, _ fields: inout [String]) {
        if case .wrong = command.operation { return }
        // Without a manual clock hardly anything waits.
        if random.oneIn(mix.isManual ? 4 : 20), let ttl = random.pick([0, 20, 300, 4_000, 60_000] as [Int64]) {
            sent.ttl = ttl
            fields.append("\"ttl\":\(ttl)")
        }
        if case .get(.id) = command.operation, random.oneIn(3) {
            let minSeq = max(0, ledger.seq(command.app) + random.below(8) - 3)
            sent.minSeq = minSeq
            fields.append("\"minSeq\":\(minSeq)")
        }
    }

    /// Clients with an even number count up; the others' names end in a letter.
    private func newReq(_ client: Int) -> String {
        let number = nextNumbers[client]
        nextNumbers[client] += 1
        return client % 2 == 0 ? "n-\(number)" : "q\(number)z"
    }

    private func clientID(_ client: Int) -> String { "cccccccc-0000-4000-8000-00000000000\(client)" }

    /// A command that was sent before, as it was or with other bytes; nil where none may come again.
    func repeated(isForged: Bool) -> SentCommand? {
        guard var sent = random.pick(sentLog) else { return nil }
        if let client = sent.command.client, let req = sent.command.req, oracle.isOpen(client: client, req: req) {
            return nil
        }
        if isForged {
            guard let client = sent.command.client, let req = sent.command.req,
                oracle.remembers(client: client, req: req)
            else { return nil }
            sent.bytes.append(UInt8(ascii: " "))
        }
        return sent
    }
}
