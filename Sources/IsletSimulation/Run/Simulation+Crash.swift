import IsletCore
import IsletJournal
import IsletOracle
import IsletServer

/// The end of a process, and the next one.
extension Simulation {
    /// The process or the machine ends somewhere in a turn, and comes back after a while.
    func crash(_ kind: SimDisk.Crash) throws {
        let point = CrashPoint.allCases[random.below(CrashPoint.allCases.count)]
        let messages = (0..<random.below(3)).map { _ in newMessage(1 + random.below(4)) }
        _ = try turn(undelivered + messages, crash: point)
        undelivered = []
        log?("  crash: \(kind), \(point)")
        try end(kind)
        // Recoveries that are cut short.
        while random.oneIn(3) {
            tally.recoveryCrashes += 1
            if random.oneIn(2) { _ = try turn(crash: CrashPoint.allCases[random.below(CrashPoint.allCases.count)]) }
            try end(random.oneIn(2) ? .processKill : .powerLoss)
        }
        try checkReturned()
    }

    /// A stop in good order, and the next start.
    func restartCleanly() throws {
        try rest()
        partition.stop()
        for count in 0..<4_000 where !partition.isDone {
            try stoppingTurn()
            if count == 3_999 { throw SimFailure("it never comes to its end") }
        }
        try stopIfWrong()
        tally.cleanRestarts += 1
        disk.wasClosed = true
        log?("  clean stop")
        try comeBack(reboots: random.oneIn(4))
        disk.wasClosed = false
        try checkReturned()
    }

    private func stoppingTurn() throws {
        tally.turns += 1
        pass(random.below(50))
        for notice in journal.tick() { take(notice) }
        _ = partition.beginTurn(clock.reading)
        readClocks(isUnderway: false)
        oracle.setTime(domain.now)
        keepHeldAnswers()
        _ = partition.endTurn()
        _ = try release(nil)
        callProviders()
        try stopIfWrong()
    }

    /// The process is gone; the disk keeps what it keeps.
    private func end(_ kind: SimDisk.Crash) throws {
        switch kind {
        case .processKill: tally.kills += 1
        case .powerLoss: tally.powerLosses += 1
        case .inputOutputError: tally.inputOutputErrors += 1
        }
        let acknowledged = committedEnd
        disk.crash(kind, &random)
        let place = ends[disk.lastNumber] ?? 0
        expect(place >= acknowledged, "the disk lost what it had confirmed")
        for (app, stand) in ledger.published { expect(stand.seq <= ledger.seq(app), "\(app) was published ahead") }
        for (client, req) in oracle.cut(from: place) {
            // What was not durable has not happened; if it was acknowledged, that was a lie.
            let lost = execution(client, req)
            expect(firstAnswers[lost] == nil, "\(req) of \(client) was acknowledged and is lost")
            firstExpectations[lost] = nil
            executions[client + req, default: 0] -= 1
        }
        ledger.cut(after: disk.lastNumber)
        notedTravels.removeAll { $0.batch.map { $0 > disk.lastNumber } ?? true }
        rereadControls()
        ends = ends.filter { $0.key <= disk.lastNumber }
        try comeBack(reboots: kind == .powerLoss)
    }

    private func comeBack(reboots: Bool) throws {
        expected.removeAll()
        expectedTellings.removeAll()
        heldEnds.removeAll()
        (flight, isFlightOver, wereAnswersHeld) = (nil, false, false)
        closedEnd = ends[disk.lastNumber] ?? 0
        isDiskFull = false
        isUnheard = true
        travel = nil
        stops.removeAll()
        sights.removeAll()
        lastBatchAt = disk.clock
        waiting.removeAll()
        unanswered.removeAll()
        awaitedDigests.removeAll()
        for subscriber in subscribers { subscriber.disconnect() }
        for reader in prefixReaders { reader.disconnect() }
        switch random.below(5) {
        case 0: break
        case 1: pass(random.below(1_000))
        case 2: pass(random.below(600_000))
        case 3: pass(random.below(mix.longStep))
        default: if random.oneIn(4) { pass(random.below(30 * 86_400_000 as Int64)) }
        }
        if random.oneIn(8) { clock.jump(random.oneIn(2) ? random.below(36_000_000) : -random.below(36_000_000)) }
        clock.thaw()
        if reboots { clock.reboot() }
        incarnation += 1
        world.serviceIsBack(&random, at: clock.elapsed)
        let pace = journal.pace
        journal = SimJournal(disk, pace: pace, random: SimRandom(seed: random.next()))
        partition = try Self.partition(disk, journal, mix, rules, clock, random: SimRandom(seed: seed &+ incarnation))
        adopt()
        restartWaits()
        domain = OracleClock(isManual: mix.isManual, from: Self.start, kept: disk.keptTime)
        turnTimes = [domain.read(wall: clock.wall, monotonic: clock.monotonic)]
        let told = partition.now.domain.milliseconds
        expect(told == domain.now, "it starts at \(told), and domain time is \(domain.now)")
        log?("  back at \(told), with \(disk.lastNumber) batches, a snapshot through \(disk.snapshot.holdsThrough)")
        expect(partition.epoch == epoch, "another epoch")
        notedHolds.removeAll { $0.batch > disk.lastNumber }
        oracle.restart(at: domain.now, after: disk.keptTime, hold: durableHold)
        pastHolds[oracle.hold.until] = oracle.hold
        if domain.now > disk.keptTime { notedHolds.append((disk.lastNumber + 1, oracle.hold)) }
        try stopIfWrong()
    }

    /// After a recovery: everything that was due is taken once each, and everything is as the oracle says.
    private func checkReturned() throws {
        try rest()
        try readEverything()
    }
}
