package import IsletCore

extension ProviderTable {
    /// Lets take effect what is due: calls time out, providers are pinged or found silent, breakers let a call through.
    ///
    /// - Parameter isListening: whether its owner takes messages. Where it has taken none for ``Limits/stall``, nobody could be
    ///   heard.
    /// - Returns: whether more is due than one turn does; then call it again.
    @discardableResult
    package mutating func advance(to time: Milliseconds, isListening: Bool = true) -> Bool {
        if let due = nextWork(), time - due > limits.stall { listeningSince = time }
        clock(time)
        if isListening { listenedAt = now } else if now - listenedAt > limits.stall { listeningSince = now }
        timeOutCalls()
        attendToProviders()
        serveOthers()
        giveBackReads()
        failOrphans()
        forgetLate()
        return nextWork().map { $0 <= now } ?? false
    }

    private mutating func timeOutCalls() {
        for _ in 0..<limits.workPerAdvance {
            guard let (slot, _) = deadlines.popDue(now: Instant(now)) else { return }
            timeOut(slot)
        }
    }

    private mutating func timeOut(_ slot: UInt32) {
        if calls[slot].place == .values, calls[slot].hasTimeAhead, outlook(of: calls[slot].kind) != .hopeless {
            // Its providers are only busy, or may answer soon: it keeps its place until that is decided.
            return restartTime(of: slot)
        }
        totals.timedOut += 1
        guard calls[slot].place == .inFlight else {
            unlinkWaiting(slot)
            return fail(slot, .timedOut)
        }
        let number = calls[slot].provider.number
        guard calls[slot].isSent else {
            withdraw(slot)
            fail(slot, .timedOut)
            return serve(number)
        }
        takeBack(slot, .timedOut)
        providers[Int(number)].isLate = true
        effects.append(.failed(calls[slot].purpose, .timedOut, wasSent: true))
        close(slot)
        // What had waited came with the rest of its time, which may have been too little for any provider.
        blame(number, calls[slot].id, isItsFault: calls[slot].hadItsTime)
        keepForLate(slot)
        serve(number)
    }

    /// A provider that is lost counts as much work as it had calls.
    private mutating func attendToProviders() {
        var work = limits.workPerAdvance
        while work > 0, let (number, due) = attention.first, due <= now {
            work -= 1 + providers[Int(number)].calls.count
            look(after: number)
        }
    }

    private mutating func look(after number: UInt32) {
        guard now < silenceEnd(of: number) else { return lose(number, .silent) }
        if providers[Int(number)].pingAt <= now {
            let isBusy = !providers[Int(number)].calls.isEmpty
            let pingedAt = providers[Int(number)].pingedAt
            if isBusy || pingedAt + limits.pingEvery <= now {
                effects.append(.ping(reference(to: number)))
                providers[Int(number)].pingedAt = now
                providers[Int(number)].pingAt = now + (isBusy ? limits.pingBusy : limits.pingEvery)
            } else {
                providers[Int(number)].pingAt = pingedAt + limits.pingEvery
            }
        }
        attend(number)
        serve(number)
    }

    /// When a provider is given up unless something is heard of it.
    private func silenceEnd(of number: UInt32) -> Milliseconds {
        max(listeningSince, lastHeard(of: number)) + limits.pingLimit
    }

    /// Sets when a provider has to be looked at. What is heard of it meanwhile makes that too early, never too late.
    mutating func attend(_ number: UInt32) {
        var next = min(providers[Int(number)].pingAt, silenceEnd(of: number))
        if let end = providers[Int(number)].breaker.opensUntil, end > now { next = min(next, end) }
        attention.set(number, to: next)
    }

    private mutating func forgetLate() {
        for _ in 0..<limits.workPerAdvance {
            let slot = late.first
            guard slot != CallList.end, calls[slot].deadline <= now else { return }
            calls.unlink(slot, from: &late)
            calls.remove(slot)
        }
    }
}
