import IsletCore
import IsletServer

/// Watches what goes into a table and what comes out, and judges it by the rules alone: it knows nothing of queues,
/// wheels and breakers.
struct ProviderObserver {
    struct Provider {
        let id: EntityID
        let peer: [UInt8]
        var kinds: Set<UInt32>
        var capacity: Int
        /// The largest that held since the effects were taken last.
        var turnCapacity: Int
        var isDraining = false
        /// What it was sent.
        var inFlight: Set<CallID> = []
    }

    struct OpenCall {
        let kind: UInt32
        let within: Milliseconds
        /// Of a read that was not sent yet the first at which it may fail.
        var deadline: Milliseconds
        /// In which order it was asked for.
        let number: Int
        var sent: [(id: CallID, to: ProviderRef)] = []
        var isInFlight = false
    }

    private(set) var providers: [ProviderRef: Provider] = [:]
    /// Those that are gone, until the effects say so.
    private var gone: [ProviderRef: Provider] = [:]
    /// Who may not register, and until when.
    private var bans: [(id: EntityID, peer: [UInt8], until: Milliseconds)] = []
    /// For each kind, its providers in the order in which they declared it.
    private var order: [UInt32: [ProviderRef]] = [:]
    private(set) var open: [ProviderTable.Purpose: OpenCall] = [:]
    /// Calls that were over before they were answered: whose, and until when they are late.
    private var late: [CallID: (provider: EntityID, until: Milliseconds)] = [:]
    private(set) var history: [CallID] = []
    private var seen: Set<CallID> = []
    private var requests = 0
    /// No breaker ever opens: who is chosen, and in which order, can be told exactly.
    let isExact: Bool
    let limits: ProviderTable.Limits
    private(set) var problem: String?
    /// How often something was judged that is rare.
    private(set) var refusals = 0
    /// How many reads that waited went back to the owner.
    private(set) var givenBack = 0

    init(isExact: Bool, limits: ProviderTable.Limits) {
        self.isExact = isExact
        self.limits = limits
    }

    func provider(_ id: EntityID) -> ProviderRef? { providers.first { $0.value.id == id }?.key }

    // MARK: What goes in

    mutating func registered(
        _ reference: ProviderRef, _ id: EntityID, peer: [UInt8], kinds: Set<UInt32>, capacity: Int,
        at now: Milliseconds
    ) {
        if expectedRefusal(id, peer, kinds: kinds.count, at: now) != nil { note("\(id) may not register") }
        let known = providers[reference]
        if known == nil {
            providers[reference] = Provider(id: id, peer: peer, kinds: [], capacity: capacity, turnCapacity: capacity)
        } else if known?.peer != peer || known?.id != id {
            note("\(reference) is another provider")
        }
        let before = providers[reference]?.kinds ?? []
        for kind in before.subtracting(kinds) { order[kind]?.removeAll { $0 == reference } }
        for kind in kinds.subtracting(before) { order[kind, default: []].append(reference) }
        providers[reference]?.kinds = kinds
        providers[reference]?.capacity = capacity
        providers[reference]?.turnCapacity = max(capacity, known?.turnCapacity ?? 0)
        providers[reference]?.isDraining = false
    }

    mutating func refused(
        _ refusal: ProviderTable.RegistrationRefusal, _ id: EntityID, peer: [UInt8], kinds: Int, at now: Milliseconds
    ) {
        refusals += 1
        let expected = expectedRefusal(id, peer, kinds: kinds, at: now)
        if refusal != expected { note("a registration is refused as \(refusal) and not \(String(describing: expected))") }
    }

    private func expectedRefusal(
        _ id: EntityID, _ peer: [UInt8], kinds: Int, at now: Milliseconds
    ) -> ProviderTable.RegistrationRefusal? {
        if let ban = bans.last(where: { $0.until > now && ($0.id == id || $0.peer == peer) }) {
            return .banned(retryAfter: ban.until - now)
        }
        if kinds > limits.maximumKindsPerProvider { return .tooManyKinds }
        return provider(id) == nil && providers.count >= limits.maximumProviders ? .tooManyProviders : nil
    }

    /// An input is through, and these providers are there; the others are gone, and whatever they had and did not end by
    /// that waits for another.
    ///
    /// - Parameter isFault: whether only faults can have been the reason.
    mutating func left(_ rest: [ProviderRef], isFault: Bool, at now: Milliseconds) {
        for (reference, provider) in providers where !rest.contains(reference) {
            gone[reference] = provider
            providers[reference] = nil
            for kind in provider.kinds { order[kind]?.removeAll { $0 == reference } }
            if isFault { bans.append((provider.id, provider.peer, now + limits.banSpan)) }
        }
    }

    /// Whether a provider has a call.
    private func isWithProvider(_ call: OpenCall) -> Bool {
        call.isInFlight && call.sent.last.map { providers[$0.to] != nil } ?? false
    }

    mutating func drained(_ reference: ProviderRef) { providers[reference]?.isDraining = true }

