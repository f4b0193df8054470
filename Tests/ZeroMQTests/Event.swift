import ZeroMQ

/// Something that a test waits for without holding a thread.
struct Event: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// It has happened, once or more often.
    func happen() {
        continuation.yield()
    }

    /// Returns once it has happened; throws when the test's time is over, which cancels the task.
    func wait() async throws {
        var iterator = stream.makeAsyncIterator()
        guard await iterator.next() != nil else { throw Late() }
    }
}

/// Returns when `signal` is raised, and holds the thread until then.
func waitBlocking(for signal: WakeSignal) throws {
    var poller = Poller()
    _ = poller.add(descriptor: signal.descriptor)
    guard try poller.wait(milliseconds: Int(patience.components.seconds) * 1_000) == 1 else { throw Late() }
}

/// What was waited for did not come in time.
struct Late: Error {}
