package import IsletCore

extension ProviderTable {
    /// What a call in flight is for, so that the owner can judge an answer before it is taken; nil where it is not asked for.
    package func purpose(of call: CallID, by id: EntityID, peer: [UInt8]) -> Purpose? {
        inFlight(call, id, peer).map { calls[$0].purpose }
    }

    /// A provider answered: the call is over.
    package mutating func answered(
        by id: EntityID, peer: [UInt8], call: CallID, at time: Milliseconds
    ) -> Verdict {
        clock(time)
        guard let slot = inFlight(call, id, peer) else { return refuse(call, id, peer) }
        let number = calls[slot].provider.number
        let purpose = calls[slot].purpose
        takeIn(slot, number)
        providers[Int(number)].answeredAt = now
        providers[Int(number)].isLate = false
        let wasClosed = providers[Int(number)].breaker.isClosed
        providers[Int(number)].breaker.succeeded()
        totals.answered += 1
        noteCrowd(of: calls[slot].kind)
        forget(slot)
        if !wasClosed {
            for place in providers[Int(number)].kinds { noteCrowd(of: place) }
        }
        serve(number)
        return .taken(purpose)
    }

    /// A provider says that a call failed.
    ///
    /// - Parameters:
    ///   - isRetryable: another provider may do better; without meaning for an action.
    ///   - reason: what it says of it, for ``takeReason(of:)``; empty: nothing.
    package mutating func failed(
        by id: EntityID, peer: [UInt8], call: CallID, isRetryable: Bool, reason: [UInt8] = [], at time: Milliseconds
    ) -> Verdict {
        clock(time)
        guard let slot = inFlight(call, id, peer) else { return refuse(call, id, peer) }
        let provider = calls[slot].provider
        let purpose = calls[slot].purpose
        takeIn(slot, provider.number)
        totals.failed += 1
        blame(provider.number, call)
        reasons.kept[slot] = reason.isEmpty ? nil : reason
        if isRetryable, mayRetry(slot, except: provider) {
            retry(slot, except: provider, .threw)
        } else {
            fail(slot, .threw)
        }
        serve(provider.number)
        return .taken(purpose)
    }

    /// What the provider said that failed a call as `threw`, once that it is over was told; empty: nothing.
    package mutating func takeReason(of purpose: Purpose) -> [UInt8] { reasons.told.removeValue(forKey: purpose) ?? [] }

    /// A provider answered something that cannot be: the call fails, and it is a fault.
    package mutating func rejected(
        by id: EntityID, peer: [UInt8], call: CallID, at time: Milliseconds
    ) -> Verdict {
        clock(time)
        guard let slot = inFlight(call, id, peer) else { return refuse(call, id, peer) }
        let number = calls[slot].provider.number
        let purpose = calls[slot].purpose
        takeIn(slot, number)
        totals.failed += 1
        blame(number, call)
        fail(slot, .badAnswer)
        if !noteFault(of: number) { serve(number) }
        return .taken(purpose)
    }

    /// A provider speaks of a call whose number cannot be one: a fault.
    package mutating func unreadable(by id: EntityID, peer: [UInt8], at time: Milliseconds) -> Verdict {
        clock(time)
        guard let number = number(of: id, peer) else { return .notRegistered }
        hear(number)
        providers[Int(number)].unknown += 1
        _ = noteFault(of: number)
        return .unknownCall
    }

    /// A call failed at a provider.
    ///
    /// - Parameter isItsFault: whether another one would have been answered; else it says nothing of the provider.
    mutating func blame(_ number: UInt32, _ call: CallID, isItsFault: Bool = true) {
        providers[Int(number)].failures += 1
        totals.failures += 1
        guard isItsFault else { return providers[Int(number)].breaker.withdrew(call) }
        guard providers[Int(number)].breaker.failed(call, at: now) else { return }
        attend(number)
        for place in providers[Int(number)].kinds { serveAsidesElsewhere(of: place) }
    }

    /// Whether a call is with a provider still. One that is to be sent may have been taken back, or been given to another
    /// one, since the effect that says so was made.
    package func isInFlight(_ call: CallID) -> Bool {
        let slot = numbers.slot(of: call)
        return calls.contains(slot) && calls[slot].place == .inFlight && calls[slot].id == call
    }

