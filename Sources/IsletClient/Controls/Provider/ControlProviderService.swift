import Synchronization
internal import ZeroMQ

/// A process's side of its controls: it registers their kinds, computes their values and performs their actions.
///
///     let provider = ControlProviderService {
///         TorchControl()
///         ThermostatControl()
///     }
///     try await provider.run()
///
/// It runs until its task is cancelled. A lost connection, a silent service and one that was restarted lead to a new
/// registration; the calls at work then are cancelled and their answers dropped, since the service has given them up.
///
/// Handlers run in tasks of their own, with the task-local values of `run()`, never on the thread of the socket. What
/// the service does not wait for any longer is cancelled; a handler that goes on nevertheless keeps its place until it
/// returns, and no more than `capacity` run at a time.
///
/// It has the shape of swift-service-lifecycle's `Service`, of which this library does not depend. One line makes it
/// one, which ends by cancellation (`cancellationSignals: [.sigterm]`):
///
///     extension ControlProviderService: @retroactive Service {}
///
/// Where the group shuts down gracefully instead, run it as
/// `cancelWhenGracefulShutdown { try await provider.run() }`: a cancellation is graceful here.
public final class ControlProviderService: Sendable {
    /// The identity of this run of the process, new for each instance: a UUID in lower case.
    public let id = ClientIdentity.uuid()
    private let session: IsletSession?
    private let capacity: Int
    private let gracePeriod: Duration
    private let controls: [ControlDefinition]
    private let onEvent: @Sendable (ControlProviderEvent) -> Void
    private let isRunning = Mutex(false)

    /// A provider of these controls.
    ///
    /// - Parameters:
    ///   - session: the app and the service; nil: the task's when it runs, else the process's (see ``Islet``).
    ///   - capacity: how many calls it takes at a time, 1 to 1 024.
    ///   - gracePeriod: how long a cancellation waits for the calls at work.
    ///   - onEvent: hears what happens. It is called by the thread of the socket and by those of handlers, and must
    ///     return soon.
    public init(
        session: IsletSession? = nil, capacity: Int = 16, gracePeriod: Duration = .seconds(5),
        onEvent: @escaping @Sendable (ControlProviderEvent) -> Void = { _ in },
        @ControlWidgetBundleBuilder controls: () -> [ControlDefinition]
    ) {
        self.session = session
        self.capacity = capacity
        self.gracePeriod = gracePeriod
        self.onEvent = onEvent
        self.controls = controls()
    }

    /// Serves until the task is cancelled; then takes no new calls, lets those at work end within the grace period, and
    /// says goodbye. Handlers that do not end then are cancelled, and not waited for.
    ///
    /// - Throws: ``IsletError/refused(_:)`` where the service refuses the registration for good, such as `conflict`
    ///   with another provider that declares a kind differently; ``IsletError/invalid(_:)`` where a declaration cannot
    ///   be written, or it runs already; ``IsletError/notConfigured``; ``IsletError/endpoint(_:reason:)``.
    public func run() async throws(IsletError) {
        let session = if let session { session } else { try Islet.current() }
        guard isRunning.withLock({ isRunning in !exchange(&isRunning, with: true) }) else {
            throw .invalid("this provider runs already")
        }
        defer { isRunning.withLock { $0 = false } }
        let machine = try machine(app: session.app)
        // Bounded by the capacity, beyond which the machine begins nothing.
        let (jobs, begun) = AsyncStream.makeStream(of: ProviderJob.self)
        let thread: BusThread
        do throws(ZeroMQError) {
            thread = try BusThread(name: "islet-provider")
        } catch {
            throw .endpoint("a thread", reason: error.description)
        }
        let result: Result<Void, IsletError>
        do throws(IsletError) {
            let loop = try await thread.host { [onEvent] thread throws(IsletError) in
                try ProviderLoop(
                    on: thread, endpoint: session.endpoints.commands, machine: machine, jobs: begun, tell: onEvent)
            }
            result = await Islet.$session.withValue(session) { await serve(jobs, loop) }
        } catch {
            result = .failure(error)
        }
        await thread.stop()
        try result.get()
    }

    private func machine(app: String) throws(IsletError) -> ProviderMachine {
        guard (1...1_024).contains(capacity) else { throw .invalid("a provider's capacity is 1 to 1 024") }
        var kinds: [(name: String, declaration: RawJSON)] = []
        for control in controls {
            guard !kinds.contains(where: { $0.name == control.kind }) else {
                throw .invalid("the kind '\(control.kind)' is declared twice")
            }
            kinds.append((control.kind, try control.declaration()))
        }
        return ProviderMachine(id: id, app: app, kinds: kinds, capacity: capacity, grace: gracePeriod, now: .now)
    }

    /// Runs the handlers of the calls until all is over.
    private func serve(_ jobs: AsyncStream<ProviderJob>, _ loop: ProviderLoop) async -> Result<Void, IsletError> {
        let runner = ControlCallRunner(
            controls: Dictionary(controls.map { ($0.kind, $0) }) { first, _ in first }, tell: onEvent)
        return await withTaskCancellationHandler {
            for await job in jobs {
                // Not a child: a cancellation of this task leaves it the grace period.
                let task = Task { @concurrent in
                    guard !job.isCancelled else {
                        return await loop.finished(job.call, .failed(message: "cancelled", isRetryable: true))
                    }
                    await loop.finished(job.call, runner.reply(to: job.call))
                }
                job.run(in: task)
            }
            return await loop.wait()
        } onCancel: {
            loop.requestStop()
        }
    }
}
