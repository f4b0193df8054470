import ZeroMQ

/// Streams and their readers.
extension ConnectionLoop {
    /// More readers than this share no socket: each costs time for every event.
    static let maximumReaders = 256
    /// A filtered replica compares digests so often.
    static let checkInterval = Duration.seconds(20)
    /// Where a comparison failed, it is made again so much later.
    static let checkDelay = Duration.seconds(1)
    /// Joins are never closer together than this, whatever the service does.
    static let joinSpacing = Duration.milliseconds(50)

    /// One reader: its replica, its queue, and the times at which it wants something.
    final class Reader {
        let id: Int
        let queue: DeliveryQueue
        var replica: Replica
        var isPaused = false
        /// When the next join begins; nil while none is due.
        var joinAt: ContinuousClock.Instant?
        /// How many joins went unanswered.
        var joinAttempt = 0
        /// Until when the join under way may take.
        var joinDeadline: ContinuousClock.Instant?
        var lastJoin: ContinuousClock.Instant?
        var checkAt = ContinuousClock.now + checkInterval

        init(id: Int, replica: Replica, queue: DeliveryQueue) {
            self.id = id
            self.queue = queue
            self.replica = replica
        }

        var wakeUp: ContinuousClock.Instant? {
            [joinAt, joinDeadline, checkAt].compactMap(\.self).min()
        }
    }

    /// Takes a reader in.
    ///
    /// - Parameter starts: after which event each app's stream begins, where that is in the past; nil: with the join.
    func addReader(
        prefix: String, keepsEntities: Bool, startingAfter starts: [String: UInt64]? = nil
    ) throws(IsletError) -> DeliveryQueue {
        guard !isClosed else { throw .closed }
        guard readers.count < Self.maximumReaders else { throw .overloaded(limit: Self.maximumReaders) }
        try connectStreams()
        let queue = DeliveryQueue(limit: options.deliveryLimit) { [thread] in thread.wake() }
        lastReader += 1
        let scope = ReplicaScope(prefix: prefix, keepsEntities: keepsEntities)
        let reader = Reader(id: lastReader, replica: Replica(scope: scope, startingAfter: starts), queue: queue)
        readers[reader.id] = reader
        update(reader) { $0.start() }
        return queue
    }

    func connectStreams() throws(IsletError) {
        guard !followsStreams else { return }
        do throws(ZeroMQError) {
            try events.connect(endpoints.events)
        } catch {
            throw .endpoint(endpoints.events, reason: error.description)
        }
        do throws(ZeroMQError) {
            try bulk.connect(endpoints.bulk)
        } catch {
            throw .endpoint(endpoints.bulk, reason: error.description)
        }
        followsStreams = true
    }

