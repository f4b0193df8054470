import IsletProtocol

/// A provider's side of its conversation with the service, from registration to goodbye.
///
/// A pure value; time and chance are passed in. Calls wait until ``begin()``, which is asked for after all that came
/// together was taken in: after a pause of the process a call may stand before its own end, and must not begin then.
package struct ProviderMachine: Sendable {
    /// A registration that is not answered for so long is tried again on a new connection.
    package static let registrationLimit = Duration.seconds(5)
    /// So long after the first `conflict` a registration that is refused with it is tried again. Who declares a kind
    /// differently may be this provider's own predecessor, which was killed: the service needs ``usualSilence`` to find
    /// that out, and this is longer.
    package static let conflictLimit = Duration.seconds(20)
    /// The answer to a drain, and a goodbye, are not waited for any longer than this.
    package static let goodbyeLimit = Duration.seconds(1)
    /// How many calls are remembered, so that none begins twice.
    package static let maximumRecent = 1_024
    /// How long the service may be silent, where its answer does not say.
    static let usualSilence = Duration.seconds(15)
    static let backoff = Backoff(first: .milliseconds(200), maximum: .seconds(10))

    /// A kind's name and what is said of it.
    package typealias Declaration = (name: String, declaration: RawJSON)

    /// What is to be done now.
    package enum Effect: Sendable {
        /// Withdraw what waits to be sent, then send this.
        case register(frame: [UInt8])
        case send(frame: [UInt8])
        /// Give the connection up for a new one.
        case reconnect
        /// Run the handler of this call; then comes ``ProviderMachine/finished(_:_:)``.
        case begin(ProviderCall)
        /// Nobody waits for the call of this number any more.
        case cancel(number: UInt64)
        case tell(ProviderEvent)
        /// It is over; there is nothing after this.
        case end(IsletError?)
    }

    enum Phase: Sendable, Hashable {
        /// Until it registers, again.
        case resting(until: ContinuousClock.Instant)
        case registering(until: ContinuousClock.Instant)
        case registered
        /// No new calls; those at work may end. Until the drain is answered, if it is in time, calls may come that the
        /// service made before it had read that.
        case draining(until: ContinuousClock.Instant, crossed: ContinuousClock.Instant?)
        /// Goodbye is said. Handlers that are at work all the same have the rest of the grace.
        case leaving(until: ContinuousClock.Instant, grace: ContinuousClock.Instant)
        /// The service is told nothing more, and handlers at work may end; then it is over, well or with this error.
        case outliving(until: ContinuousClock.Instant, then: IsletError?)
        case ended
    }

    /// The provider's identity.
    package let id: String
    let registration: RawObject
    let controls: [String]
    let widgets: [String]
    let capacity: Int
    let grace: Duration

    var phase: Phase
    /// How many registrations there were: the newest one's `req` has the number.
    var registrations: UInt64 = 0
    /// How many registrations in a row came to nothing.
    var attempt = 0
    /// Since when they were refused with `conflict`, if the newest ones were.
    var conflictSince: ContinuousClock.Instant?
    var heardAt: ContinuousClock.Instant
    var silence = usualSilence
    /// The service's rule, of the newest connection.
    var maximumEntries = ProviderLimits.entries

    /// Calls that wait for a place, at most ``capacity``.
    var waiting: [ProviderCall] = []
    /// The numbers of the calls at work that the service waits for, by its ids.
    var atWork: [String: UInt64] = [:]
    /// Handlers at work, also those of calls that were cancelled.
    private(set) var running = 0
    /// Those of actions among them.
    private var acting = 0
    var lastNumber: UInt64 = 0
    /// The ids of the newest calls and cancellations of this connection, as a ring.
    var recent: [String] = []
    var nextRecent = 0
    var lateReloads: LateReloads

    /// A provider that registers as soon as it may.
    ///
    /// - Parameters:
    ///   - kinds: the declarations of the kinds of controls.
    ///   - widgets: those of the kinds of widgets; there is at least one of the two.
    ///   - grace: how long a stop waits for the calls at work.
    package init(
        id: String, app: String, kinds: [Declaration], widgets: [Declaration] = [], capacity: Int, grace: Duration,
        now: ContinuousClock.Instant
    ) {
        self.id = id
        self.capacity = capacity
        self.grace = grace
        self.controls = kinds.map(\.name)
        self.widgets = widgets.map(\.name)
        var registration: RawObject = ["app": .string(app), "provider": .string(id)]
        if !kinds.isEmpty { registration["kinds"] = .array(kinds.map(\.declaration)) }
        if !widgets.isEmpty { registration["widgets"] = .array(widgets.map(\.declaration)) }
        registration["capacity"] = .integer(capacity)
        self.registration = registration
        let withSiblings = kinds.filter { $0.declaration.object?["reloadsSiblings"]?.bool == true }
        lateReloads = LateReloads(app: app, kindsWithSiblings: Set(withSiblings.map(\.name)))
        phase = .resting(until: now)
        heardAt = now
    }

    /// When `due` has something to do by the passing of time.
    package var nextWakeUp: ContinuousClock.Instant? {
        switch phase {
        case .resting(let until), .registering(let until), .leaving(let until, _), .outliving(let until, _): until
        case .registered: min(heardAt + silence, lateReloads.due ?? heardAt + silence)
        case .draining(let until, let crossed): min(until, heardAt + silence, crossed ?? until)
        case .ended: nil
        }
    }

    // MARK: What time and others bring

    /// What time has brought.
    package mutating func due(
        now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        guard let nextWakeUp, nextWakeUp <= now else { return [] }
        switch phase {
        case .resting: return register(now)
        case .registering: return lose("no answer to the registration", now, reconnects: true, using: &generator)
        case .registered:
            guard heardAt + silence <= now else { return reloads(now) }
            return lose("the service is silent", now, reconnects: true, using: &generator)
        case .draining(let until, _):
            guard now < until else { return forgetCalls() + leave(grace: until, now) }
            return heardAt + silence <= now ? outlive(until: until, now) : drained(until: until, now)
        case .leaving(_, let grace): return outlive(until: grace, now)
        case .outliving(_, let error): return end(error)
        case .ended: return []
        }
    }

    /// The connection is gone; libzmq makes another.
    package mutating func disconnected(
        now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        switch phase {
        case .resting, .outliving, .ended: []
        case .registering, .registered: lose("disconnected", now, reconnects: false, using: &generator)
        case .draining(let until, _), .leaving(_, let until): outlive(until: until, now)
        }
    }

    /// It shall end: no new calls, those at work have the grace, then goodbye.
    package mutating func stop(now: ContinuousClock.Instant) -> [Effect] {
        switch phase {
        case .resting: return outlive(until: now + grace, now)
        // The service may have taken one in already that registers, and call it. Its answer is waited for as that to a
        // goodbye is.
        case .registering, .registered:
            phase = .draining(until: now + grace, crossed: now + Self.goodbyeLimit)
            let command = Command("provider.drain", ["provider": .string(id)])
            let failed = waiting.filter { !$0.purpose.isAction }.map { fail($0.id, "the provider is stopping") }
            waiting.removeAll { !$0.purpose.isAction }
            return [.send(frame: command.frame(req: drainRequest, client: nil))] + failed + goOn(now)
        case .draining, .outliving, .leaving, .ended: return []
        }
    }

    /// A handler is through.
    package mutating func finished(
        _ call: ProviderCall, _ reply: ProviderReply, now: ContinuousClock.Instant
    ) -> [Effect] {
        running -= 1
        if call.purpose.isAction { acting -= 1 }
        // Else it was cancelled, or its connection is lost.
        guard atWork[call.id] == call.number else {
            lateReloads.ended(call, now: now)
            return goOn(now)
        }
        atWork[call.id] = nil
        return [.send(frame: readable(reply).frame(call: call.id, provider: id))] + goOn(now)
    }

    /// What is next where a stop begins or a handler is through. An end also waits for a handler that the service has
    /// given up: the end of the process would break it off all the same.
    mutating func goOn(_ now: ContinuousClock.Instant) -> [Effect] {
        switch phase {
        case .registered: return reloads(now)
        case .draining(let until, let crossed):
            let isThrough = crossed == nil && running == 0 && waiting.isEmpty
            return reloads(now) + (isThrough ? leave(grace: until, now) : [])
        case .outliving(_, let error): return running > 0 ? [] : end(error)
        case .resting, .registering, .leaving, .ended: return []
        }
    }

    /// Asks for the reloads that are owed, where it may.
    mutating func reloads(_ now: ContinuousClock.Instant) -> [Effect] {
        switch phase {
        case .registered, .draining: lateReloads.frames(now: now).map { .send(frame: $0) }
        case .resting, .registering, .leaving, .outliving, .ended: []
        }
    }

    /// What is said instead of an answer that the service cannot read: its refusal would not name the call, which would
    /// wait until its deadline.
    private func readable(_ reply: ProviderReply) -> ProviderReply {
        guard case .answer(let answer) = reply else { return reply }
        let isReadable = answer.members.allSatisfy { member in
            (try? JSONScanner.scanValue(member.value.slice.span)) != nil
        }
        guard !isReadable else { return reply }
        return .failed(
            message: "the answer nests deeper than \(JSONScanner.maximumDepth) objects and arrays", isRetryable: false)
    }

    /// The calls that have a place now, in order. Actions have places of their own: handlers that nobody waits for any more
    /// may keep those of values and timelines, and a person waits.
    package mutating func begin() -> [Effect] {
        switch phase {
        case .registered, .draining: break
        case .resting, .registering, .leaving, .outliving, .ended: return []
        }
        var effects: [Effect] = []
        var left: [ProviderCall] = []
        for call in waiting {
            guard (call.purpose.isAction ? acting : running - acting) < capacity else {
                left.append(call)
                continue
            }
            running += 1
            if call.purpose.isAction { acting += 1 }
            atWork[call.id] = call.number
            effects.append(.begin(call))
        }
        waiting = left
        return effects
    }

    // MARK: Changes of phase

    private mutating func register(_ now: ContinuousClock.Instant) -> [Effect] {
        registrations += 1
        phase = .registering(until: now + Self.registrationLimit)
        heardAt = now
        recent = []
        nextRecent = 0
        guard !widgets.isEmpty else { return [.register(frame: registrationFrame)] }
        // Right behind: calls come after its answer.
        let rules = Command("service.info", [:]).frame(req: rulesRequest, client: nil)
        return [.register(frame: registrationFrame), .send(frame: rules)]
    }

    private var registrationFrame: [UInt8] {
        Command("provider.register", registration).frame(req: registrationRequest, client: nil)
    }

    /// How many bytes the declarations take that it registers.
    package var registrationSize: Int { registrationFrame.count }

    mutating func lose(
        _ reason: String, _ now: ContinuousClock.Instant, reconnects: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        lateReloads.connectionLost(now: now)
        conflictSince = nil
        let effects = forgetCalls() + [.tell(.connectionLost(reason: reason))]
        return effects + (reconnects ? [.reconnect] : []) + rest(atLeast: .zero, now, using: &generator)
    }

    /// Waits before the next registration.
    mutating func rest(
        atLeast least: Duration, _ now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        attempt += 1
        phase = .resting(until: now + max(least, Self.backoff.delay(attempt: attempt, using: &generator)))
        return []
    }

    /// No more calls are on their way that crossed the drain.
    mutating func drained(until: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> [Effect] {
        phase = .draining(until: until, crossed: nil)
        return goOn(now)
    }

    private mutating func leave(grace: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> [Effect] {
        phase = .leaving(until: now + Self.goodbyeLimit, grace: grace)
        let command = Command("provider.leave", ["provider": .string(id)])
        return [.send(frame: command.frame(req: goodbyeRequest, client: nil))]
    }

    /// Ends without the service, but not before the handlers at work or this time: the end of the process would break
    /// them off in the middle of what they do.
    mutating func outlive(
        until: ContinuousClock.Instant, then error: IsletError? = nil, _ now: ContinuousClock.Instant
    ) -> [Effect] {
        guard running > 0, now < until else { return end(error) }
        phase = .outliving(until: until, then: error)
        return forgetCalls()
    }

    private mutating func end(_ error: IsletError?) -> [Effect] {
        let effects = forgetCalls()
        phase = .ended
        return effects + [.end(error)]
    }

    private mutating func forgetCalls() -> [Effect] {
        waiting = []
        defer { atWork = [:] }
        return atWork.values.sorted().map { .cancel(number: $0) }
    }
}
