import ZeroMQ

/// Pulls that nobody's reader follows: whole snapshots, and first chunks, which say where streams stood at a date and
/// whose they are.
extension ConnectionLoop {
    /// A pull whose chunks are waited for.
    struct Peek {
        let kind: PullTable.Kind
        let owner: PullTable.Owner
        /// How much of it is wanted.
        let extent: PullExtent
        var deadline: ContinuousClock.Instant
        let timeout: Duration
        let continuation: CheckedContinuation<Result<[BulkChunk], IsletError>, Never>
        /// What has come of it.
        var chunks: [BulkChunk] = []
        var bytes = 0
        /// How often it was begun anew.
        var repetitions = 0
    }

    /// More at a time only wait for each other: a peer has four pulls.
    static let maximumPeeks = 64
    /// How often a whole pull is begun anew whose connection was lost.
    static let maximumRepetitions = 8

    /// The first chunk of a pull, the rest of which is not asked for.
    func peek(_ kind: PullTable.Kind, of app: String, timeout: Duration) async -> Result<BulkChunk, IsletError> {
        await pull(kind, of: app, .firstChunk, timeout: timeout).flatMap { chunks in
            chunks.first.map(Result.success) ?? .failure(.unreadable("a pull without chunks"))
        }
    }

    /// The chunks of a pull, as far as they are wanted.
    ///
    /// - Parameter timeout: how long each chunk may take, in real time.
    func pull(
        _ kind: PullTable.Kind, of app: String, _ extent: PullExtent, timeout: Duration
    ) async -> Result<[BulkChunk], IsletError> {
        guard !isClosed else { return .failure(.closed) }
        guard peeks.count < Self.maximumPeeks else { return .failure(.overloaded(limit: Self.maximumPeeks)) }
        do throws(IsletError) {
            try connectStreams()
        } catch {
            return .failure(error)
        }
        // Readers have positive numbers.
        lastPeek -= 1
        let owner = PullTable.Owner(reader: lastPeek, app: app)
        return await withCheckedContinuation { continuation in
            peeks[owner.reader] = Peek(
                kind: kind, owner: owner, extent: extent, deadline: .now + timeout, timeout: timeout,
                continuation: continuation)
            perform(table.peek(kind, for: owner, now: .now))
        }
    }

    /// A pull of nobody's reader was lost, or has brought nothing for too long: it is asked for again.
    func repeatPeek(_ owner: PullTable.Owner) {
        guard var peek = peeks[owner.reader] else { return }
        // What has come before is of another moment than what comes now.
        peek.chunks = []
        peek.bytes = 0
        peek.repetitions += 1
        peeks[owner.reader] = peek
        // Each chunk gives a whole pull more time, so that one which is always lost again would never end.
        guard peek.extent == .firstChunk || peek.repetitions <= Self.maximumRepetitions else {
            return finishPeek(owner.reader, .failure(.timedOut(after: peek.timeout)))
        }
        perform(table.peek(peek.kind, for: owner, now: .now))
    }

    /// Gives up what had no answer for too long; when to look again.
    func peeksDue(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        for (id, peek) in peeks where peek.deadline <= now {
            finishPeek(id, .failure(.timedOut(after: peek.timeout)))
        }
        return peeks.values.lazy.map(\.deadline).min()
    }

    /// Answers all that wait: the connection is closed.
    func closePeeks() {
        for peek in peeks.values { peek.continuation.resume(returning: .failure(.closed)) }
        peeks = [:]
    }

    /// Tells who waits for it, and pulls no more of it.
    func finishPeek(_ id: Int, _ result: Result<[BulkChunk], IsletError>) {
        guard let peek = peeks.removeValue(forKey: id) else { return }
        perform(table.cancelPeek(of: peek.owner, now: .now))
        peek.continuation.resume(returning: result)
    }
}

extension IsletConnection {
    /// As ``events(_:)``, from a date on that may be in the past: what has happened since then comes first, by replay,
    /// and what happens follows without a gap.
    ///
    /// - Parameters:
    ///   - date: in milliseconds since 1970, of domain time.
    ///   - timeout: how long each question for the beginnings may take, in real time.
    /// - Returns: the stream, and for each app that has events where its own begins.
    /// - Throws: as ``apps(of:timeout:)``; ``IsletError/refused(_:)``, ``IsletError/unreadable(_:)``.
    package func events(
        _ prefix: String, since date: Int64, timeout: Duration
    ) async throws(IsletError) -> (stream: DeliveryStream, starts: [String: PastStart]) {
        let scope = ReplicaScope(prefix: prefix, keepsEntities: false)
        var starts: [String: PastStart] = [:]
        for (app, position) in try await apps(of: scope.app, timeout: timeout) where scope.includes(app: app) {
            var start = try await start(of: app, since: date, head: position.seq, timeout: timeout)
            start.head = position.seq
            starts[app] = start
        }
        let queue = try await loop.addReader(
            prefix: prefix, keepsEntities: false, startingAfter: starts.mapValues(\.seq))
        return (stream(of: queue), starts)
    }

    /// Where an app's stream begins at a date.
    ///
    /// - Parameter head: the stream's last event.
    /// - Throws: as ``events(_:since:timeout:)``.
    package func start(
        of app: String, since date: Int64, head: UInt64, timeout: Duration
    ) async throws(IsletError) -> PastStart {
        var search = PastSearch(date: date, head: head)
        var step = search.begin()
        let end = ContinuousClock.now + timeout
        while true {
            switch step {
            case .found(let start): return start
            case .ask(let from):
                let chunk = try await loop.peek(.replay(from: from), of: app, timeout: timeout).get()
                if case .failed(let error) = chunk.end, error.code == .busy, .now < end {
                    // Others pull as well: each has its turn.
                    do { try await Task.sleep(for: .milliseconds(100)) } catch { throw .cancelled }
                    continue
                }
                step = try search.received(chunk)
            }
        }
    }
}
