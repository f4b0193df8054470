import IsletClient
import Testing
import ZeroMQ

/// Runs a test with a fake service, and ends its thread afterwards.
func withFakeService(
    at endpoints: Endpoints = .free, _ body: (FakeService) async throws -> Void
) async throws {
    let thread = try BusThread(name: "fake-service")
    do {
        let fake = try await thread.host { thread throws(ZeroMQError) in
            try FakeService(on: thread, endpoints: endpoints)
        }
        try await body(fake)
    } catch {
        await thread.stop()
        throw error
    }
    await thread.stop()
}

/// Runs a test with a fake service and a connection to it.
func withConnection(
    options: ConnectionOptions = .patient,
    _ body: (FakeService, IsletConnection) async throws -> Void
) async throws {
    try await withFakeService { fake in
        let connection = try await IsletConnection.open(fake.endpoints, options: options)
        try await body(fake, connection)
        await connection.close()
    }
}

extension ConnectionOptions {
    /// Sends nothing again that is only slow, however busy the machine is.
    static let patient = ConnectionOptions(timeout: .seconds(300), firstRetry: .seconds(300))
    /// Sends again soon.
    static let eager = ConnectionOptions(timeout: .seconds(300), firstRetry: .milliseconds(50))
}

extension Endpoints {
    /// Ports that the system finds.
    static let free = Endpoints(commands: "tcp://127.0.0.1:*", events: "tcp://127.0.0.1:*", bulk: "tcp://127.0.0.1:*")
}

/// Gives what `body` gives, or fails where that takes longer than anything here ever should.
func within<Result: Sendable>(
    _ limit: Duration = .seconds(400), _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw TookTooLong(limit: limit)
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw TookTooLong(limit: limit) }
        return first
    }
}

struct TookTooLong: Error {
    var limit: Duration
}

/// Reads a stream with a deadline.
struct StreamReader {
    private let stream: DeliveryStream

    init(_ stream: DeliveryStream) {
        self.stream = stream
    }

    /// The next delivery, without the mark that the subscription is active.
    func next() async throws -> Delivery? {
        try await within { [stream] in
            var iterator = stream.makeAsyncIterator()
            let delivery = try await iterator.next()
            return delivery == .joined ? try await iterator.next() : delivery
        }
    }

    /// The next one, which must be a beginning.
    func synced(sourceLocation: SourceLocation = #_sourceLocation) async throws -> SyncedState {
        let delivery = try await next()
        guard case .synced(let state)? = delivery else {
            Issue.record("expected a beginning, got \(String(describing: delivery))", sourceLocation: sourceLocation)
            throw CancellationError()
        }
        return state
    }

    /// The numbers of the next events; beginnings in between are an error.
    func events(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [UInt64] {
        var numbers: [UInt64] = []
        while numbers.count < count {
            let delivery = try await next()
            guard case .event(let event, _)? = delivery else {
                Issue.record("expected an event, got \(String(describing: delivery))", sourceLocation: sourceLocation)
                return numbers
            }
            numbers.append(event.seq)
        }
        return numbers
    }
}
