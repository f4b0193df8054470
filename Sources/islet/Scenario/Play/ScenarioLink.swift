import IsletClient

/// What a scenario says to its service and hears of it.
///
/// Commands go as they are, so that a scenario can say what no client of ours would, and see the whole answer.
struct ScenarioLink: Sendable {
    let endpoints: Endpoints
    let events: ScenarioEvents
    private let connection: RawConnection
    private let answerPatience: Duration
    /// Whether a signal tells of a change without an answer.
    private let isWatched: Bool

    /// No topic begins so. As it is the beginning of an app's name, the answer tells where all streams stand.
    private static let barrier = "islet.scenario.barrier"

    /// Opens one, and returns when it hears every event.
    ///
    /// - Parameter outlivesIt: whether the service goes on when the scenario is stopped, and so what it was told last.
    static func open(_ endpoints: Endpoints, outlivesIt: Bool, patience: Duration) async throws -> ScenarioLink {
        let connection = try await RawConnection.open(endpoints)
        let link = ScenarioLink(
            endpoints: endpoints, events: ScenarioEvents(), connection: connection, answerPatience: patience,
            isWatched: outlivesIt)
        if outlivesIt { await Interruption.watch(connection) }
        do {
            let events = link.events
            try await link.joined("") { topic, body in events.take(topic, body) }
        } catch {
            await link.close()
            throw error
        }
        return link
    }

    func close() async {
        if isWatched { Interruption.unwatch(connection) }
        await connection.close()
    }

    /// Sends a command and gives the whole answer, also a refusal.
    ///
    /// - Parameter patience: how long it may take; nil: as for all.
    func ask(_ command: RawObject, patience: Duration? = nil) async throws -> RawObject {
        let op = command["op"]?.string.flatMap { Command($0).isChange ? $0 : nil }
        let bytes = try await connection.exchange(
            command.json.bytes, change: op, timeout: patience ?? answerPatience)
        guard let answer = RawObject(bytes) else { throw IsletError.unreadable("no JSON object") }
        return answer
    }

    /// Returns when every event that was published until now has come, or is known to be missing.
    func settle() async throws {
        try await joined(Self.barrier) { _, _ in }?.cancel()
    }

    /// Follows a prefix, and returns once the service has joined it.
    @discardableResult
    private func joined(
        _ prefix: String, _ take: @escaping @Sendable ([UInt8], [UInt8]) -> Void
    ) async throws -> RawSubscription? {
        let (joins, join) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let events = events
        let subscription = try await connection.follow(prefix) { delivery in
            switch delivery {
            case .joined(let answer):
                events.stand(answer)
                join.yield()
                join.finish()
            case .event(let topic, let body): take(topic, body)
            case .ended: join.finish()
            }
        }
        let patience = answerPatience
        let timer = Task.detached {
            try await Task.sleep(for: patience)
            join.finish()
        }
        defer { timer.cancel() }
        for await _ in joins { return subscription }
        throw IsletError.timedOut(after: patience)
    }
}