    mutating func requested(
        _ purpose: ProviderTable.Purpose, kind: UInt32, within: Milliseconds, _ result: ProviderTable.Request,
        at now: Milliseconds
    ) {
        let isServed = providers.values.contains { $0.kinds.contains(kind) && !$0.isDraining }
        if isServed == (result == .noProvider) { note("\(result) where served is \(isServed)") }
        guard result == .accepted else { return }
        requests += 1
        open[purpose] = OpenCall(kind: kind, within: within, deadline: now + within, number: requests)
    }

    mutating func cancelled(
        _ purpose: ProviderTable.Purpose, _ result: ProviderTable.Cancellation, at now: Milliseconds
    ) {
        let call = open.removeValue(forKey: purpose)
        let expected: ProviderTable.Cancellation =
            if let call { isWithProvider(call) ? .inFlight : .waiting } else { .unknown }
        if result != expected { note("cancelled: \(result) instead of \(expected)") }
        guard let call, call.isInFlight, let last = call.sent.last else { return }
        becameLate(call, at: now)
        // Whoever is gone is told nothing of it.
        gone[last.to]?.inFlight.remove(last.id)
    }

    /// A provider sent something about a call.
    mutating func told(
        _ id: EntityID, peer: [UInt8], _ call: CallID, isEnd: Bool, _ verdict: ProviderTable.Verdict,
        at now: Milliseconds
    ) {
        let reference = providers.first { $0.value.id == id && $0.value.peer == peer }?.key
        var expected = ProviderTable.Verdict.notRegistered
        if let reference {
            if let purpose = open.first(where: { $0.value.isInFlight && $0.value.sent.last?.id == call })?.key,
                providers[reference]?.inFlight.contains(call) == true
            {
                expected = .taken(purpose)
                providers[reference]?.inFlight.remove(call)
                if isEnd { open[purpose] = nil } else { open[purpose]?.isInFlight = false }
            } else if let known = late[call], known.provider == id {
                expected = known.until > now ? .late(nil) : .unknownCall
                late[call] = nil
            } else if let lost = gone.first(where: { $0.value.id == id && $0.value.inFlight.contains(call) })?.key {
                // It came back before the effects say that it was lost; its call is another one's by then.
                waitsForRetry(call, at: now)
                gone[lost]?.inFlight.remove(call)
                late[call] = nil
                expected = .late(nil)
            } else {
                expected = .unknownCall
            }
        }
        if verdict != expected, !(verdict.isLate && expected.isLate) { note("\(verdict) instead of \(expected)") }
    }

    // MARK: What comes out

    mutating func take(_ effect: ProviderTable.Effect, at now: Milliseconds) {
        switch effect {
        case .send(let id, let reference, let purpose, let attempt, let within):
            takeSend(id, reference, purpose, attempt, within, at: now)
        case .cancel(let id, let reference, let reason):
            let isThere = providers[reference]?.inFlight.remove(id) != nil
            let wasThere = gone[reference]?.inFlight.remove(id) != nil
            if !isThere, !wasThere { note("\(effect) of a call that it has not") }
            guard reason == .timedOut else { return }
            guard let purpose = open.first(where: { $0.value.isInFlight && $0.value.sent.last?.id == id })?.key,
                let call = open[purpose]
            else { return note("\(effect) of a call that is not open") }
            becameLate(call, at: now)
            open[purpose]?.isInFlight = false
        case .givenBack(let purpose, _):
            guard let call = open.removeValue(forKey: purpose) else { return note("\(effect), which was not open") }
            if !purpose.isRead || !call.sent.isEmpty { note("\(effect), which was sent or is no read") }
            let kept = open.count { $0.key.isRead && $0.value.kind == call.kind && $0.value.sent.isEmpty }
            if kept < limits.nextReads { note("\(effect), though none is left as the next one") }
            givenBack += 1
        case .failed(let purpose, let failure, let wasSent):
            takeFailed(purpose, failure, wasSent: wasSent, at: now)
        case .ping(let reference):
            if providers[reference] == nil, gone[reference] == nil { note("\(effect) to nobody") }
        case .dropped(let reference, _):
            guard let provider = gone[reference] else { return note("\(effect) of nobody") }
            for id in provider.inFlight { waitsForRetry(id, at: now) }
            gone[reference] = nil
        }
    }

    /// All effects were taken.
    mutating func turnEnded() {
        for (reference, provider) in providers { providers[reference]?.turnCapacity = provider.capacity }
    }

