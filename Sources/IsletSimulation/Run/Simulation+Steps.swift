import IsletOracle

/// What each step of a script does.
extension Simulation {
    func take(_ step: Step) throws {
        tally.steps += 1
        random = SimRandom(seed: step.salt)
        journal.random = SimRandom(seed: step.salt ^ 0x77)
        switch step.kind {
        case .command: try send([newMessage(1)])
        case .batch:
            if random.oneIn(5), let message = movingMessage() {
                try send([message])
                break
            }
            try send((0..<1 + random.below(4)).map { _ in newMessage(1 + random.below(12)) })
        case .retry:
            guard let sent = repeated(isForged: false) else { break }
            tally.retries += 1
            try send([message([sent])])
        case .forgedRetry:
            guard let sent = repeated(isForged: true) else { break }
            tally.retries += 1
            try send([message([sent])])
        case .pass:
            let span: Int64 = random.below(random.oneIn(2) ? 50 : 5_000)
            try turn(after: random.oneIn(8) ? Self.longestStep + random.below(2) : span)
        case .passToDeadline:
            let widgetDue = random.oneIn(2) ? widgetWitness.nextDate(after: clock.wall) : nil
            let due = widgetDue ?? oracle.nextDue
            if let due, due > clock.wall {
                let around = [0, 0, 0, -1, 1, 7][random.below(6)]
                try turn(after: max(0, due - clock.wall + Int64(around)))
            } else {
                try turn()
            }
        case .passLong:
            try turn(after: random.below(mix.longStep))
        case .jump:
            tally.clockJumps += 1
            let span = [1, 900, 59_000, 61_000, 3_600_000, 36_000_000][random.below(6)] as Int64
            clock.jump(random.oneIn(2) ? span : -span)
            try turn()
        case .freeze:
            tally.clockJumps += 1
            clock.freeze()
            for _ in 0..<1 + random.below(6) {
                pass(random.below(20_000))
                try send([newMessage(1)])
            }
            clock.thaw()
            try turn()
        case .suspend:
            pass(random.below(36_000_000 as Int64))
            try turn()
        case .advance:
            if mix.isManual || random.oneIn(3) {
                let client = random.below(mix.clients)
                let more = random.oneIn(3) ? [newCommand(client)] : []
                try send([message([newCommand(client, isAdvance: true)] + more)])
            }
        case .kill: try crash(.processKill)
        case .powerLoss: try crash(.powerLoss)
        case .inputOutputError: try crash(.inputOutputError)
        case .cleanRestart: try restartCleanly()
        case .fullDisk:
            journal.fill(for: 2 + random.below(20))
            for _ in 0..<random.below(12) { try send([newMessage(1)]) }
        case .slowDisk:
            journal.pace.write = random.pick([1, 2, 6, 20]) ?? 1
            journal.pace.sync = random.pick([1, 2, 6, 20]) ?? 1
        case .subscriber:
            if !subscribers.isEmpty { subscribers[random.below(subscribers.count)].isDisturbed(&random) }
            askForAnyDigest()
            try send([newMessage(3)])
        case .verify: try verify()
        case .provider:
            disturbProviders()
            try turn()
        case .world:
            if let command = changeWorld() { try send([message([command])]) } else { try turn() }
        case .idle: for _ in 0..<1 + random.below(4) { try turn() }
        }
        // What an answer on its way may show is kept.
        if unanswered.isEmpty { oracle.prune(before: committedEnd, clock: disk.clock, hold: durableHold) }
        if mix.trims { disk.trim(random.below(4), keeping: mix.keeping) }
    }

    /// Some time passes.
    func pass(_ span: Int64) {
        clock.pass(span)
        tally.simulatedMilliseconds += span
    }

    /// The longest span in which turns come in time; in longer ones the machine stands still.
    private static let longestWatch: Int64 = 60_000

    /// Some time passes until a turn. Where it is not long the service goes on meanwhile as a rule.
    private func turn(after span: Int64) throws {
        var left = span
        if span <= Self.longestWatch, !random.oneIn(4) {
            let step = Self.longestStep - (random.oneIn(2) ? 0 : random.below(1_000))
            while left > step {
                pass(step)
                try turn()
                left -= step
            }
        }
        pass(left)
        try turn()
    }

    /// A turn with messages, then perhaps some more turns.
    func send(_ messages: [Message]) throws {
        pass(random.below(4))
        let late = undelivered
        undelivered = []
        try turn(late + messages)
        for _ in 0..<random.below(3) { try turn() }
    }

    /// Turns until nothing is on its way any more.
    func rest() throws {
        defer { world.isCalm = false }
        for count in 0..<20_000 {
            // A clock that travels stops wherever providers are asked.
            if count == 100 { world.isCalm = true }
            let messages = undelivered
            undelivered = []
            try turn(messages)
            let isAtRest =
                unanswered.isEmpty && undelivered.isEmpty && awaitedDigests.isEmpty && journal.isIdle
                && expected.isEmpty && expectedTellings.isEmpty && travel == nil && waiting.isEmpty
                && !oracle.hasForgettable
            if isAtRest { return }
            if count > 20 { pass(count > 200 ? 50 : 10) }
        }
        throw SimFailure(
            "it never comes to rest: \(unanswered.count) answers missing, \(journal.inFlight) batches in flight")
    }
}
