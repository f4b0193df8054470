import IsletCore

extension ProviderTable {
    /// nil when all parts of the table agree; for tests. Takes time in proportion to all calls.
    package func checkInvariants() -> String? {
        let (listed, waitingListed, problem) = checkKinds()
        if let problem { return problem }
        var inFlight = 0
        for number in providers.indices {
            let provider = providers[number]
            if provider.isGone, !provider.calls.isEmpty { return "provider \(number) is gone and has calls" }
            if let problem = check(provider.calls, .inFlight) { return "provider \(number): \(problem)" }
            inFlight += provider.calls.count
            if !provider.isGone, let problem = check(provider, UInt32(number)) {
                return "provider \(number): \(problem)"
            }
        }
        let cutOff = providers.count { $0.isCutOff && !$0.isGone }
        if cutOffs != cutOff { return "\(cutOffs) are said to be cut off, and \(cutOff) are" }
        if let problem = check(late, .late) { return "late: \(problem)" }
        if waiting != waitingListed { return "\(waiting) are said to wait, and \(waitingListed) do" }
        let open = waitingListed + inFlight
        if open != openCalls { return "\(openCalls) calls are open, and \(open) are in lists" }
        if open != listed { return "the kinds have \(listed) calls, and \(open) are in lists" }
        if open != byPurpose.count { return "\(byPurpose.count) purposes for \(open) calls" }
        if open != deadlines.armedCount { return "\(deadlines.armedCount) deadlines for \(open) calls" }
        if late.count > limits.lateCalls { return "too many late calls" }
        for slot in reasons.kept.keys {
            let isRetried = calls[slot].place == .retries || calls[slot].place == .inFlight && calls[slot].attempt > 1
            if !isRetried { return "a reason of a call that is not sent once more" }
        }
        let live = providers.count { !$0.isGone }
        if live != providerNumbers.count { return "\(providerNumbers.count) ids for \(live) providers" }
        if live != attention.count { return "\(attention.count) providers are looked after, of \(live)" }
        if peerNumbers.count + freePeers.count != peers.count { return "a connection is lost" }
        return nil
    }

    private func checkKinds() -> (calls: Int, waiting: Int, problem: String?) {
        var (calls, waiting) = (0, 0)
        for place in kindPlaces.values {
            let kind = kinds[Int(place)]
            calls += kind.calls
            waiting += kind.waiting
            for (list, state) in [
                (kind.actions, Call.Place.actions), (kind.retries, .retries), (kind.values, .values),
            ] {
                if let problem = check(list, state) { return (0, 0, "kind \(kind.number): \(problem)") }
            }
            if kind.reads != count(kind.retries, \.purpose.isRead) + count(kind.values, \.purpose.isRead) {
                return (0, 0, "kind \(kind.number) counts its reads wrongly")
            }
            if kind.freshReads != count(kind.retries, \.isFreshRead) + count(kind.values, \.isFreshRead) {
                return (0, 0, "kind \(kind.number) counts its reads that did not fail wrongly")
            }
            let questions = [kind.retries, kind.values].reduce(0) { $0 + count($1, { $0.purpose.aside == .question }) }
            if kind.questions != questions { return (0, 0, "kind \(kind.number) counts its questions wrongly") }
            if kind.open != kind.providers.count(where: { !providers[Int($0)].isDraining }) {
                return (0, 0, "kind \(kind.number) counts its providers wrongly")
            }
            if !kind.isOrphan {
                if kind.open == 0, kind.waiting > 0 { return (0, 0, "kind \(kind.number) waits for nobody") }
                if kind.providers.isEmpty, kind.calls == 0, !kind.isCrowded { return (0, 0, "kind \(kind.number) is unused") }
            }
        }
        if kindPlaces.count + freeKinds.count != kinds.count { return (0, 0, "a kind is lost") }
        return (calls, waiting, nil)
    }

    private func count(_ list: CallList, _ isCounted: (Call) -> Bool) -> Int {
        var (count, slot) = (0, list.first)
        while slot != CallList.end {
            if isCounted(calls[slot]) { count += 1 }
            slot = calls[slot].next
        }
        return count
    }

    /// A provider that may get calls has none to get, unless it waits for its turn to be looked at.
    private func check(_ provider: Provider, _ number: UInt32) -> String? {
        if provider.peer != peers[Int(provider.peerNumber)].routingID { return "another connection" }
        if provider.kinds.contains(where: { !kinds[Int($0)].providers.contains(number) }) {
            return "not in its kind"
        }
        guard provider.breaker.opensUntil == nil, !provider.isUnserved else { return nil }
        return nextWaiting(for: number) == nil ? nil : "it may get calls, and some wait"
    }

    private func check(_ list: CallList, _ place: Call.Place) -> String? {
        var (found, before, slot) = (0, CallList.end, list.first)
        while slot != CallList.end {
            found += 1
            if found > list.count { return "a list goes round" }
            let call = calls[slot]
            if call.place != place { return "call \(slot) is in another list" }
            if call.previous != before { return "call \(slot) is linked wrongly" }
            if place != .late, find(call.purpose) != slot { return "call \(slot) is not found by its purpose" }
            if place != .late, deadlines.deadline(of: slot).milliseconds != call.deadline {
                return "call \(slot) has another deadline"
            }
            (before, slot) = (slot, call.next)
        }
        return found == list.count && list.last == before ? nil : "a list has lost calls"
    }
}
