import IsletCore

extension ProviderTable {
    /// The least loaded provider that may get a call now.
    ///
    /// An action, or a question, goes to one whose breaker is not closed only where no provider of its kind has a closed one,
    /// be it busy or not, but for one that has failed it: it could not be asked for again in its time. Or, an action, where
    /// they are all busy, and it ``Provider/isTriedByActions(at:)``.
    func bestProvider(of place: UInt32, for purpose: Purpose, except excluded: ProviderRef = .none) -> UInt32? {
        let aside = aside(purpose, of: place, except: excluded)
        let needsClosed = purpose.aside != nil && aside == nil
        var (best, tried): (UInt32?, UInt32?)
        for number in kinds[Int(place)].providers {
            let provider = providers[Int(number)]
            guard provider.isAvailable(aside, at: now), reference(to: number) != excluded else { continue }
            if needsClosed, !provider.breaker.isClosed {
                if tried == nil, purpose.isAction, provider.isTriedByActions(at: now) { tried = number }
            } else if best.map({ isLessLoaded(Int(number), than: Int($0)) }) ?? true {
                best = number
            }
        }
        return best ?? tried
    }

    /// As what a call is let through beside the breakers of its kind's providers; nil where one of them is closed that has not
    /// failed it, or it has to wait for them.
    private func aside(_ purpose: Purpose, of place: UInt32, except excluded: ProviderRef) -> CircuitBreaker.Aside? {
        purpose.aside.flatMap { outlook(of: place, except: excluded) == .good ? nil : $0 }
    }

    /// Whether a provider has less to do for its size than another.
    private func isLessLoaded(_ one: Int, than other: Int) -> Bool {
        providers[one].calls.count * providers[other].capacity < providers[other].calls.count * providers[one].capacity
    }

    /// Gives a call that is in no list to a provider: the owner is to send it.
    mutating func send(_ slot: UInt32, to number: UInt32) {
        let id = numbers.next(slot: slot)
        if calls[slot].hasTimeAhead { restartTime(of: slot) }
        calls[slot].id = id
        calls[slot].sentAt = now
        calls[slot].isSent = false
        calls[slot].provider = reference(to: number)
        calls[slot].providerID = providers[Int(number)].id
        calls.append(slot, to: &providers[Int(number)].calls, as: .inFlight)
        let aside = aside(calls[slot].purpose, of: calls[slot].kind, except: calls[slot].excluded)
        providers[Int(number)].breaker.sent(id, aside)
        if providers[Int(number)].pingAt > now + limits.pingBusy {
            providers[Int(number)].pingAt = now + limits.pingBusy
            attend(number)
        }
        effects.append(
            .send(
                id, to: calls[slot].provider, calls[slot].purpose, attempt: Int(calls[slot].attempt),
                within: max(1, calls[slot].deadline - now)))
    }

    /// Lets the whole time of a call begin now.
    mutating func restartTime(of slot: UInt32) {
        let deadline = now + calls[slot].within
        guard deadline != calls[slot].deadline else { return }
        calls[slot].deadline = deadline
        deadlines.arm(slot, at: Instant(deadline))
    }

    /// The owner has sent a call: its provider has it.
    package mutating func delivered(_ call: CallID) {
        guard isInFlight(call) else { return }
        let slot = numbers.slot(of: call)
        guard !calls[slot].isSent else { return }
        calls[slot].isSent = true
        providers[Int(calls[slot].provider.number)].sent += 1
        totals.calls += 1
    }

    /// Lets a call that is in no list wait.
    mutating func wait(_ slot: UInt32, as place: Call.Place) {
        let kind = Int(calls[slot].kind)
        countWaiting(slot, 1)
        switch place {
        case .actions: calls.append(slot, to: &kinds[kind].actions, as: place)
        case .retries: calls.append(slot, to: &kinds[kind].retries, as: place)
        case .values: calls.append(slot, to: &kinds[kind].values, as: place)
        case .none, .inFlight, .late: preconditionFailure("calls wait in their kind's queues")
        }
    }

    /// A call waits, or does so no more.
    private mutating func countWaiting(_ slot: UInt32, _ change: Int) {
        waiting += change
        let place = Int(calls[slot].kind)
        if calls[slot].purpose.aside == .question { kinds[place].questions += change }
        guard calls[slot].purpose.isRead else { return }
        kinds[place].reads += change
        guard calls[slot].isFreshRead else { return }
        kinds[place].freshReads += change
        if change > 0, kinds[place].freshReads == change { beginLine(of: place) }
    }

