import IsletClient

/// A provider of a test at work, and what it says of itself.
final class ProviderRun: Sendable {
    let service: ProviderService
    let task: Task<Void, any Error>
    private let events: AsyncStream<ProviderEvent>

    init(
        _ session: IsletSession, capacity: Int = 16, gracePeriod: Duration = .seconds(60),
        @WidgetBundleBuilder kinds: () -> [ProviderKind]
    ) {
        let (events, told) = AsyncStream.makeStream(of: ProviderEvent.self)
        let service = ProviderService(
            session: session, capacity: capacity, gracePeriod: gracePeriod, onEvent: { told.yield($0) },
            kinds: kinds)
        self.service = service
        self.events = events
        task = Task {
            defer { told.finish() }
            try await service.run()
        }
    }

    /// Returns once it is registered, again where it was before.
    func registered() async throws {
        try await within { [events] in
            for await event in events {
                if case .registered = event { return }
            }
            throw CancellationError()
        }
    }

    /// Why the service would not have an answer of its own, or its registration for now, as is told next.
    func refusal() async throws -> ServiceError {
        try await within { [events] in
            for await event in events {
                switch event {
                case .answerRefused(let error), .registrationRefused(let error): return error
                case .registered, .connectionLost, .callFailed: break
                }
            }
            throw CancellationError()
        }
    }

    /// Ends it well.
    func stop() async throws {
        task.cancel()
        try await within { [task] in try await task.value }
    }
}

/// Something that tests wait for, once.
final class Moment: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func comes() {
        continuation.finish()
    }

    /// Returns once it has come, and where the task is cancelled.
    func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}

/// Waits for the end of the task; for something that is never through by itself.
func untilCancelled() async throws {
    try await Task.sleep(for: .seconds(3_600))
}
