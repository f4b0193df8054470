import IsletCore
import IsletJournal
import IsletOracle
import IsletServer

/// Where in a turn a crash comes.
enum CrashPoint: CaseIterable {
    case afterNotices, afterBegin, betweenMessages, afterMessages, afterEnd
    case withinFlight, betweenFlights, afterRelease, withinCalls
}

extension Simulation {
    /// One turn of the partition, with its owner's part.
    ///
    /// - Parameter crash: where it ends early.
    /// - Returns: whether it did.
    @discardableResult
    func turn(_ messages: [Message] = [], crash: CrashPoint? = nil) throws -> Bool {
        tally.turns += 1
        for notice in journal.tick() { take(notice) }
        if crash == .afterNotices { return true }
        let canDeliver = beginTurn()
        try stopIfWrong()
        if crash == .afterBegin { return true }
        if canDeliver {
            for (index, message) in messages.enumerated() {
                if crash == .betweenMessages, index == messages.count / 2 { return true }
                deliver(message)
                try stopIfWrong()
            }
        } else {
            undelivered += messages
        }
        if mix.hasProviders { hearProviders() }
        try stopIfWrong()
        for subscriber in subscribers { subscriber.speak(to: self) }
        for reader in prefixReaders { reader.speak(to: self) }
        if crash == .afterMessages || crash == .betweenMessages { return true }
        keepHeldAnswers()
        _ = partition.endTurn()
        oracle.forgetAnswers(at: domain.now)
        checkEverythingHandedOver()
        try stopIfWrong()
        if crash == .afterEnd { return true }
        if try release(crash) { return true }
        try stopIfWrong()
        if crash == .afterRelease { return true }
        callProviders(atMost: crash == .withinCalls ? random.below(3) : nil)
        try stopIfWrong()
        return crash == .withinCalls
    }

    func take(_ notice: JournalNotice) {
        switch notice {
        case .isFull:
            tally.fullDisks += 1
            if !isDiskFull {
                isDiskFull = true
                isUnheard = true
                // What was filled until now is a batch of its own, which waits.
                if partition.hasUncommitted { heldEnds.append((oracle.order, domain.now)) }
                closedEnd = max(closedEnd, oracle.order)
            }
        case .hasRoom: isDiskFull = false
        case .committed(let number, _): if let flight, flight.batch <= number { isFlightOver = true }
        case .swept, .read, .backedUp, .segmentIsDelayed: break
        }
        partition.take(notice)
    }

    /// Answers are remembered for longer where a commit took long that is under way, or was at the end of the turn before or
    /// of the one before that. The next batch that is handed over says so.
    func keepHeldAnswers() {
        let begin = flight?.since ?? domain.now
        let isHeld = !mix.isManual && domain.now - begin >= Self.lateCommit
        if isFlightOver { (flight, isFlightOver) = (nil, false) }
        if isHeld || wereAnswersHeld { oracle.keepAnswers(at: domain.now, since: begin) }
        wereAnswersHeld = isHeld
        pastHolds[oracle.hold.until] = oracle.hold
        guard oracle.hold.until > notedHolds.last?.hold.until ?? .min, flight == nil, !isDiskFull else { return }
        let last = disk.batches.last?.batch.number ?? disk.lastNumber
        notedHolds.append((last + UInt64(heldEnds.count) + 1, oracle.hold))
    }

    /// Answers from before a leap are remembered from its end, where it is as long as a commit that holds them back.
    private func keepAnswers(overLeapSince before: Int64) {
        guard domain.now - before >= Self.lateCommit else { return }
        oracle.keepAnswers(at: domain.now, since: before)
        pastHolds[oracle.hold.until] = oracle.hold
    }

    /// The partition's turn begins; the oracle follows it.
    ///
    /// - Returns: whether commands can be judged in this turn.
    private func beginTurn() -> Bool {
        let (arrivals, queued) = (partition.arrivals, partition.waitingCommands)
        _ = partition.beginTurn(clock.reading)
        // A manual clock travels within the turn.
        if mix.isManual { hearAgain(at: domain.now) }
        var executed = queued - partition.waitingCommands
        if travel == nil { executed -= executeWaiting(atMost: executed) }
        let isUnderway = travel != nil && partition.arrivals == arrivals
        readClocks(isUnderway: isUnderway)
        let now = domain.now
        hearAgain(at: now)
        if !isDiskFull, !mix.isManual, let flight, let silence = oracle.rules.shortestSilence,
            now - flight.since >= silence / Self.shareOfSilence
        {
            oracle.hear(at: now)
        }
        guard !isDiskFull else {
            oracle.setTime(now)
            checkWaiting(executed)
            return travel == nil
        }
        let passages = oracle.look(at: now)
        tally.deadlines += passages.count
        expected.expect(passages)
        if isUnderway {
            checkWaiting(executed)
            return false
        }
        oracle.forgetRetained()
        if travel != nil {
            arrive()
            executed -= executeWaiting(atMost: executed)
        }
        checkWaiting(executed)
        return travel == nil
    }

