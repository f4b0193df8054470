package import IsletCore

extension ProviderTable {
    /// Asks for a call: it is sent now or waits for its turn.
    ///
    /// The owner asks for a control's value only while neither its value nor its action is asked for, and the other way
    /// round.
    ///
    /// - Parameters:
    ///   - kind: the owner's number of the kind.
    ///   - within: the call's time from now on, at least 1 ms.
    ///   - hasFailed: whether what it asks for failed the last time that it was asked for.
    ///   - isAwaited: of a read or a question, whether somebody waits for it: such a question comes before reads every other
    ///     time, and of a read ``Effect/givenBack(_:isAwaited:)`` says it again.
    package mutating func request(
        _ purpose: Purpose, kind: UInt32, within: Milliseconds, hasFailed: Bool = false, isAwaited: Bool = false,
        at time: Milliseconds
    ) -> Request {
        clock(time)
        guard let place = kindPlaces[kind], kinds[Int(place)].open > 0 else { return .noProvider }
        precondition(find(purpose) == nil, "one call for a control at a time")
        guard openCalls < limits.maximumCalls else { return .busy }
        let provider = bestProvider(of: place, for: purpose)
        if provider == nil, isFull(place, for: purpose) { return .busy }

        let slot = calls.insert(Call(purpose, kind: place, numbered: kind, within: max(1, within), at: now))
        calls[slot].hasFailed = hasFailed
        calls[slot].isAwaited = isAwaited
        byPurpose.insert(Self.hash(purpose), slot)
        deadlines.arm(slot, at: Instant(calls[slot].deadline))
        kinds[Int(place)].calls += 1
        if let provider { send(slot, to: provider) } else { wait(slot, as: purpose.isAction ? .actions : .values) }
        return .accepted
    }

    /// Takes a call back, where there is one: nothing more comes of it.
    package mutating func cancel(
        _ purpose: Purpose, _ reason: CancelReason, at time: Milliseconds
    ) -> Cancellation {
        clock(time)
        guard let slot = find(purpose), calls[slot].purpose == purpose else { return .unknown }
        guard calls[slot].place == .inFlight else {
            unlinkWaiting(slot)
            forget(slot)
            return .waiting
        }
        let provider = calls[slot].provider
        guard calls[slot].isSent else {
            withdraw(slot)
            forget(slot)
            serve(provider.number)
            return .waiting
        }
        takeBack(slot, reason)
        providers[Int(provider.number)].breaker.withdrew(calls[slot].id)
        close(slot)
        keepForLate(slot)
        serve(provider.number)
        return .inFlight
    }

    /// Takes all calls back, because the service stops.
    package mutating func stop(at time: Milliseconds) {
        clock(time)
        for number in providers.indices {
            while providers[number].calls.first != CallList.end {
                let slot = providers[number].calls.first
                if calls[slot].isSent { takeBack(slot, .stopping) } else { withdraw(slot) }
                forget(slot)
            }
        }
        for place in kinds.indices {
            while let slot = firstWaiting(of: UInt32(place)) {
                unlinkWaiting(slot)
                forget(slot)
            }
        }
    }

    /// Whether a value or a timeline of what is placed may be asked for now. It is held back while the providers of its kind
    /// are busy, however many want to be asked about:
    ///
    /// - Where a provider is free, it is sent at once.
    /// - Where all are busy, one of each kind waits as the next one, among actions, questions and other kinds, so that its
    ///   turn comes; its time begins when it is sent.
    /// - Where none has a closed breaker, two do: the probe is the one asked for last, see ``takesProbes(of:)``. Those that
    ///   failed the last time leave room for others.
    /// - Where nobody takes it, it may be asked for: it fails at once.
    /// - Where all providers of its kind answer nothing (``Outlook/hopeless``), it waits with its deadline and fails by that:
    ///   whoever looks at it is told so. Once one answers again, those that wait so are given back, to be held back as all
    ///   others. One that answers now and then keeps the others waiting, for as long as it takes: they are loading or
    ///   reloading, as they say.
    ///
    /// - Parameter failed: whether what is to be asked for failed the last time.
    package func hasRoomForReads(of kind: UInt32, failed: Bool = false) -> Bool {
        guard let place = kindPlaces[kind], kinds[Int(place)].open > 0 else { return true }
        guard openCalls < limits.openReads else { return false }
        if kinds[Int(place)].providers.contains(where: { providers[Int($0)].isAvailable(at: now) }) { return true }
        let waiting = kinds[Int(place)]
        let outlook = outlook(of: place)
        let reads = outlook == .doubtful && !failed ? waiting.freshReads : waiting.reads
        return reads < roomForReads(outlook)
    }

