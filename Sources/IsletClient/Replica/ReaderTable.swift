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
    /// A peek was lost, or has brought nothing for too long or nothing of use, and is forgotten.
    case peekFailed(PullTable.Owner)
    /// Send `service.info` by the connection of the commands, and tell ``ReaderTable/informed(_:now:)`` what comes of it.
    case askOwner
}

/// The readers of a connection: the replica of each, what is pulled for them, and when each question is asked again.
///
/// A pure value; time is passed in, and chance is the generator's. Every question has a deadline and a next step: a join
/// is asked for with another nonce, a pull is asked for again, and a digest is compared at another time.
///
/// Until it is known whose the streams are (``StreamOwnership``), nothing of them is taken in.
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
        /// Whether its join was answered while it was not known by whom.
        var isHeld = false
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
    private let endpoints: Endpoints?
    private var ownership: StreamOwnership
    /// Whether a pull was asked for that may begin at once.
    private var isPullNew = false
    /// Whether a reader has ended in the present step.
    private var hasEnded = false

    /// No readers yet.
    ///
    /// - Parameter endpoints: those of the connection, whose streams must be of the service that takes the commands; nil:
    ///   they are taken at their word.
    package init(generator: Generator, endpoints: Endpoints? = nil) {
        self.generator = generator
        self.endpoints = endpoints
        ownership = StreamOwnership(isWanted: endpoints != nil)
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
        return (lastReader, askOwner() + update(lastReader, now) { $0.start() })
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

    /// How far each reader is whose join was answered.
    package var applied: [(reader: Int, report: AppliedReport)] {
        readers.compactMap { reader in reader.replica.applied.map { (reader.id, $0) } }
    }

    // MARK: What comes in

    /// A message has come by the subscriptions.
    package mutating func received(
        topic: [UInt8], body: [UInt8], now: ContinuousClock.Instant
    ) -> [ReaderAction] {
        step(now) { table, actions in
            for index in table.readers.indices {
                guard table.isOwn(topic, body, index, now, &actions) else { continue }
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
                guard table.isOwn(chunk, of: owner, now, &actions) else {
                    table.perform(table.pulls.cancel(owner), now, &actions)
                    return table.pullFailed(owner, now, &actions)
                }
                // A join begins a snapshot that is coming in all over again: a long one of a quiet app would never end.
                if chunk.end == nil, let index = table.index(of: owner.reader) {
                    table.readers[index].silentUntil = now + Self.silence
                }
                table.update(owner, now, &actions) { $0.received(chunk, app: owner.app) }
            case .chunksLost(let owner):
                table.perform(table.pulls.cancel(owner), now, &actions)
                table.pullFailed(owner, now, &actions)
            case .digest(let owner, let digest):
                let isOwn = table.isOwn(.bulk, digest.position.epoch, of: owner.reader, now, &actions)
                table.update(owner, now, &actions) {
                    isOwn ? $0.received(digest: digest, app: owner.app) : $0.digestFailed(nil, app: owner.app)
                }
            case .digestFailed(let owner, let error):
                table.update(owner, now, &actions) { $0.digestFailed(error, app: owner.app) }
            case .unknown: break
            }
        }
    }

    /// The bulk connection was lost; told once all that it has brought was.
    ///
    /// - Parameter isWaiting: whether what begins a pull was not sent yet, and goes by the next connection.
    package mutating func bulkLost(now: ContinuousClock.Instant, isWaiting: (String) -> Bool) -> [ReaderAction] {
        step(now) { table, actions in
            table.perform(table.pulls.connectionLost(isWaiting: isWaiting), now, &actions)
        }
    }

    // MARK: Time

    /// What time has brought.
    package mutating func due(now: ContinuousClock.Instant) -> [ReaderAction] {
        isPullNew = true
        return step(now) { table, actions in
            if table.ownership.due(now: now) { table.release(now) }
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
        [readers.lazy.map(\.wakeUp).min(), pulls.nextWakeUp, ownership.deadline].compactMap(\.self).min()
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

    // MARK: Whose they are

    /// The service that takes the commands has named its epoch, or has not.
    package mutating func informed(_ answer: StreamOwnership.Owner, now: ContinuousClock.Instant) -> [ReaderAction] {
        ownership.informed(answer)
        switch answer {
        case .epoch, .unnamed: release(now)
        case .unanswered: break
        }
        return []
    }

    private mutating func askOwner() -> [ReaderAction] {
        ownership.ask() ? [.askOwner] : []
    }

    /// Whether a reader may be told what has come by the subscriptions: where it is the answer to its join, and nobody
    /// knows whose, it joins again once that is known.
    private mutating func isOwn(
        _ topic: [UInt8], _ body: [UInt8], _ index: Int, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]
    ) -> Bool {
        guard !ownership.isProven(.events), topic.first == 0xFF, !readers[index].isOver,
            readers[index].replica.awaits(topic: topic), case .success(let answer) = JoinAnswer.read(body)
        else { return true }
        guard !isOwn(.events, answer.epoch, of: readers[index].id, now, &actions) else { return true }
        readers[index].isHeld = true
        return false
    }

    /// Whether a reader may be told of a chunk. A refusal may have been made before anything was looked at.
    private mutating func isOwn(
        _ chunk: BulkChunk, of owner: PullTable.Owner, _ now: ContinuousClock.Instant, _ actions: inout [ReaderAction]
    ) -> Bool {
        guard chunk.error == nil || chunk.epoch != nil else { return true }
        return isOwn(.bulk, chunk.epoch, of: owner.reader, now, &actions)
    }

    /// Compares the epoch of what has come for a reader, whose sequence ends where it is another service's.
    private mutating func isOwn(
        _ stream: StreamOwnership.Stream, _ epoch: String?, of reader: Int, _ now: ContinuousClock.Instant,
        _ actions: inout [ReaderAction]
    ) -> Bool {
        switch ownership.judge(stream, epoch: epoch, now: now) {
        case .own: return true
        case .unknown: actions += askOwner()
        case .foreign:
            guard let endpoints else { break }
            let error = IsletError.otherService(endpoints, stream)
            // All join by the same connection; of snapshots and replays the others may have no need.
            for index in readers.indices where stream == .events || readers[index].id == reader {
                end(index, error, &actions)
            }
        }
        return false
    }

    /// More is known of whose the streams are: who has waited for it joins again.
    private mutating func release(_ now: ContinuousClock.Instant) {
        for index in readers.indices where readers[index].isHeld {
            readers[index].isHeld = false
            readers[index].joinAttempt = 0
            readers[index].joinDeadline = nil
            readers[index].joinAt = now
        }
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

    /// Lets so many more chunks of such a pull come.
    package mutating func creditPeek(
        of owner: PullTable.Owner, chunks: Int, now: ContinuousClock.Instant
    ) -> [ReaderAction] {
        step(now) { table, actions in
            for _ in 0..<chunks { table.perform(table.pulls.credit(owner), now, &actions) }
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

extension IsletError {
    /// The streams at one of the endpoints are those of another service than the one that takes the commands.
    ///
    /// - Parameter advice: what to do about it.
    package static func otherService(
        _ endpoints: Endpoints, _ stream: StreamOwnership.Stream, advice: String = "name where its own are"
    ) -> IsletError {
        let (url, what) =
            switch stream {
            case .events: (endpoints.events, "events")
            case .bulk: (endpoints.bulk, "snapshots and replays")
            }
        return .endpoint(url, reason: "it has the \(what) of another service than \(endpoints.commands); \(advice)")
    }
}