    private func hearAgain(at time: Int64) {
        guard isUnheard, !isDiskFull else { return }
        isUnheard = false
        oracle.hear(at: time)
    }

    /// Which answers the disk says are remembered for longer. A piece of the snapshot may say so before the batch that does:
    /// what the service has written there must have been so once.
    var durableHold: Oracle.Hold {
        let noted = notedHolds.last { $0.batch <= disk.lastNumber }?.hold ?? Oracle.Hold()
        guard let end = disk.snapshot.retryHoldEnd else { return noted }
        let hold = pastHolds[end]
        expect(hold != nil, "the snapshot says that answers are remembered until \(end), which never was so")
        guard let hold, end > noted.until else { return noted }
        return hold
    }

    /// The service has read the clocks that the model reads too: it says the same time.
    ///
    /// Only a manual clock on its way is where it says, as long as that is before its goal and something happened there, or
    /// providers are to be asked: for a relevance that could not be had before, which no event tells of.
    func readClocks(isUnderway: Bool) {
        let told = partition.now.domain.milliseconds
        let before = domain.now
        if let travel, mix.isManual {
            let goal = isUnderway ? told : travel.target
            expect((before...travel.target).contains(goal), "a clock on its way from \(before) stands at \(goal)")
            if isUnderway, told > before, !partition.hasProviderWork { stops.insert(told) }
            domain.stand(at: goal)
        } else {
            domain.read(wall: clock.wall, monotonic: clock.monotonic)
            if domain.now - before > Self.longestStep {
                tally.leaps += 1
                isUnheard = true
                keepAnswers(overLeapSince: before)
            }
        }
        turnTimes.insert(domain.now)
        expect(told == domain.now, "domain time is \(domain.now), and the service says \(told)")
    }

    /// The manual clock has arrived; what waited for it is executed.
    private func arrive() {
        guard let travel else { return }
        let sent = travel.message.commands[travel.index]
        var expectation = oracle.arrived(sent.command, bytes: sent.bytes)
        remember(&expectation, sent)
        travel.message.expectations[travel.index] = expectation
        self.travel = nil
        if notedTravels.last?.bytes == sent.bytes { notedTravels.append(NotedTravel(bytes: nil, target: 0)) }
    }

    /// Commands that waited are executed, until one lets the clock travel again: each time a turn's share, or as many as the
    /// service has executed where its turn had done enough before.
    ///
    /// - Returns: how many.
    private func executeWaiting(atMost executed: Int) -> Int {
        let limit = min(executed, Partition.waitedPerTurn)
        var left = limit
        while left > 0, travel == nil, !waiting.isEmpty {
            let (message, from) = waiting.removeFirst()
            left -= message.map { execute($0, from: from, atMost: left) } ?? 1
        }
        let isCutShort = left == 0 && limit < Partition.waitedPerTurn && travel == nil && !waiting.isEmpty
        expect(!isCutShort || !partition.takesCommands, "\(limit) of the commands that waited were executed only")
        return limit - left
    }

    /// As many commands wait as the service says; it executed some more than the model, which must not be.
    private func checkWaiting(_ more: Int) {
        let count = waiting.reduce(0) { $0 + ($1.message.map(\.commands.count) ?? 1) - $1.from }
        expect(
            more == 0 && count == partition.waitingCommands,
            "\(count) commands wait, and the service says \(partition.waitingCommands)")
    }

    /// Hands a message to the partition and lets the oracle execute it.
    private func deliver(_ message: Message) {
        guard partition.takesCommands else {
            undelivered.append(message)
            return
        }
        log?("  -> \(message.commands.map { String(decoding: $0.bytes, as: UTF8.self) })")
        unanswered[message.correlation] = message
        message.receivedAt = clock.elapsed
        partition.inbound.set(message.frames, isRouted: true)
        partition.takeCommands()
        if travel != nil || !waiting.isEmpty {
            waiting.append((message, 0))
        } else {
            execute(message, from: 0)
        }
        if message.commands.allSatisfy({ !$0.wantsAnswer }) { unanswered[message.correlation] = nil }
    }