    /// Reads of a kind begin to wait that did not fail before. Where none of its providers has a closed breaker, these are
    /// tried soon, however long they rest by now.
    private mutating func beginLine(of place: Int) {
        kinds[place].freshSince = now
        guard outlook(of: UInt32(place)) != .good else { return }
        for number in kinds[place].providers {
            if providers[Int(number)].breaker.hurry(at: now) { attend(number) }
        }
    }

    /// Lets a call that is in no list, and whose turn it was before, wait before all others of its sort.
    private mutating func waitFirst(_ slot: UInt32) {
        let kind = Int(calls[slot].kind)
        countWaiting(slot, 1)
        switch (calls[slot].purpose.isAction, calls[slot].excluded == .none) {
        case (true, _): calls.prepend(slot, to: &kinds[kind].actions, as: .actions)
        case (false, true): calls.prepend(slot, to: &kinds[kind].values, as: .values)
        case (false, false): calls.prepend(slot, to: &kinds[kind].retries, as: .retries)
        }
    }

    /// Takes a call that was never sent out of the hands of its provider.
    mutating func withdraw(_ slot: UInt32) {
        let number = Int(calls[slot].provider.number)
        calls.unlink(slot, from: &providers[number].calls)
        providers[number].breaker.withdrew(calls[slot].id)
    }

    /// The calls of a provider that were never sent to it, taken out of its hands: actions, and all others, each in
    /// order.
    ///
    /// - Parameter kind: the place of the only kind that it is about; nil: all.
    mutating func withdrawUnsent(
        of number: UInt32, kind: UInt32? = nil
    ) -> (actions: [UInt32], others: [UInt32]) {
        var (actions, others): ([UInt32], [UInt32]) = ([], [])
        var slot = providers[Int(number)].calls.first
        while slot != CallList.end {
            let next = calls[slot].next
            if !calls[slot].isSent, kind.map({ $0 == calls[slot].kind }) ?? true {
                withdraw(slot)
                if calls[slot].purpose.isAction { actions.append(slot) } else { others.append(slot) }
            }
            slot = next
        }
        return (actions, others)
    }

    /// Gives calls that are in no list, and that nobody has any more, to others, in order, or lets them wait before all
    /// others: their turn had come. So the queues may exceed their limits by what one provider had in flight.
    mutating func dispatchAgain(_ slots: [UInt32]) {
        var rest: [UInt32] = []
        for slot in slots {
            let call = calls[slot]
            if call.deadline > now, let other = bestProvider(of: call.kind, for: call.purpose, except: call.excluded) {
                send(slot, to: other)
            } else {
                rest.append(slot)
            }
        }
        for slot in rest.reversed() { waitFirst(slot) }
        for slot in rest { abandonWaiting(of: calls[slot].kind) }
    }

    /// A provider takes no more calls, of all kinds or of one: what it was not sent yet goes to others.
    mutating func giveBackUnsent(of number: UInt32, kind: UInt32? = nil) {
        let unsent = withdrawUnsent(of: number, kind: kind)
        dispatchAgain(unsent.actions)
        dispatchAgain(unsent.others)
    }

    /// Takes a call out of its kind's queue.
    mutating func unlinkWaiting(_ slot: UInt32) {
        let kind = Int(calls[slot].kind)
        countWaiting(slot, -1)
        switch calls[slot].place {
        case .actions: calls.unlink(slot, from: &kinds[kind].actions)
        case .retries: calls.unlink(slot, from: &kinds[kind].retries)
        case .values: calls.unlink(slot, from: &kinds[kind].values)
        case .none, .inFlight, .late: preconditionFailure("calls wait in their kind's queues")
        }
    }

    /// The next of a kind's calls that wait, whoever may get it.
    func firstWaiting(of place: UInt32) -> UInt32? {
        let kind = kinds[Int(place)]
        if !kind.actions.isEmpty { return kind.actions.first }
        if !kind.retries.isEmpty { return kind.retries.first }
        return kind.values.isEmpty ? nil : kind.values.first
    }