    private mutating func takeSend(
        _ id: CallID, _ reference: ProviderRef, _ purpose: ProviderTable.Purpose, _ attempt: Int,
        _ within: Milliseconds, at now: Milliseconds
    ) {
        guard let provider = providers[reference], var call = open[purpose] else {
            return note("a send to nobody or for nothing")
        }
        if purpose.isRead, call.sent.isEmpty { call.deadline = now + call.within }
        if !seen.insert(id).inserted { note("\(id) is used twice") }
        history.append(id)
        if provider.isDraining || !provider.kinds.contains(call.kind) { note("a send to one who does not take it") }
        if provider.inFlight.count >= provider.turnCapacity { note("a send to one who is full") }
        if within != call.deadline - now || within < 1 { note("within \(within) of \(call.deadline - now)") }
        if attempt != call.sent.count + 1 || attempt > 2 { note("attempt \(attempt) after \(call.sent.count)") }
        if attempt == 2, purpose.isPerform { note("an action was sent twice") }
        if let first = call.sent.last {
            if first.to == reference { note("a retry at the same provider") }
            // Its provider was lost, else it would not be in flight any more.
            if call.isInFlight { becameLate(call, at: now) }
            providers[first.to]?.inFlight.remove(first.id)
            gone[first.to]?.inFlight.remove(first.id)
        } else if isExact {
            judgeOrder(of: call, purpose)
            judgeChoice(of: reference, call)
        }
        providers[reference]?.inFlight.insert(id)
        open[purpose]?.deadline = call.deadline
        open[purpose]?.sent.append((id, reference))
        open[purpose]?.isInFlight = true
    }

    /// Nothing of the same sort and kind was asked for before and still waits for its first attempt.
    private mutating func judgeOrder(of call: OpenCall, _ purpose: ProviderTable.Purpose) {
        for (other, waiting) in open where waiting.kind == call.kind && waiting.sent.isEmpty && other != purpose {
            let comesFirst =
                switch (other.isPerform, purpose.isPerform) {
                case (true, false): true
                case (false, true): false
                // A question may come before reads, and a read before one, in turn.
                case (true, true), (false, false): other.isRead == purpose.isRead && waiting.number < call.number
                }
            if comesFirst { note("\(purpose) was sent before \(other)") }
        }
    }

    /// None was less loaded, or as much and declared the kind earlier.
    private mutating func judgeChoice(of reference: ProviderRef, _ call: OpenCall) {
        guard let chosen = providers[reference], let kind = order[call.kind] else { return }
        var isBefore = true
        for other in kind {
            if other == reference {
                isBefore = false
                continue
            }
            guard let provider = providers[other], !provider.isDraining, provider.inFlight.count < provider.capacity
            else { continue }
            let (left, right) =
                (provider.inFlight.count * chosen.capacity, chosen.inFlight.count * provider.capacity)
            if left < right || left == right && isBefore { note("\(other) had less to do than \(reference)") }
        }
    }

    private mutating func takeFailed(
        _ purpose: ProviderTable.Purpose, _ failure: CallFailure, wasSent: Bool, at now: Milliseconds
    ) {
        guard let call = open.removeValue(forKey: purpose) else { return note("\(purpose) failed and was not open") }
        if wasSent == call.sent.isEmpty { note("\(purpose) is said to have been sent: \(wasSent)") }
        if let last = call.sent.last, call.isInFlight {
            providers[last.to]?.inFlight.remove(last.id)
            gone[last.to]?.inFlight.remove(last.id)
            becameLate(call, at: now)
        }
        let isServed = providers.values.contains { $0.kinds.contains(call.kind) && !$0.isDraining }
        switch failure {
        case .timedOut: if now < call.deadline { note("timed out too early") }
        // Its control would wait for a registration that has been.
        case .noProvider: if isServed { note("no provider, and there is one") }
        case .providerLost, .threw, .badAnswer: if call.sent.isEmpty { note("\(failure) before it was sent") }
        case .none, .busy, .unknownOutcome: note("\(failure) is not the table's to say")
        }
    }

    /// The provider of a call was lost, and nothing was said of the call: it waits for another one.
    private mutating func waitsForRetry(_ id: CallID, at now: Milliseconds) {
        guard let (purpose, call) = open.first(where: { $0.value.isInFlight && $0.value.sent.last?.id == id }) else {
            return note("a lost provider had a call that was not open")
        }
        if purpose.isPerform || call.sent.count > 1 { note("\(purpose) was lost and has no end") }
        becameLate(call, at: now)
        open[purpose]?.isInFlight = false
    }

    private mutating func becameLate(_ call: OpenCall, at now: Milliseconds) {
        guard let last = call.sent.last, let id = (providers[last.to] ?? gone[last.to])?.id else { return }
        late[last.id] = (id, now + 600_000)
    }

    // MARK: In between

    /// After everything due was done: nothing is overdue, and nothing waits that somebody could take.
    mutating func judgeRest(at now: Milliseconds, isLive: (ProviderRef) -> Bool) {
        for (purpose, call) in open where call.deadline <= now && !(purpose.isRead && call.sent.isEmpty) {
            note("\(purpose) lives past its deadline")
        }
        for (purpose, call) in open where !call.isInFlight {
            for reference in order[call.kind] ?? [] where call.sent.last?.to != reference {
                guard let provider = providers[reference], !provider.isDraining,
                    provider.inFlight.count < provider.capacity, isLive(reference)
                else { continue }
                note("\(purpose) waits although \(reference) is free")
            }
        }
    }

    private mutating func note(_ text: String) {
        if problem == nil { problem = text }
    }
}

extension ProviderTable.Purpose {
    var isPerform: Bool {
        switch self {
        case .perform, .performWidget: true
        case .value, .timeline, .question: false
        }
    }

    var isRead: Bool {
        switch self {
        case .value, .timeline: true
        case .perform, .performWidget, .question: false
        }
    }
}