    /// The record of a call that this provider has, and on this connection.
    private func inFlight(_ call: CallID, _ id: EntityID, _ peer: [UInt8]) -> UInt32? {
        let slot = numbers.slot(of: call)
        guard calls.contains(slot), calls[slot].place == .inFlight, calls[slot].id == call else { return nil }
        guard calls[slot].isSent, calls[slot].providerID == id else { return nil }
        return providers[Int(calls[slot].provider.number)].peer == peer ? slot : nil
    }

    /// A provider is through with a call, well or not.
    private mutating func takeIn(_ slot: UInt32, _ number: UInt32) {
        hear(number)
        providers[Int(number)].latencies.add(now - calls[slot].sentAt)
        totals.spans.record(Int(now - calls[slot].sentAt), at: now)
        calls.unlink(slot, from: &providers[Int(number)].calls)
    }

    /// An answer that nobody waits for.
    private mutating func refuse(_ call: CallID, _ id: EntityID, _ peer: [UInt8]) -> Verdict {
        guard let number = number(of: id, peer) else { return .notRegistered }
        hear(number)
        if let ended = takeLate(call, of: id) {
            providers[Int(number)].late += 1
            return .late(ended.purpose)
        }
        if now < forgotten.until, numbers.position(of: call) <= forgotten.through {
            providers[Int(number)].late += 1
            return .late(nil)
        }
        providers[Int(number)].unknown += 1
        // A call that this run never made may be one of an earlier run, which its provider did not hear was over.
        if isOfEarlierRun(call), providers[Int(number)].strangersLeft > 0,
            now - providers[Int(number)].registeredAt < limits.strangerSpan
        {
            providers[Int(number)].strangersLeft -= 1
        } else {
            _ = noteFault(of: number)
        }
        return .unknownCall
    }

    /// Whether a call is none that this run made.
    package func isOfEarlierRun(_ call: CallID) -> Bool { numbers.position(of: call) >= numbers.given }

    /// What a call was for that was this provider's, be it registered or not, and over before it was answered.
    package func lateCall(_ call: CallID, of id: EntityID) -> LateCall? {
        let slot = numbers.slot(of: call)
        guard calls.contains(slot), calls[slot].place == .late, calls[slot].id == call, calls[slot].providerID == id
        else { return nil }
        return calls[slot].deadline > now ? LateCall(purpose: calls[slot].purpose, kind: calls[slot].kindNumber) : nil
    }

    /// The same of one that is answered now: the next time it is not known.
    package mutating func takeLate(_ call: CallID, of id: EntityID) -> LateCall? {
        guard let ended = lateCall(call, of: id) else { return nil }
        let slot = numbers.slot(of: call)
        calls.unlink(slot, from: &late)
        calls.remove(slot)
        return ended
    }

    /// Keeps a call that is over and in no list, because its answer may still come.
    mutating func keepForLate(_ slot: UInt32) {
        calls[slot].deadline = now + limits.lateSpan
        calls.append(slot, to: &late, as: .late)
        guard late.count > limits.lateCalls else { return }
        let oldest = late.first
        let position = numbers.position(of: calls[oldest].id)
        forgotten = (max(forgotten.through, position), max(forgotten.until, calls[oldest].deadline))
        calls.unlink(oldest, from: &late)
        calls.remove(oldest)
    }

    /// - Returns: whether the provider was dropped for it.
    private mutating func noteFault(of number: UInt32) -> Bool {
        guard providers[Int(number)].faults.note(at: now) else { return false }
        ban(providers[Int(number)].id, providers[Int(number)].peer)
        lose(number, .faults)
        return true
    }

    private mutating func ban(_ id: EntityID, _ peer: [UInt8]) {
        bans.removeAll { $0.until <= now }
        if bans.count >= limits.maximumBans { bans.removeFirst() }
        bans.append(ProviderBan(id: id, peer: peer, until: now + limits.banSpan))
    }

    /// Until when a provider or its connection may not register.
    func banEnd(_ id: EntityID, _ peer: [UInt8]) -> Milliseconds? {
        bans.last { $0.until > now && ($0.id == id || $0.peer == peer) }?.until
    }
}
