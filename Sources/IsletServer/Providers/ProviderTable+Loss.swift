import IsletCore

extension ProviderTable {
    /// Takes a provider out of the table; its calls are retried elsewhere or fail.
    ///
    /// The work is bounded by its calls in flight and its kinds.
    mutating func lose(_ number: UInt32, _ reason: DropReason) {
        let lost = reference(to: number)
        if providerNumbers[providers[Int(number)].id] == number { providerNumbers[providers[Int(number)].id] = nil }
        attention.remove(number)
        removePeer(providers[Int(number)].peerNumber)
        providers[Int(number)].isGone = true
        if providers[Int(number)].isCutOff { cutOffs -= 1 }
        let places = providers[Int(number)].kinds
        providers[Int(number)].kinds = []
        providers[Int(number)].lostKinds = places.map { kinds[Int($0)].number }
        for place in places { quit(place, number) }
        // What it never got is given to others before what is asked for a second time, as far as it comes first.
        let unsent = withdrawUnsent(of: number)
        dispatchAgain(unsent.actions)
        var again: [UInt32] = []
        while providers[Int(number)].calls.first != CallList.end {
            if let slot = loseCall(providers[Int(number)].calls.first, of: lost) { again.append(slot) }
        }
        dispatchAgain(again + unsent.others)
        effects.append(.dropped(lost, reason))
        gone.untaken.append(number)
    }

    /// A call that was sent.
    ///
    /// - Returns: the one in its place that is to be sent once more, where it may be. Who had it is gone and need not be
    ///   kept from it, so it waits as what was never sent does, and not for another than its first provider.
    private mutating func loseCall(_ slot: UInt32, of lost: ProviderRef) -> UInt32? {
        totals.lost += 1
        calls.unlink(slot, from: &providers[Int(lost.number)].calls)
        let purpose = calls[slot].purpose
        if mayRetry(slot, except: lost) {
            // The old number stays with its slot: should the provider come back, its answer is late.
            let fresh = calls.insert(calls[slot])
            byPurpose.replace(Self.hash(purpose), slot, by: fresh)
            deadlines.cancel(slot)
            deadlines.arm(fresh, at: Instant(calls[fresh].deadline))
            keepForLate(slot)
            calls[fresh].attempt = 2
            calls[fresh].isSent = false
            return fresh
        }
        let isServed = kinds[Int(calls[slot].kind)].open > 0
        effects.append(
            .failed(purpose, isServed || purpose.isAction ? .providerLost : .noProvider, wasSent: true))
        close(slot)
        keepForLate(slot)
        return nil
    }

    /// Fewer providers take calls of a kind: what nobody may get any more fails.
    mutating func abandonWaiting(of place: UInt32) {
        serveAsidesElsewhere(of: place)
        let kind = kinds[Int(place)]
        if kind.open == 0 {
            guard kind.waiting > 0, !kind.isOrphan else { return }
            kinds[Int(place)].isOrphan = true
            orphans.append(place)
        } else if kind.open == 1, !kind.retries.isEmpty,
            let only = kind.providers.first(where: { !providers[Int($0)].isDraining })
        {
            failRetries(of: place, onlyFor: reference(to: only))
        }
    }

    /// Retries that wait for another provider than the only one that is left; at most ``Limits/waitingRetries``.
    private mutating func failRetries(of place: UInt32, onlyFor provider: ProviderRef) {
        var slot = kinds[Int(place)].retries.first
        while slot != CallList.end {
            let next = calls[slot].next
            if calls[slot].excluded == provider {
                unlinkWaiting(slot)
                fail(slot, calls[slot].reason)
            }
            slot = next
        }
    }

    /// Fails what waits for kinds that nobody provides any more, unless somebody does again.
    mutating func failOrphans() {
        var work = limits.workPerAdvance
        while let place = orphans.last {
            if kinds[Int(place)].open == 0 {
                while let slot = firstWaiting(of: place) {
                    guard work > 0 else { return }
                    work -= 1
                    unlinkWaiting(slot)
                    fail(slot, .noProvider)
                }
            }
            orphans.removeLast()
            kinds[Int(place)].isOrphan = false
            forgetIfUnused(place)
        }
    }
}