    /// Gives a provider what waits for it, as long as it may get calls: at most its capacity.
    ///
    /// Where the next one is overdue it goes on when the wheel has come by, which is told to end only so many at a time.
    mutating func serve(_ number: UInt32) {
        guard waiting > 0 else { return }
        while let (slot, nextKind) = nextWaiting(for: number) {
            guard calls[slot].deadline > now else { return serveLater(number) }
            providers[Int(number)].nextKind = nextKind
            providers[Int(number)].isQuestionsTurn = calls[slot].purpose.aside != .question
            unlinkWaiting(slot)
            send(slot, to: number)
        }
    }

    private mutating func serveLater(_ number: UInt32) {
        guard !providers[Int(number)].isUnserved else { return }
        providers[Int(number)].isUnserved = true
        unserved.append(number)
    }

    /// Goes on with the providers that met an overdue call.
    mutating func serveOthers() {
        guard !unserved.isEmpty else { return }
        let numbers = unserved
        unserved.removeAll()
        for number in numbers {
            providers[Int(number)].isUnserved = false
            serve(number)
        }
    }

    /// A provider of a kind answers, or may: what came to wait while none did would stand before all that is asked for now.
    mutating func noteCrowd(of place: UInt32) {
        guard kinds[Int(place)].reads > limits.doubtfulReads, !kinds[Int(place)].isCrowded else { return }
        kinds[Int(place)].isCrowded = true
        crowded.append(place)
    }

    /// Gives reads back that wait beside those that may. Behind so many questions that one turn does not reach it, one waits
    /// for the next answer of its kind.
    mutating func giveBackReads() {
        var work = limits.workPerAdvance
        while let place = crowded.last, work > 0 {
            var room = roomForReads(outlook(of: place))
            var slot = kinds[Int(place)].values.first
            var hasGivenBack = false
            while slot != CallList.end, work > 0 {
                work -= 1
                let next = calls[slot].next
                if calls[slot].hasTimeAhead {
                    room -= 1
                    if room < 0 {
                        effects.append(.givenBack(calls[slot].purpose, isAwaited: calls[slot].isAwaited))
                        unlinkWaiting(slot)
                        forget(slot)
                        hasGivenBack = true
                    }
                }
                slot = next
            }
            if slot != CallList.end, hasGivenBack { return }
            crowded.removeLast()
            kinds[Int(place)].isCrowded = false
            forgetIfUnused(place)
        }
    }

    /// A provider of a kind has gone, drains, or has no closed breaker any more: where it was the last with a closed one, what
    /// waited for it and for which somebody waits goes to the others.
    mutating func serveAsidesElsewhere(of place: UInt32) {
        guard !kinds[Int(place)].actions.isEmpty || kinds[Int(place)].questions > 0, outlook(of: place) != .good
        else { return }
        for number in kinds[Int(place)].providers { serveLater(number) }
    }

    /// What a provider may get next: an action of one of its kinds before all others, and its kinds in turn. A question
    /// for which somebody waits, and whose time runs meanwhile, comes before the reads of all kinds, but only every other time.
    ///
    /// - Returns: the call, and the kind whose turn is next.
    func nextWaiting(for number: UInt32) -> (slot: UInt32, nextKind: Int)? {
        let takesActions = providers[Int(number)].isAvailable(.action, at: now)
        let takesQuestions = providers[Int(number)].isAvailable(.question, at: now)
        let takesOthers = providers[Int(number)].isAvailable(at: now)
        guard takesActions || takesQuestions || takesOthers else { return nil }
        let count = providers[Int(number)].kinds.count
        var index = providers[Int(number)].nextKind
        var found: (slot: UInt32, nextKind: Int)?
        var question: UInt32?
        let takesQuestionsFirst = takesOthers && providers[Int(number)].isQuestionsTurn
        for _ in 0..<count {
            if index >= count { index = 0 }
            let place = providers[Int(number)].kinds[index]
            index += 1
            if takesActions, !kinds[Int(place)].actions.isEmpty,
                providers[Int(number)].breaker.isClosed || providers[Int(number)].isTriedByActions(at: now)
                    || outlook(of: place) != .good
            {
                return (kinds[Int(place)].actions.first, index)
            }
            if takesQuestionsFirst, question == nil { question = firstQuestion(of: place, for: number) }
            guard found == nil else { continue }
            if takesQuestions, let slot = firstAside(of: place, for: number) {
                found = (slot, index)
            } else if takesOthers, let slot = firstReading(of: place, for: number) {
                found = (slot, index)
            }
        }
        return question.map { ($0, providers[Int(number)].nextKind) } ?? found
    }

