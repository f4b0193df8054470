import ZeroMQ

/// Which apps there are: a join that nobody follows.
extension ConnectionLoop {
    /// A question that waits for its answer.
    struct AppsQuestion {
        let topic: [UInt8]
        let deadline: ContinuousClock.Instant
        let timeout: Duration
        let continuation: CheckedContinuation<Result<JoinAnswer, IsletError>, Never>
    }

    /// More at a time are of no use: each gets the same answer.
    static let maximumAppsQuestions = 16

    /// What a join is answered: the apps that have events, each with the last published position of its stream.
    ///
    /// - Parameter app: the only one that is asked about; nil: all.
    func apps(of app: String?, timeout: Duration) async -> Result<JoinAnswer, IsletError> {
        guard !isClosed else { return .failure(.closed) }
        guard appsQuestions.count < Self.maximumAppsQuestions else {
            return .failure(.overloaded(limit: Self.maximumAppsQuestions))
        }
        do throws(IsletError) {
            try connectStreams()
        } catch {
            return .failure(error)
        }
        let name = app.map { "/\($0)" } ?? ""
        let topic = [0xFF] + Array("join/\(ClientIdentity.hexadecimal(bytes: 16))\(name)".utf8)
        return await withCheckedContinuation { continuation in
            appsQuestions.append(
                AppsQuestion(topic: topic, deadline: .now + timeout, timeout: timeout, continuation: continuation))
            try? events.subscribe(topic)
        }
    }

    /// A message of a topic that begins with 0xFF; those of the readers are left alone.
    func receivedJoin(topic: [UInt8], body: [UInt8]) {
        guard let index = appsQuestions.firstIndex(where: { $0.topic == topic }), let answer = JoinAnswer.read(body)
        else { return }
        finishAppsQuestion(at: index, answer)
    }

    /// Gives up what had no answer for too long; when to look again.
    func appsDue(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        while let index = appsQuestions.firstIndex(where: { $0.deadline <= now }) {
            finishAppsQuestion(at: index, .failure(.timedOut(after: appsQuestions[index].timeout)))
        }
        return appsQuestions.lazy.map(\.deadline).min()
    }

    /// Answers all that wait: the connection is closed.
    func closeAppsQuestions() {
        for question in appsQuestions { question.continuation.resume(returning: .failure(.closed)) }
        appsQuestions = []
    }

    private func finishAppsQuestion(at index: Int, _ result: Result<JoinAnswer, IsletError>) {
        let question = appsQuestions.remove(at: index)
        try? events.unsubscribe(question.topic)
        question.continuation.resume(returning: result)
    }
}

extension IsletConnection {
    /// The apps that have events, each with the last published position of its stream. It costs the service one
    /// message, whatever happens in the streams.
    ///
    /// - Parameters:
    ///   - app: the only one that is asked about; nil: all.
    ///   - timeout: how long to wait, in real time.
    /// - Throws: ``IsletError/refused(_:)`` with `tooMany` where there are more than 1 000 and none is named,
    ///   ``IsletError/timedOut(after:change:)``, ``IsletError/closed``.
    package func apps(
        of app: String? = nil, timeout: Duration
    ) async throws(IsletError) -> [String: StreamPosition] {
        try await loop.apps(of: app, timeout: timeout).get().positions
    }

    /// Whether the streams are those of the service that takes the commands: each is nil where nobody knows, as one of the
    /// two has not answered in time, or is older than the question.
    ///
    /// - Parameters:
    ///   - asksBulk: whether to ask the bulk socket too.
    ///   - timeout: how long to wait for each answer, in real time.
    package func ownsStreams(bulk asksBulk: Bool, timeout: Duration) async -> (events: Bool?, bulk: Bool?) {
        // Of an app that has no name, and of one that has nothing: only what is the same for all is wanted.
        async let joined = loop.apps(of: " ", timeout: timeout)
        async let pulled = asksBulk ? loop.peek(.snapshot(prefix: nil), of: "-", timeout: timeout) : nil
        async let asked = try? send(Command("service.info"), timeout: timeout)
        let own = await asked?["info"]?.object?["epoch"]?.string
        let (events, bulk) = await ((try? joined.get())?.epoch, (try? pulled?.get())?.epoch)
        guard let own else { return (nil, nil) }
        return (events.map { $0 == own }, bulk.map { $0 == own })
    }
}
