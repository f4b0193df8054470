import Synchronization
import ZeroMQ

/// The actor behind a provider: it owns the socket, on a thread of its own, and performs what the machine decides.
actor ProviderLoop: BusLoop {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Messages that one turn takes.
    private static let messagesPerTurn = 256

    var poller = Poller()
    private var outlet: Outlet
    private var message = Message()
    private var machine: ProviderMachine
    private var generator = SystemRandomNumberGenerator()
    private let tell: @Sendable (ProviderEvent) -> Void
    /// Takes the calls whose handlers are to run.
    private let jobs: AsyncStream<ProviderJob>.Continuation
    /// Those that were not told of their end yet.
    private var running: [UInt64: ProviderJob] = [:]
    private var ending: Result<Void, IsletError>?
    private var waiter: CheckedContinuation<Result<Void, IsletError>, Never>?
    /// Set by the task that is cancelled, on whatever thread it is.
    nonisolated private let isStopRequested = Atomic(false)

    /// Makes the socket and connects it. Called on the thread.
    init(
        on thread: BusThread, endpoint: String, machine: ProviderMachine, jobs: AsyncStream<ProviderJob>.Continuation,
        tell: @escaping @Sendable (ProviderEvent) -> Void
    ) throws(IsletError) {
        self.thread = thread
        self.machine = machine
        self.jobs = jobs
        self.tell = tell
        do throws(ZeroMQError) {
            let context = try ZeroMQContext()
            outlet = try Outlet(context: context, poller: &poller)
        } catch {
            throw .endpoint("a ZeroMQ socket", reason: error.description)
        }
        do throws(ZeroMQError) {
            try outlet.connect(endpoint)
        } catch {
            throw .endpoint(endpoint, reason: error.description)
        }
    }

    func turn() -> NextTurn {
        if isStopRequested.load(ordering: .acquiring) { perform(machine.stop(now: .now)) }
        let isBusy = receive()
        if outlet.hasLostConnection() { perform(machine.disconnected(now: .now, using: &generator)) }
        let now = ContinuousClock.now
        perform(machine.due(now: now, using: &generator))
        perform(machine.begin())
        outlet.flush(poller: &poller) { _ in true }
        if isBusy { return .immediately }
        guard let wakeUp = [machine.nextWakeUp, outlet.nextWakeUp].compactMap(\.self).min() else { return .whenReady }
        return .within(milliseconds: now.duration(to: wakeUp).millisecondsToWait)
    }

    func finish() {
        outlet.close()
        for job in running.values { job.cancel() }
        running = [:]
        complete(.success(()))
    }

    // MARK: The provider's tasks

    /// Ends it well, from any thread.
    nonisolated func requestStop() {
        isStopRequested.store(true, ordering: .releasing)
        thread.wake()
    }

    /// Returns when it is over.
    func wait() async -> Result<Void, IsletError> {
        if let ending { return ending }
        return await withCheckedContinuation { waiter = $0 }
    }

    /// A handler is through.
    func finished(_ call: ProviderCall, _ reply: ProviderReply) {
        running[call.number] = nil
        perform(machine.finished(call, reply, now: .now))
    }

    // MARK: Sockets and effects

    /// Takes what has come; true where there may be more.
    private func receive() -> Bool {
        for _ in 0..<Self.messagesPerTurn {
            guard let frames = outlet.receive(into: &message) else { return false }
            for frame in frames { perform(machine.received(frame, now: .now, using: &generator)) }
        }
        return true
    }

    private func perform(_ effects: [ProviderMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .register(let frame):
                outlet.clear(poller: &poller)
                outlet.send(.init(frames: [frame], requests: []))
            case .send(let frame): outlet.send(.init(frames: [frame], requests: []))
            case .reconnect:
                outlet.clear(poller: &poller)
                outlet.reconnect()
            case .begin(let call): begin(call)
            case .cancel(let number): running[number]?.cancel()
            case .tell(let event): tell(event)
            case .end(let error): complete(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    private func begin(_ call: ProviderCall) {
        let job = ProviderJob(call)
        running[call.number] = job
        switch jobs.yield(job) {
        case .enqueued: break
        // It is over already, so that no handler begins any more.
        case .terminated, .dropped: finished(call, .failed(message: "the provider is stopping", isRetryable: true))
        @unknown default: finished(call, .failed(message: "the provider is stopping", isRetryable: true))
        }
    }

    private func complete(_ result: Result<Void, IsletError>) {
        guard ending == nil else { return }
        ending = result
        jobs.finish()
        waiter.take()?.resume(returning: result)
    }
}