    /// Takes what has come by the subscriptions; true where there may be more.
    func receiveEvents() -> Bool {
        guard followsStreams else { return false }
        for _ in 0..<Self.messagesPerTurn {
            guard let (topic, body) = receiveEvent() else { return false }
            if topic.first == 0xFF { receivedJoin(topic: topic, body: body) }
            for reader in readers.values {
                update(reader) { $0.received(topic: topic, body: body) }
            }
        }
        return true
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

    /// Takes what has come by the bulk socket; true where there may be more.
    func receiveChunks() -> Bool {
        guard followsStreams else { return false }
        for _ in 0..<Self.messagesPerTurn {
            guard let frames = bulk.receive(into: &message) else { return false }
            switch pulls.received(frames, now: .now) {
            case .chunk(let owner, let chunk) where owner.reader < 0: receivedPeek(chunk, owner)
            case .chunk(let owner, let chunk): update(owner) { $0.received(chunk, app: owner.app) }
            case .digest(let owner, let digest): update(owner) { $0.received(digest: digest, app: owner.app) }
            case .digestFailed(let owner, let error): update(owner) { $0.digestFailed(error, app: owner.app) }
            case .unknown: break
            }
        }
        return true
    }

    func pullsDue(_ now: ContinuousClock.Instant) {
        perform(pulls.due(now: now))
    }

    /// What time and the readers' own tasks have brought; when to look again.
    func readersDue(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        for reader in readers.values {
            let status = reader.queue.status()
            if status.isAbandoned {
                remove(reader, error: nil)
                continue
            }
            if reader.isPaused, status.wantsMore {
                reader.isPaused = false
                reader.queue.setPaused(false)
                update(reader) { $0.resume() }
            }
            if reader.checkAt <= now {
                reader.checkAt = now + Self.checkInterval
                update(reader) { $0.checkDue() }
            }
            joinDue(reader, now)
        }
        return readers.values.lazy.compactMap(\.wakeUp).min()
    }

    private func joinDue(_ reader: Reader, _ now: ContinuousClock.Instant) {
        if let joinAt = reader.joinAt, joinAt <= now {
            join(reader, now)
        } else if let deadline = reader.joinDeadline, deadline <= now {
            reader.joinDeadline = nil
            guard reader.replica.isJoining else { return }
            reader.joinAttempt += 1
            join(reader, now)
        }
    }

    private func join(_ reader: Reader, _ now: ContinuousClock.Instant) {
        reader.joinAt = nil
        reader.lastJoin = now
        reader.joinDeadline = now + Backoff.joins.delay(attempt: reader.joinAttempt + 1, using: &generator)
        let nonce = ClientIdentity.hexadecimal(bytes: 16)
        update(reader) { $0.join(nonce: nonce) }
    }

    // MARK: Effects

    /// The choke point: the replica decides, then the effects are performed.
    private func update(_ reader: Reader, _ body: (inout Replica) -> [ReplicaEffect]) {
        let effects = body(&reader.replica)
        if reader.replica.isCheckDue { reader.checkAt = min(reader.checkAt, .now + Self.checkDelay) }
        guard !effects.isEmpty else { return }
        for effect in effects { perform(effect, reader) }
        guard !reader.isPaused, reader.queue.status().isFull else { return }
        reader.isPaused = true
        reader.queue.setPaused(true)
        update(reader) { $0.pause() }
    }

    private func update(_ owner: PullTable.Owner, _ body: (inout Replica) -> [ReplicaEffect]) {
        guard let reader = readers[owner.reader] else { return }
        update(reader, body)
    }

    private func perform(_ effect: ReplicaEffect, _ reader: Reader) {
        switch effect {
        case .subscribe(let topic): try? events.subscribe(topic)
        case .unsubscribe(let topic): try? events.unsubscribe(topic)
        case .join:
            let now = ContinuousClock.now
            reader.joinAttempt = 0
            reader.joinAt = max(now, reader.lastJoin.map { $0 + Self.joinSpacing } ?? now)
        case .snapshot(let app, let prefix, let attempt): pull(.snapshot(prefix: prefix), reader, app, attempt)
        case .replay(let app, let from, let attempt): pull(.replay(from: from), reader, app, attempt)
        case .digest(let app, let prefix): pull(.digest(prefix: prefix), reader, app, 0)
        case .credit(let app): perform(pulls.credit(.init(reader: reader.id, app: app)))
        case .cancelPull(let app): perform(pulls.cancel(.init(reader: reader.id, app: app)))
        case .deliver(let delivery): reader.queue.push(delivery)
        case .fail(let error): remove(reader, error: error)
        }
    }

    private func pull(_ kind: PullTable.Kind, _ reader: Reader, _ app: String, _ attempt: Int) {
        let now = ContinuousClock.now
        let delay = attempt == 0 ? .zero : Backoff.pulls.delay(attempt: attempt, using: &generator)
        perform(pulls.request(kind, for: .init(reader: reader.id, app: app), notBefore: now + delay))
        pullsDue(now)
    }

    func perform(_ actions: [PullTable.Action]) {
        for action in actions {
            switch action {
            case .send(let frame):
                bulk.send(.init(frames: [frame], requests: []))
            case .timeOut(let owner, let isDigest):
                guard !isDigest else {
                    update(owner) { $0.digestFailed(nil, app: owner.app) }
                    break
                }
                guard owner.reader > 0 else {
                    repeatPeek(owner)
                    break
                }
                update(owner) { $0.pullTimedOut(app: owner.app) }
            }
        }
    }

    private func remove(_ reader: Reader, error: IsletError?) {
        guard readers.removeValue(forKey: reader.id) != nil else { return }
        for effect in reader.replica.stop() {
            if case .unsubscribe(let topic) = effect { try? events.unsubscribe(topic) }
        }
        perform(pulls.cancel(reader: reader.id))
        reader.queue.finish(error)
    }
}