    /// What the message's commands come to, by the oracle. What is left of them waits.
    ///
    /// - Returns: how many were executed.
    @discardableResult
    private func execute(_ message: Message, from first: Int, atMost limit: Int = .max) -> Int {
        for index in first..<message.commands.count {
            if index - first == limit {
                waiting.insert((message, index), at: 0)
                return limit
            }
            let sent = message.commands[index]
            tally.commands += 1
            if isDiskFull, needsRoom(sent.command) {
                message.expectations[index] = withoutRoom(sent)
                continue
            }
            note(sent)
            let isExpired = sent.ttl.map { clock.elapsed - message.receivedAt > $0 } ?? false
            if isExpired { tally.expired += 1 }
            // Its first answer, where it has one, comes all the same.
            if isExpired, case .control(var deed) = sent.command.operation {
                deed.isExpired = true
                message.expectations[index] = oracle.expect(.control(deed), sent.command)
                continue
            }
            if !isExpired, let wait = wait(sent) {
                message.expectations[index] = wait
                continue
            }
            var (expectation, passages, isNew) = oracle.execute(
                sent.command, bytes: sent.bytes, isExpired: isExpired)
            expected.expect(passages)
            expectedTellings += oracle.takeTellings()
            if isDiskFull, showsTimeAlone(expectation) { expectation.shows = 0 }
            if case .again(let client, let req) = expectation.say { expectation.execution = execution(client, req) }
            if case .advance = sent.command.operation, case .now(let date) = expectation.say {
                // It is executed when the clock arrives: a crash on the way leaves what was executed under its name before.
                message.expectations[index] = expectation
                let target = goal(of: sent, date)
                travel = (target, message, index)
                // It goes on before what came behind it.
                if index + 1 < message.commands.count { waiting.insert((message, index + 1), at: 0) }
                return index + 1 - first
            }
            if isNew { remember(&expectation, sent) }
            message.expectations[index] = expectation
        }
        return message.commands.count - first
    }

    /// Whether an answer leaves at once on a full disk: it shows nothing of what is held back.
    private func showsTimeAlone(_ expectation: Expectation) -> Bool {
        switch expectation.say {
        case .info, .now: true
        case .applied, .ignored, .refused, .held, .settings, .entity, .history, .list, .control, .group, .awaited, .again:
            false
        }
    }

    /// What is said to a command while the disk is full: what was executed before is answered as it was, as soon as that is
    /// committed, and whatever happened since.
    private func withoutRoom(_ sent: SentCommand) -> Expectation {
        if case .control(var deed) = sent.command.operation {
            deed.isExpired = true
            var expectation = oracle.expect(.control(deed), sent.command)
            expectation.shows = 0
            // Where the one before is not answered yet, whichever comes first is judged by what was noted of that one.
            if let req = sent.command.req { sights[Self.asker(sent.command.client, req)]?.isFirst = false }
            return expectation
        }
        guard var expectation = oracle.settled(sent.command, bytes: sent.bytes) else {
            return oracle.expect(
                Oracle.refuse("unavailable", "later", ["reason": .string("diskFull")]), sent.command)
        }
        // A refusal shows nothing of what is held back, and leaves at once.
        expectation.shows = 0
        if case .again(let client, let req) = expectation.say {
            expectation.execution = execution(client, req)
            expectation.shows = firstExpectations[expectation.execution]?.shows ?? 0
        }
        return expectation
    }

    /// Where the clock is to go by a command that would move it to a date if it came for the first time.
    private func goal(of sent: SentCommand, _ first: Int64) -> Int64 {
        guard sent.command.client != nil, sent.command.req != nil else { return first }
        let noted = notedTravels.last
        let target = noted?.bytes == sent.bytes ? max(domain.now, noted?.target ?? first) : first
        notedTravels.append(NotedTravel(bytes: sent.bytes, target: target))
        return target
    }

    /// The latest execution of a pair: one that was forgotten is executed again when it comes again.
    func execution(_ client: String, _ req: String) -> String {
        "\(client) \(req) \(executions[client + req, default: 0])"
    }

    private func remember(_ expectation: inout Expectation, _ sent: SentCommand) {
        guard sent.command.isRemembered, let client = sent.command.client, let req = sent.command.req else { return }
        executions[client + req, default: 0] += 1
        expectation.execution = execution(client, req)
        firstExpectations[expectation.execution] = expectation
    }

    private func needsRoom(_ command: OracleCommand) -> Bool {
        switch command.operation {
        case .info, .ping, .wrong: false
        default: true
        }
    }
}