    /// The next value or options call of a kind that may go to a provider: of those that nobody failed, the first, but as a
    /// probe the last, and one that did not fail before any other. A question is no probe: it goes to one with a closed
    /// breaker, or beside all. At most ``Limits/waitingRetries`` are looked at.
    private func firstReading(of place: UInt32, for number: UInt32) -> UInt32? {
        let kind = kinds[Int(place)]
        let isProbe = !providers[Int(number)].breaker.isClosed
        if isProbe, kind.freshReads > 0, let slot = value(of: kind, where: { $0.isFreshRead }) { return slot }
        let takesReadsAlone = kind.questions > 0 && isProbe
        if let slot = firstRetry(of: kind, for: number, where: { !takesReadsAlone || $0.purpose.isRead }) { return slot }
        guard !kind.values.isEmpty else { return nil }
        if takesReadsAlone { return value(of: kind, where: { $0.purpose.isRead }) }
        return isProbe ? kind.values.last : kind.values.first
    }

    /// The next question of a kind that goes to a provider beside its breaker: the last, which has most of its time left. One
    /// that was failed before may, though the provider that failed it has a closed one.
    private func firstAside(of place: UInt32, for number: UInt32) -> UInt32? {
        guard kinds[Int(place)].questions > 0 else { return nil }
        let kind = kinds[Int(place)]
        let retry = firstRetry(
            of: kind, for: number, where: { aside($0.purpose, of: place, except: $0.excluded) == .question })
        if let retry { return retry }
        guard outlook(of: place) != .good else { return nil }
        return value(of: kind, where: { $0.purpose.aside == .question })
    }

    /// The next question of a kind that may go to a provider whose breaker is closed: the first for which somebody
    /// waits.
    private func firstQuestion(of place: UInt32, for number: UInt32) -> UInt32? {
        guard kinds[Int(place)].questions > 0, providers[Int(number)].breaker.isClosed else { return nil }
        let kind = kinds[Int(place)]
        return firstRetry(of: kind, for: number, where: { $0.isAwaitedQuestion })
            ?? value(of: kind, isFirst: true, where: { $0.isAwaitedQuestion })
    }

    /// At most ``Limits/waitingRetries`` wait.
    private func firstRetry(of kind: ProvidedKind, for number: UInt32, where isMeant: (Call) -> Bool) -> UInt32? {
        let own = reference(to: number)
        var slot = kind.retries.first
        while slot != CallList.end {
            if calls[slot].excluded != own, isMeant(calls[slot]) { return slot }
            slot = calls[slot].next
        }
        return nil
    }

    /// The first that is meant of the calls that wait for the first time, or the last. At most ``Limits/waitingRetries`` are
    /// looked at.
    private func value(of kind: ProvidedKind, isFirst: Bool = false, where isMeant: (Call) -> Bool) -> UInt32? {
        var slot = isFirst ? kind.values.first : kind.values.last
        for _ in 0..<limits.waitingRetries {
            guard slot != CallList.end else { return nil }
            if isMeant(calls[slot]) { return slot }
            slot = isFirst ? calls[slot].next : calls[slot].previous
        }
        return nil
    }

    /// Sends a call again that is in no list and is no action and that a provider failed, or lets it wait for another
    /// one, or lets it fail for good.
    mutating func retry(_ slot: UInt32, except excluded: ProviderRef, _ reason: CallFailure) {
        let place = calls[slot].kind
        calls[slot].attempt = 2
        calls[slot].isSent = false
        calls[slot].excluded = excluded
        calls[slot].hasFailed = true
        calls[slot].reason = reason
        if let provider = bestProvider(of: place, for: calls[slot].purpose, except: excluded) {
            send(slot, to: provider)
        } else if kinds[Int(place)].retries.count < limits.waitingRetries {
            wait(slot, as: .retries)
        } else {
            fail(slot, reason)
        }
    }

    /// Whether a call may be sent once more.
    func mayRetry(_ slot: UInt32, except excluded: ProviderRef) -> Bool {
        let call = calls[slot]
        guard !call.purpose.isAction, call.attempt == 1, call.deadline > now else { return false }
        return kinds[Int(call.kind)].providers.contains { number in
            reference(to: number) != excluded && !providers[Int(number)].isDraining
        }
    }
}
