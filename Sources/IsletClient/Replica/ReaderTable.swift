/// What the readers of a connection want done: plain data, performed by the connection in this order.
package enum ReaderAction: Sendable, Hashable {
    /// Subscribe to topics that begin so.
    case subscribe([UInt8])
    /// Take that back.
    case unsubscribe([UInt8])
    /// Send this by the bulk connection, for as long as its pull is wanted; see ``ReaderTable/wants(pull:)``.
    case send(pull: String, frame: [UInt8])
    /// Send this by the bulk connection: a further chunk of a pull may come, which this does not begin.
    case credit(frame: [UInt8])
    /// Send this by the bulk connection, if the service has heard of the pull and can be told at once.
    case cancel(pull: String, frame: [UInt8])
    /// Hand this to a reader.
    case deliver(reader: Int, Delivery)
    /// A reader's sequence ends: it is forgotten.
    case finish(reader: Int, IsletError?)
    /// A chunk that a peek has brought.
    case peeked(PullTable.Owner, BulkChunk)
    /// A peek has brought nothing for too long, or nothing of use, and is forgotten.
    case peekFailed(PullTable.Owner)
}

/// The readers of a connection: the replica of each, what is pulled for them, and when each question is asked again.
///
/// A pure value; time is passed in, and chance is the generator's. Every question has a deadline and a next step: a join
/// is asked for with another nonce, a pull is asked for again, and a digest is compared at another time.
package struct ReaderTable<Generator: RandomNumberGenerator & Sendable>: Sendable {
    /// More readers than this share no socket: each costs time for every event.
    package static var maximumReaders: Int { 256 }
    /// A filtered replica compares digests so often.
    package static var checkInterval: Duration { .seconds(20) }
    /// Where a comparison failed, it is made again so much later.
    package static var checkDelay: Duration { .seconds(1) }
    /// Joins are never closer together than this, whatever the service does.
    package static var joinSpacing: Duration { .milliseconds(50) }

    /// A reader that hears nothing for so long joins anew, unless chunks of a pull are coming in. A service that has nothing to tell is silent for longer, and
    /// is asked once between two watermarks then.
    package static var silence: Duration { .seconds(20) }

    /// One reader: its replica, and the times at which it wants something.
    private struct Reader: Sendable {
        let id: Int
        var replica: Replica
        /// When the next join begins; nil while none is due.
        var joinAt: ContinuousClock.Instant?
        /// How many joins went unanswered.
        var joinAttempt = 0
        /// Until when the join under way may take.
        var joinDeadline: ContinuousClock.Instant?
        var lastJoin: ContinuousClock.Instant?
        var checkAt: ContinuousClock.Instant
        /// Until when it may hear nothing.
        var silentUntil: ContinuousClock.Instant
        /// Whether its sequence has ended; it goes at the end of the present step.
        var isOver = false

        var wakeUp: ContinuousClock.Instant {
            min(checkAt, silentUntil, joinAt ?? checkAt, joinDeadline ?? checkAt)
        }
    }

    /// In the order of their numbers.
    private var readers: [Reader] = []
    private var lastReader = 0
    private var pulls = PullTable()
    private var generator: Generator
    /// Whether a pull was asked for that may begin at once.
    private var isPullNew = false
    /// Whether a reader has ended in the present step.
    private var hasEnded = false

    /// No readers yet.
    package init(generator: Generator) {
        self.generator = generator
    }

    // MARK: Readers

    /// Takes a reader in; nil where there are too many.
    ///
    /// - Parameter starts: after which event each app's stream begins, where that is in the past; nil: with the join.
    package mutating func add(
        _ scope: ReplicaScope, startingAfter starts: [String: UInt64]? = nil, now: ContinuousClock.Instant
    ) -> (reader: Int, actions: [ReaderAction])? {
        guard readers.count < Self.maximumReaders else { return nil }
        lastReader += 1
        readers.append(
            Reader(
                id: lastReader, replica: Replica(scope: scope, startingAfter: starts),
                checkAt: now + Self.checkInterval, silentUntil: now + Self.silence))
        return (lastReader, update(lastReader, now) { $0.start() })
    }

    /// Forgets a reader that nobody reads any more.
    package mutating func remove(_ reader: Int, now: ContinuousClock.Instant) -> [ReaderAction] {
        step(now) { table, actions in
            guard let index = table.index(of: reader) else { return }
            table.end(index, nil, &actions)
        }
    }

    /// The reader is behind: it is told nothing more until it has caught up.
    package mutating func pause(_ reader: Int, now: ContinuousClock.Instant) -> [ReaderAction] {
        update(reader, now) { $0.pause() }
    }

    /// The reader has caught up.
    package mutating func resume(_ reader: Int, now: ContinuousClock.Instant) -> [ReaderAction] {
        update(reader, now) { $0.resume() }
    }

    /// Whether what was to be sent of a pull is still of use.
    package func wants(pull: String) -> Bool { pulls.wants(req: pull) }

    /// The replica of a reader.
    package func replica(of reader: Int) -> Replica? {
        index(of: reader).map { readers[$0].replica }
    }

    // MARK: What comes in

    /// A message has come by the subscriptions.
    package mutating func received(
        topic: [UInt8], body: [UInt8], now: ContinuousClock.Instant
    ) -> [ReaderAction] {
        step(now) { table, actions in
            for index in table.readers.indices {
                table.update(index, now, &actions) { $0.received(topic: topic, body: body) }
                guard table.readers[index].replica.isHeard else { continue }
                table.readers[index].replica.isHeard = false
                table.readers[index].silentUntil = now + Self.silence
            }
        }
    }

    /// The connection of the subscriptions was lost; told before anything that came by another one.
    package mutating func disconnected(now: ContinuousClock.Instant) -> [ReaderAction] {
        step(now) { table, actions in
            for index in table.readers.indices {
                table.update(index, now, &actions) { $0.disconnected() }
            }
        }
    }

    /// A message has come by the bulk connection.
    package mutating func received(bulk frames: [[UInt8]], now: ContinuousClock.Instant) -> [ReaderAction] {
        step(now) { table, actions in
            switch table.pulls.received(frames, now: now) {
            case .chunk(let owner, let chunk) where owner.isPeek: actions.append(.peeked(owner, chunk))
            case .chunk(let owner, let chunk):
                // A join begins a snapshot that is coming in all over again: a long one of a quiet app would never end.
                if chunk.end == nil, let index = table.index(of: owner.reader) {
                    table.readers[index].silentUntil = now + Self.silence
                }
                table.update(owner, now, &actions) { $0.received(chunk, app: owner.app) }
            case .chunksLost(let owner):
                table.perform(table.pulls.cancel(owner), now, &actions)
                table.pullFailed(owner, now, &actions)
            case .digest(let owner, let digest):
                table.update(owner, now, &actions) { $0.received(digest: digest, app: owner.app) }
            case .digestFailed(let owner, let error):
                table.update(owner, now, &actions) { $0.digestFailed(error, app: owner.app) }
            case .unknown: break
            }
        }
    }

    // MARK: Time

    /// What time has brought.
    package mutating func due(now: ContinuousClock.Instant) -> [ReaderAction] {
        isPullNew = true
        return step(now) { table, actions in
            for index in table.readers.indices {
                if table.readers[index].checkAt <= now {
                    table.readers[index].checkAt = now + Self.checkInterval
                    table.update(index, now, &actions) { $0.checkDue() }
                }
                if table.readers[index].silentUntil <= now {
                    table.readers[index].silentUntil = now + Self.silence
                    table.update(index, now, &actions) { $0.silent() }
                }
                table.joinDue(index, now, &actions)
            }
        }
    }

    /// When `due` has something to do by the passing of time; nil while nothing waits.
    package var nextWakeUp: ContinuousClock.Instant? {
        let reader = readers.lazy.map(\.wakeUp).min()
        guard let pull = pulls.nextWakeUp else { return reader }
        return reader.map { min($0, pull) } ?? pull
    }

    private mutating func joinDue(_ index: Int, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]) {
        if let joinAt = readers[index].joinAt, joinAt <= now {
            join(index, now, &actions)
        } else if let deadline = readers[index].joinDeadline, deadline <= now {
            readers[index].joinDeadline = nil
            guard readers[index].replica.isJoining else { return }
            readers[index].joinAttempt += 1
            join(index, now, &actions)
        }
    }

    private mutating func join(_ index: Int, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]) {
        let wait = Backoff.joins.delay(attempt: readers[index].joinAttempt + 1, using: &generator)
        readers[index].joinAt = nil
        readers[index].lastJoin = now
        readers[index].joinDeadline = now + wait
        let nonce = ClientIdentity.hexadecimal(bytes: 16, using: &generator)
        update(index, now, &actions) { $0.join(nonce: nonce) }
    }

    // MARK: Peeks

    /// Asks for a pull that no reader follows.
    package mutating func peek(
        _ kind: PullTable.Kind, for owner: PullTable.Owner, now: ContinuousClock.Instant
    ) -> [ReaderAction] {
        step(now) { table, actions in
            table.request(kind, for: owner, notBefore: now, now, &actions)
        }
    }

    /// Gives such a pull up.
    package mutating func cancelPeek(of owner: PullTable.Owner, now: ContinuousClock.Instant) -> [ReaderAction] {
        step(now) { table, actions in
            table.perform(table.pulls.cancel(owner), now, &actions)
        }
    }

    // MARK: Steps

    /// Numbers rise, and so the place is found by halving.
    private func index(of reader: Int) -> Int? {
        var (low, high) = (0, readers.count)
        while low < high {
            let middle = (low + high) / 2
            if readers[middle].id < reader { low = middle + 1 } else { high = middle }
        }
        return low < readers.count && readers[low].id == reader ? low : nil
    }

    private mutating func update(
        _ reader: Int, _ now: ContinuousClock.Instant, _ body: (inout Replica) -> [ReplicaEffect]
    ) -> [ReaderAction] {
        step(now) { table, actions in
            guard let index = table.index(of: reader) else { return }
            table.update(index, now, &actions, body)
        }
    }

    /// One thing that happens; then what can be pulled begins, and who has ended is forgotten.
    private mutating func step(
        _ now: ContinuousClock.Instant, _ body: (inout Self, inout [ReaderAction]) -> Void
    ) -> [ReaderAction] {
        var actions: [ReaderAction] = []
        body(&self, &actions)
        if isPullNew {
            isPullNew = false
            perform(pulls.due(now: now), now, &actions)
        }
        if hasEnded {
            hasEnded = false
            readers.removeAll(where: \.isOver)
        }
        return actions
    }

    // MARK: Effects

    private mutating func update(
        _ owner: PullTable.Owner, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction],
        _ body: (inout Replica) -> [ReplicaEffect]
    ) {
        guard let index = index(of: owner.reader) else { return }
        update(index, now, &actions, body)
    }

    /// The choke point: the replica decides, then its effects become actions.
    private mutating func update(
        _ index: Int, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction],
        _ body: (inout Replica) -> [ReplicaEffect]
    ) {
        guard !readers[index].isOver else { return }
        let effects = body(&readers[index].replica)
        if readers[index].replica.isCheckDue {
            readers[index].checkAt = min(readers[index].checkAt, now + Self.checkDelay)
        }
        for effect in effects where !readers[index].isOver { perform(effect, index, now, &actions) }
    }

    private mutating func perform(
        _ effect: ReplicaEffect, _ index: Int, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]
    ) {
        let reader = readers[index].id
        switch effect {
        case .subscribe(let topic): actions.append(.subscribe(topic))
        case .unsubscribe(let topic): actions.append(.unsubscribe(topic))
        case .join:
            readers[index].joinAttempt = 0
            readers[index].joinAt = max(now, readers[index].lastJoin.map { $0 + Self.joinSpacing } ?? now)
        case .snapshot(let app, let prefix, let attempt):
            pull(.snapshot(prefix: prefix), .init(reader: reader, app: app), attempt, now, &actions)
        case .replay(let app, let from, let attempt):
            pull(.replay(from: from), .init(reader: reader, app: app), attempt, now, &actions)
        case .digest(let app, let prefix):
            pull(.digest(prefix: prefix), .init(reader: reader, app: app), 0, now, &actions)
        case .credit(let app): perform(pulls.credit(.init(reader: reader, app: app)), now, &actions)
        case .cancelPull(let app): perform(pulls.cancel(.init(reader: reader, app: app)), now, &actions)
        case .deliver(let delivery): actions.append(.deliver(reader: reader, delivery))
        case .fail(let error): end(index, error, &actions)
        }
    }

    private mutating func pull(
        _ kind: PullTable.Kind, _ owner: PullTable.Owner, _ attempt: Int, _ now: ContinuousClock.Instant,
        _ actions: inout [ReaderAction]
    ) {
        let delay = attempt == 0 ? .zero : Backoff.pulls.delay(attempt: attempt, using: &generator)
        request(kind, for: owner, notBefore: now + delay, now, &actions)
    }

    private mutating func request(
        _ kind: PullTable.Kind, for owner: PullTable.Owner, notBefore: ContinuousClock.Instant,
        _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]
    ) {
        perform(pulls.request(kind, for: owner, notBefore: notBefore), now, &actions)
        isPullNew = true
    }

    private mutating func perform(
        _ pulled: [PullTable.Action], _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]
    ) {
        for action in pulled {
            switch action {
            case .send(let req, let frame): actions.append(.send(pull: req, frame: frame))
            case .credit(let frame): actions.append(.credit(frame: frame))
            case .cancel(let req, let frame): actions.append(.cancel(pull: req, frame: frame))
            case .timeOut(let owner, isDigest: true):
                update(owner, now, &actions) { $0.digestFailed(nil, app: owner.app) }
            case .timeOut(let owner, isDigest: false): pullFailed(owner, now, &actions)
            }
        }
    }

    private mutating func pullFailed(
        _ owner: PullTable.Owner, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]
    ) {
        guard !owner.isPeek else { return actions.append(.peekFailed(owner)) }
        update(owner, now, &actions) { $0.pullTimedOut(app: owner.app) }
    }

    private mutating func end(_ index: Int, _ error: IsletError?, _ actions: inout [ReaderAction]) {
        guard !readers[index].isOver else { return }
        readers[index].isOver = true
        hasEnded = true
        for case .unsubscribe(let topic) in readers[index].replica.stop() { actions.append(.unsubscribe(topic)) }
        for case .cancel(let req, let frame) in pulls.cancel(reader: readers[index].id) {
            actions.append(.cancel(pull: req, frame: frame))
        }
        actions.append(.finish(reader: readers[index].id, error))
    }
}
