import ZeroMQ

/// Streams and their readers.
extension ConnectionLoop {
    /// One reader, as far as the pure part does not know it.
    final class Reader {
        let queue: DeliveryQueue
        var isPaused = false

        init(queue: DeliveryQueue) {
            self.queue = queue
        }
    }

    /// Takes a reader in.
    ///
    /// - Parameter starts: after which event each app's stream begins, where that is in the past; nil: with the join.
    func addReader(
        prefix: String, keepsEntities: Bool, startingAfter starts: [String: UInt64]? = nil
    ) throws(IsletError) -> DeliveryQueue {
        guard !isClosed else { throw .closed }
        try connectStreams()
        let scope = ReplicaScope(prefix: prefix, keepsEntities: keepsEntities)
        guard let (id, actions) = table.add(scope, startingAfter: starts, now: .now) else {
            throw .overloaded(limit: type(of: table).maximumReaders)
        }
        let queue = DeliveryQueue(limit: options.deliveryLimit) { [thread] in thread.wake() }
        readers[id] = Reader(queue: queue)
        perform(actions)
        return queue
    }

    func connectStreams() throws(IsletError) {
        guard !followsStreams else { return }
        do throws(ZeroMQError) {
            try subscription.connect(events, to: endpoints.events, now: .now)
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
        var received: [(topic: [UInt8], body: [UInt8])] = []
        while received.count < Self.messagesPerTurn, let event = receiveEvent() { received.append(event) }
        // A loss is known before what comes by the next connection can be received: it is looked for after that was, and
        // told before it.
        reports.moved(by: received.count)
        if !received.isEmpty { deafSince = nil }
        if subscription.takeLoss(now: .now) { perform(table.disconnected(now: .now)) }
        for (topic, body) in received {
            if topic.first == 0xFF { receivedJoin(topic: topic, body: body) }
            perform(table.received(topic: topic, body: body, now: .now))
        }
        return received.count == Self.messagesPerTurn
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
            guard let frames = bulk.receive(into: &message) else {
                if bulk.takeLoss() { perform(table.bulkLost(now: .now) { bulk.holds(req: $0) }) }
                return false
            }
            bulkSilence = Self.shortestSilence
            reports.moved(by: 1)
            perform(table.received(bulk: frames, now: .now))
        }
        return true
    }

    /// What time and the readers' own tasks have brought.
    func readersDue(_ now: ContinuousClock.Instant) {
        for (id, reader) in readers {
            let status = reader.queue.status()
            if status.isAbandoned {
                perform(table.remove(id, now: now))
            } else if reader.isPaused, status.wantsMore {
                reader.isPaused = false
                reader.queue.setPaused(false)
                perform(table.resume(id, now: now))
            }
        }
        perform(table.due(now: now))
        for report in reports.due(now: now, { table.applied }) {
            commands.send(.init(frames: [report.frame], requests: [], waits: false))
        }
    }

    /// Does what the readers want done; who has enough is paused.
    func perform(_ actions: [ReaderAction]) {
        var full: [Int] = []
        for action in actions {
            switch action {
            case .subscribe(let topic):
                if topic.first == 0xFF { deafSince = deafSince ?? .now }
                try? events.subscribe(topic)
            case .unsubscribe(let topic): try? events.unsubscribe(topic)
            case .send(let pull, let frame): bulk.send(.init(frames: [frame], requests: [pull]))
            case .credit(let frame): bulk.send(.init(frames: [frame], requests: []))
            case .cancel(let pull, let frame):
                // Of one whose beginning still waits here the service has not heard.
                guard !bulk.holds(req: pull) else { break }
                bulk.send(.init(frames: [frame], requests: [], waits: false))
            case .deliver(let id, let delivery):
                guard let reader = readers[id], reader.queue.push(delivery), !reader.isPaused else { break }
                reader.isPaused = true
                full.append(id)
            case .finish(let id, let error): readers.removeValue(forKey: id)?.queue.finish(error)
            case .peeked(let owner, let chunk): receivedChunk(chunk, of: owner.reader)
            case .peekFailed(let owner): repeatPeek(owner)
            case .askOwner: askOwner()
            }
        }
        for id in full {
            readers[id]?.queue.setPaused(true)
            perform(table.pause(id, now: .now))
        }
    }

    /// Asks the service that takes the commands for its epoch.
    private func askOwner() {
        switch begin(Command("service.info"), timeout: StreamOwnership.patience) {
        case .failure(let error): ownerAnswered(.failure(error))
        case .success(let (req, frame)):
            waiters[req] = .owner
            commands.send(.init(frames: [frame], requests: [req]))
        }
    }

    /// What came of that.
    func ownerAnswered(_ result: Result<Answer, IsletError>) {
        guard !isClosed else { return }
        let owner: StreamOwnership.Owner =
            switch result {
            case .success(let answer):
                answer["info"]?.object?["epoch"]?.string.map(StreamOwnership.Owner.epoch) ?? .unnamed
            case .failure(let error): error.retry == .later ? .unanswered : .unnamed
            }
        perform(table.informed(owner, now: .now))
    }
}