    /// How many reads of a kind may wait.
    func roomForReads(_ outlook: Outlook) -> Int {
        switch outlook {
        case .good: limits.nextReads
        case .doubtful: limits.doubtfulReads
        case .hopeless: limits.waitingReads
        }
    }

    /// Whether the next read of a kind that is asked for is one by which a provider is tried: then it need not be the first of
    /// its line, since those that stand together may be of one device that is away, and would fail one after the other; and one
    /// that failed the last time waits for others.
    package func takesProbes(of kind: UInt32) -> Bool {
        guard let place = kindPlaces[kind] else { return false }
        return switch outlook(of: place) {
        case .good: false
        case .doubtful: true
        case .hopeless: kinds[Int(place)].providers.contains { providers[Int($0)].isAvailable(at: now) }
        }
    }

    /// Whether the calls of a kind are likely to be answered. What failed before reads began to wait that had not failed
    /// themselves says nothing of these.
    ///
    /// - Parameter excluded: one that is not asked, whatever it does.
    func outlook(of place: UInt32, except excluded: ProviderRef = .none) -> Outlook {
        var outlook = Outlook.hopeless
        let start = kinds[Int(place)].freshReads > 0 ? kinds[Int(place)].freshSince : .min
        for number in kinds[Int(place)].providers where !providers[Int(number)].isDraining {
            let provider = providers[Int(number)]
            guard reference(to: number) != excluded else { continue }
            if provider.breaker.isClosed { return .good }
            if !provider.answersNothing(since: start, for: limits.patience, at: now) { outlook = .doubtful }
        }
        return outlook
    }

    private func isFull(_ place: UInt32, for purpose: Purpose) -> Bool {
        purpose.isAction
            ? kinds[Int(place)].actions.count >= limits.waitingActions
            : kinds[Int(place)].values.count >= limits.waitingValues
    }

    /// The call of the same control or widget, or of the same question.
    func find(_ purpose: Purpose) -> UInt32? {
        byPurpose.find(Self.hash(purpose)) { slot in
            switch (calls[slot].purpose, purpose) {
            case (.value(let one), .value(let other)), (.value(let one), .perform(let other)),
                (.perform(let one), .value(let other)), (.perform(let one), .perform(let other)):
                one == other
            case (.timeline(let one), .timeline(let other)), (.timeline(let one), .performWidget(let other)),
                (.performWidget(let one), .timeline(let other)), (.performWidget(let one), .performWidget(let other)):
                one == other
            case (.question(let one), .question(let other)): one == other
            case (.value, _), (.perform, _), (.timeline, _), (.performWidget, _), (.question, _): false
            }
        }
    }

    /// The same for a control's value and its action, and for a widget's timeline and its action.
    static func hash(_ purpose: Purpose) -> UInt64 {
        let key =
            switch purpose {
            case .value(let control), .perform(let control): UInt64(control.generation) << 32 | UInt64(control.slot)
            case .timeline(let widget), .performWidget(let widget):
                ~(UInt64(widget.generation) << 32 | UInt64(widget.slot))
            case .question(let number): number ^ 0x5555_5555_5555_5555
            }
        // A good mixing is enough: the numbers are the owner's own, and not a client's.
        let mixed = (key ^ key >> 32) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ mixed << 17
    }

    /// Takes a call out of the hands of its provider, and tells it.
    mutating func takeBack(_ slot: UInt32, _ reason: CancelReason) {
        let provider = calls[slot].provider
        calls.unlink(slot, from: &providers[Int(provider.number)].calls)
        effects.append(.cancel(calls[slot].id, at: provider, reason))
    }

    /// Ends a call that is in no list: its purpose and its deadline are free.
    mutating func close(_ slot: UInt32) {
        if !reasons.kept.isEmpty { reasons.kept[slot] = nil }
        byPurpose.remove(Self.hash(calls[slot].purpose), slot)
        deadlines.cancel(slot)
        let place = calls[slot].kind
        kinds[Int(place)].calls -= 1
        if kinds[Int(place)].calls == 0 { forgetIfUnused(place) }
    }

    /// Ends a call that is in no list, and forgets it.
    mutating func forget(_ slot: UInt32) {
        close(slot)
        calls.remove(slot)
    }

    /// Ends a call that is in no list without an answer.
    mutating func fail(_ slot: UInt32, _ failure: CallFailure) {
        effects.append(.failed(calls[slot].purpose, failure, wasSent: calls[slot].wasSent))
        if failure == .threw, let reason = reasons.kept[slot] { reasons.told[calls[slot].purpose] = reason }
        forget(slot)
    }
}
