/// What the service sends.
extension ProviderMachine {
    /// Takes a frame in; one that is none of the contract is passed over.
    package mutating func received(
        _ bytes: [UInt8], now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        guard let frame = RawObject(bytes) else { return [] }
        // Anything is a sign of life.
        heardAt = now
        switch phase {
        case .resting, .outliving, .ended: return []
        case .registering, .registered, .draining, .leaving: break
        }
        switch frame["op"]?.string {
        case "provider.cancel": return frame["call"]?.string.map { cancelled($0, now) } ?? []
        case "provider.ping": return [.send(frame: self.frame("provider.pong"))]
        case "provider.dropped":
            guard frame["provider"]?.string ?? id == id else { return [] }
            return dropped(frame["reason"]?.string ?? "unknown", now, using: &generator)
        case .some: return called(frame, now)
        case nil: return answered(bytes, now, using: &generator)
        }
    }

    var registrationRequest: String { "register-\(registrations)" }
    /// Asks what rules the service has: a timeline with more entries than they allow would be a fault.
    var rulesRequest: String { "rules-\(registrations)" }
    var drainRequest: String { "drain-\(registrations)" }
    var goodbyeRequest: String { "leave-\(registrations)" }

    /// A frame of the provider's own that has no other fields.
    func frame(_ op: String) -> [UInt8] {
        let members: RawObject = ["op": .string(op), "provider": .string(id)]
        return members.json.bytes
    }

    func fail(_ call: String, _ message: String) -> Effect {
        .send(frame: ProviderReply.failed(message: message, isRetryable: true).frame(call: call, provider: id))
    }

    // MARK: Calls

    private mutating func called(_ frame: RawObject, _ now: ContinuousClock.Instant) -> [Effect] {
        guard
            let call = ProviderCall(frame, number: lastNumber + 1, now: now, maximumEntries: maximumEntries)
        else { return misunderstood(frame) }
        guard remember(call.id) else { return [] }
        lastNumber = call.number
        switch phase {
        case .registering, .registered: return wait(call)
        // An action that fails is not tried with another provider; all else is.
        case .draining(_, crossed: .some) where call.purpose.isAction: return wait(call)
        case .draining: return [fail(call.id, "the provider is stopping")]
        case .resting, .outliving, .leaving, .ended: return []
        }
    }

    private mutating func wait(_ call: ProviderCall) -> [Effect] {
        guard waiting.count < capacity else { return [fail(call.id, "all places are taken")] }
        waiting.append(call)
        return []
    }

    /// A call that asks for something in a way that this release does not know fails at once. What has another `op` is
    /// passed over, as the contract says.
    private func misunderstood(_ frame: RawObject) -> [Effect] {
        guard let call = frame["call"]?.string, let op = frame["op"]?.string, ProviderCall.operations.contains(op) else {
            return []
        }
        switch phase {
        case .registering, .registered, .draining: return [fail(call, "a call of \(op) that this provider cannot read")]
        case .resting, .outliving, .leaving, .ended: return []
        }
    }

    private mutating func cancelled(_ call: String, _ now: ContinuousClock.Instant) -> [Effect] {
        _ = remember(call)
        if let number = atWork.removeValue(forKey: call) { return [.cancel(number: number)] }
        guard waiting.contains(where: { $0.id == call }) else { return [] }
        waiting.removeAll { $0.id == call }
        return goOn(now)
    }

    /// Whether this id is new.
    private mutating func remember(_ call: String) -> Bool {
        guard !recent.contains(call) else { return false }
        if recent.count < Self.maximumRecent {
            recent.append(call)
        } else {
            recent[nextRecent] = call
            nextRecent = (nextRecent + 1) % Self.maximumRecent
        }
        return true
    }

    // MARK: Answers and refusals

    private mutating func answered(
        _ bytes: [UInt8], _ now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        let (req, result) = Answer.read(bytes)
        if lateReloads.received(result, to: req, now: now) { return [] }
        if req == rulesRequest { return ruled(result) }
        if req == goodbyeRequest, case .leaving(_, let grace) = phase { return outlive(until: grace, now) }
        switch (phase, result) {
        case (.registering, .success(let answer)) where req == registrationRequest: return registered(answer, now)
        case (.registering, .failure(.refused(let error))) where req == registrationRequest:
            return refused(error, now, using: &generator)
        // It is the one thing that was said, and cannot be read.
        case (.registering, .failure(.refused(let error))) where req == nil && error.code == .badMessage:
            return outlive(until: now + grace, then: .refused(error), now)
        case (.registered, .failure(.refused(let error))) where req == nil:
            guard error.code == .notFound else { return [.tell(.answerRefused(error))] }
            return lose("the service does not know this provider", now, reconnects: true, using: &generator)
        case (.draining(let until, _), .failure(.refused(let error))) where error.code == .notFound:
            return outlive(until: until, now)
        case (.draining(let until, _), _) where req == drainRequest: return drained(until: until, now)
        default: return []
        }
    }

    /// Where the rules cannot be had, those hold that are usual.
    private mutating func ruled(_ result: Result<Answer, IsletError>) -> [Effect] {
        let rules = (try? result.get())?["info"]?.object?["ruleSet"]?.object
        maximumEntries = rules?["maximumTimelineEntries"]?.integer.flatMap(Int.init(exactly:)) ?? ProviderLimits.entries
        return []
    }

    private mutating func registered(_ answer: Answer, _ now: ContinuousClock.Instant) -> [Effect] {
        phase = .registered
        attempt = 0
        conflictSince = nil
        silence = answer["pingLimit"]?.integer.map { .milliseconds(max(1, $0)) } ?? Self.usualSilence
        return [.tell(.registered(controls: controls, widgets: widgets))] + reloads(now)
    }

    private mutating func refused(
        _ error: ServiceError, _ now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        if error.code == .conflict { conflictSince = conflictSince ?? now }
        let mayPass = error.code == .conflict && conflictSince.map { now < $0 + Self.conflictLimit } == true
        guard error.retry == .later || mayPass else { return outlive(until: now + grace, then: .refused(error), now) }
        waiting = []
        return [.tell(.registrationRefused(error))]
            + rest(atLeast: .milliseconds(error.retryAfter ?? 0), now, using: &generator)
    }

    private mutating func dropped(
        _ reason: String, _ now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        switch phase {
        case .draining(let until, _), .leaving(_, let until): outlive(until: until, now)
        case .resting, .registering, .registered, .outliving, .ended:
            lose("dropped by the service: \(reason)", now, reconnects: true, using: &generator)
        }
    }
}
