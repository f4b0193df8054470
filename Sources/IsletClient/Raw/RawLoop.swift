import ZeroMQ

/// The actor behind a ``RawConnection``: it owns a socket for commands and one for events, on a thread of its own.
actor RawLoop: BusLoop {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// More commands than this do not wait for their answers.
    static let maximumExchanges = 1_024
    /// More subscriptions than this are refused: each costs time for every event.
    static let maximumReaders = 256
    /// Events that wait here for this thread; beyond, the service's socket keeps some, and then loses them.
    private static let waitingEvents: Int32 = 20_000
    /// Messages that one turn takes from one socket, so that the other gets its share.
    private static let messagesPerTurn = 256
    /// What is subscribed to by one that hands events on and has applied none: the service does not wait for its reports.
    private static let relay = [0xFF] + Array("relay".utf8)
    /// A join that goes unanswered for so long is asked for again.
    private static let joinPatience = Duration.seconds(2)

    private struct Exchange {
        var continuation: CheckedContinuation<Result<[UInt8], IsletError>, Never>
        /// The op, where it is a change that somebody asks for.
        var change: String?
        var timeout: Duration
        var deadline: ContinuousClock.Instant
    }

    private struct Reader {
        var prefix: [UInt8]
        var take: @Sendable (RawDelivery) -> Void
        /// The topic of the join under way; nil once it is answered.
        var join: [UInt8]?
        var joinDeadline: ContinuousClock.Instant
    }

    var poller = Poller()
    private let endpoints: Endpoints
    private var commands: Outlet
    private let events: Socket
    private var subscription: SubscriptionLink
    private var message = Message()
    private var followsEvents = false
    private var isClosed = false
    private var exchanges: [UInt32: Exchange] = [:]
    private var lastExchange: UInt32 = 0
    private var readers: [Int: Reader] = [:]
    private var lastReader = 0

    /// Makes the sockets and connects the one for commands. Called on the thread.
    init(on thread: BusThread, endpoints: Endpoints) throws(IsletError) {
        self.thread = thread
        self.endpoints = endpoints
        do throws(ZeroMQError) {
            let context = try ZeroMQContext()
            commands = try Outlet(context: context, poller: &poller)
            events = try Socket(.sub, in: context)
            try events.set(.sendHighWaterMark, to: 0)
            try events.set(.receiveHighWaterMark, to: Self.waitingEvents)
            try Outlet.setConnectionOptions(events)
            _ = poller.add(events)
            subscription = try SubscriptionLink(of: events, in: context, poller: &poller)
        } catch {
            throw .endpoint("a ZeroMQ socket", reason: error.description)
        }
        do throws(ZeroMQError) {
            try commands.connect(endpoints.commands)
        } catch {
            throw .endpoint(endpoints.commands, reason: error.description)
        }
    }

    func turn() -> NextTurn {
        var isBusy = receiveAnswers()
        isBusy = receiveEvents() || isBusy
        let now = ContinuousClock.now
        endExchanges(now)
        repeatJoins(now)
        _ = subscription.takeLoss(now: now)
        subscription.renew(events, at: endpoints.events, now: now)
        commands.flush(now: now, poller: &poller) { $0.requests.contains { exchanges[UInt32($0) ?? 0] != nil } }
        if isBusy { return .immediately }
        let deadlines = exchanges.values.lazy.map(\.deadline).min()
        let joins = readers.values.lazy.filter { $0.join != nil }.map(\.joinDeadline).min()
        let wakeUps = [deadlines, joins, commands.nextWakeUp, subscription.nextWakeUp]
        guard let wakeUp = wakeUps.compactMap(\.self).min() else { return .whenReady }
        return .within(milliseconds: now.duration(to: wakeUp).millisecondsToWait)
    }

    func finish() {
        isClosed = true
        commands.close()
        events.close()
        subscription.close()
        for exchange in exchanges.values { exchange.continuation.resume(returning: .failure(.closed)) }
        exchanges = [:]
        for reader in readers.values { reader.take(.ended) }
        readers = [:]
    }

    // MARK: Commands

    func exchange(_ frame: [UInt8], change: String?, timeout: Duration) async -> Result<[UInt8], IsletError> {
        guard !isClosed else { return .failure(.closed) }
        guard exchanges.count < Self.maximumExchanges else {
            return .failure(.overloaded(limit: Self.maximumExchanges))
        }
        lastExchange &+= 1
        let id = lastExchange
        return await withCheckedContinuation { continuation in
            exchanges[id] = Exchange(
                continuation: continuation, change: change, timeout: timeout, deadline: .now + timeout)
            // The envelope of the contract: a number of four bytes and an empty frame, which the answer echoes.
            let envelope = (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
            commands.send(.init(frames: [envelope, [], frame], requests: [String(id)]))
        }
    }

    /// Takes what has come by the commands socket; true where there may be more.
    private func receiveAnswers() -> Bool {
        for _ in 0..<Self.messagesPerTurn {
            guard let frames = commands.receive(into: &message) else { return false }
            guard frames.count == 3, frames[0].count == 4, frames[1].isEmpty else { continue }
            let id = frames[0].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            exchanges.removeValue(forKey: id)?.continuation.resume(returning: .success(frames[2]))
        }
        return true
    }

    private func endExchanges(_ now: ContinuousClock.Instant) {
        for (id, exchange) in exchanges where exchange.deadline <= now {
            exchanges[id] = nil
            let error = IsletError.timedOut(after: exchange.timeout, change: unanswered(id, exchange))
            exchange.continuation.resume(returning: .failure(error))
        }
    }

    /// The changes that wait for their answers.
    func unansweredChanges() -> UnansweredChanges {
        var changes = UnansweredChanges()
        for (id, exchange) in exchanges.sorted(by: { $0.key < $1.key }) {
            if let change = unanswered(id, exchange) { changes.add(change) }
        }
        return changes
    }

    private func unanswered(_ id: UInt32, _ exchange: Exchange) -> UnansweredChange? {
        exchange.change.map { UnansweredChange(op: $0, wasSent: !commands.holds(req: String(id))) }
    }

    // MARK: Events

    func follow(_ prefix: [UInt8], _ take: @escaping @Sendable (RawDelivery) -> Void) -> Result<Int, IsletError> {
        guard !isClosed else { return .failure(.closed) }
        guard readers.count < Self.maximumReaders else { return .failure(.overloaded(limit: Self.maximumReaders)) }
        if !followsEvents {
            do throws(ZeroMQError) {
                try subscription.connect(events, to: endpoints.events, now: .now)
            } catch {
                return .failure(.endpoint(endpoints.events, reason: error.description))
            }
            try? events.subscribe(Self.relay)
            followsEvents = true
        }
        lastReader += 1
        readers[lastReader] = Reader(prefix: prefix, take: take, joinDeadline: .now)
        try? events.subscribe(prefix)
        join(lastReader)
        return .success(lastReader)
    }

    func unfollow(_ id: Int) {
        guard let reader = readers.removeValue(forKey: id) else { return }
        try? events.unsubscribe(reader.prefix)
        if let join = reader.join { try? events.unsubscribe(join) }
    }

    /// Asks for a join of a reader, on a fresh nonce: of the one app that its prefix names, or of all.
    private func join(_ id: Int) {
        guard let reader = readers[id] else { return }
        if let join = reader.join { try? events.unsubscribe(join) }
        var topic = [0xFF] + Array("join/\(ClientIdentity.hexadecimal(bytes: 16))".utf8)
        let app = reader.prefix.prefix { $0 != UInt8(ascii: "/") }
        if app.count < reader.prefix.count { topic += [UInt8(ascii: "/")] + app }
        readers[id]?.join = topic
        readers[id]?.joinDeadline = .now + Self.joinPatience
        try? events.subscribe(topic)
    }

    private func repeatJoins(_ now: ContinuousClock.Instant) {
        for (id, reader) in readers where reader.join != nil && reader.joinDeadline <= now { join(id) }
    }

    /// Takes what has come by the subscriptions; true where there may be more.
    private func receiveEvents() -> Bool {
        guard followsEvents else { return false }
        for _ in 0..<Self.messagesPerTurn {
            guard let (topic, body) = receiveEvent() else { return false }
            deliver(topic, body)
        }
        return true
    }

    private func deliver(_ topic: [UInt8], _ body: [UInt8]) {
        guard topic.first != 0xFF else {
            if let (id, reader) = readers.first(where: { $0.value.join == topic }) {
                readers[id]?.join = nil
                try? events.unsubscribe(topic)
                reader.take(.joined(body))
            }
            return
        }
        for reader in readers.values where reader.join == nil && topic.starts(with: reader.prefix) {
            reader.take(.event(topic: topic, body: body))
        }
    }

    /// One message of two frames; others are none of the contract, and are skipped.
    private func receiveEvent() -> (topic: [UInt8], body: [UInt8])? {
        while true {
            var frames: [[UInt8]] = []
            repeat {
                guard let got = try? events.receive(into: &message), got else { return nil }
                if frames.count < 2 { frames.append(message.bytes) }
            } while message.more
            if frames.count == 2 { return (frames[0], frames[1]) }
        }
    }
}
