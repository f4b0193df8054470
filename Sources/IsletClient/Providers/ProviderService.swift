import Synchronization
internal import ZeroMQ

/// A process's side of its controls and widgets: it registers their kinds, computes values and timelines, and performs
/// actions, all over one connection.
///
///     let provider = ProviderService {
///         TorchControl()
///         WeatherWidget()
///     }
///     try await provider.run()
///
/// It runs until its task is cancelled. A lost connection, a silent service and one that was restarted lead to a new
/// registration; the calls at work then are cancelled and their answers dropped, since the service has given them up.
///
/// Handlers run in tasks of their own, with the task-local values of `run()`, never on the thread of the socket. What
/// the service does not wait for any longer is cancelled; a handler that goes on nevertheless keeps its place until it
/// returns, and no more than `capacity` run at a time, and as many of actions. So let what a handler waits for hear that it
/// is cancelled, or give it a time-out: others wait for its place.
///
/// It has the shape of swift-service-lifecycle's `Service`, of which this library does not depend. One line makes it
/// one, which ends by cancellation (`cancellationSignals: [.sigterm]`):
///
///     extension ProviderService: @retroactive Service {}
///
/// Where the group shuts down gracefully instead, run it as
/// `cancelWhenGracefulShutdown { try await provider.run() }`: a cancellation is graceful here.
public final class ProviderService: Sendable {
    /// The identity of this run of the process, new for each instance: a UUID in lower case.
    public let id = ClientIdentity.uuid()
    private let session: IsletSession?
    private let capacity: Int
    private let gracePeriod: Duration
    private let kinds: [ProviderKind]
    private let onEvent: @Sendable (ProviderEvent) -> Void
    private let isRunning = Mutex(false)

    /// A provider of these kinds.
    ///
    /// - Parameters:
    ///   - session: the app and the service; nil: the task's when it runs, else the process's (see ``Islet``).
    ///   - capacity: how many calls it takes at a time, 1 to 1 024.
    ///   - gracePeriod: how long a cancellation, or a refusal of the registration, waits for the handlers at work,
    ///     whether the service still waits for them or not.
    ///   - onEvent: hears what happens. It is called by the thread of the socket and by those of handlers, and must
    ///     return soon.
    ///   - kinds: controls and widgets, their configurations, and bundles of them.
    public init(
        session: IsletSession? = nil, capacity: Int = 16, gracePeriod: Duration = .seconds(5),
        onEvent: @escaping @Sendable (ProviderEvent) -> Void = { _ in },
        @WidgetBundleBuilder kinds: () -> [ProviderKind]
    ) {
        self.session = session
        self.capacity = capacity
        self.gracePeriod = gracePeriod
        self.onEvent = onEvent
        self.kinds = kinds()
    }

    /// A provider of a bundle; else as ``init(session:capacity:gracePeriod:onEvent:kinds:)``.
    public convenience init(
        _ bundle: some WidgetBundle, session: IsletSession? = nil, capacity: Int = 16,
        gracePeriod: Duration = .seconds(5), onEvent: @escaping @Sendable (ProviderEvent) -> Void = { _ in }
    ) {
        self.init(session: session, capacity: capacity, gracePeriod: gracePeriod, onEvent: onEvent) { bundle }
    }

    /// Serves until the task is cancelled; then takes no new calls but actions that are on their way, lets those at work
    /// end within the grace period, and says goodbye. Handlers that do not end then are cancelled, and not waited for. A
    /// refusal, too, ends it only after those that are still at work, within the same period.
    ///
    /// - Throws: ``IsletError/refused(_:)`` where the service refuses the registration for good, or for 20 s with
    ///   `conflict`: another provider declares a kind differently, and is not one that was killed, which the service
    ///   would have given up by then, or so many are `placed` that need what was declared before, as a widget its
    ///   family, which are removed first; ``IsletError/invalid(_:)`` where a declaration cannot be written, they are too
    ///   long together, there is none, or it runs already; ``IsletError/notConfigured``;
    ///   ``IsletError/endpoint(_:reason:)``.
    public func run() async throws(IsletError) {
        let session = if let session { session } else { try Islet.current() }
        guard isRunning.withLock({ isRunning in !exchange(&isRunning, with: true) }) else {
            throw .invalid("this provider runs already")
        }
        defer { isRunning.withLock { $0 = false } }
        let table = try KindTable(kinds)
        let machine = try machine(of: table, app: session.app)
        // Bounded by twice the capacity, beyond which the machine begins nothing.
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
            let runner = ProviderCallRunner(kinds: table, tell: onEvent)
            result = await Islet.$session.withValue(session) { await serve(jobs, loop, runner) }
        } catch {
            result = .failure(error)
        }
        await thread.stop()
        try result.get()
    }

    private func machine(of table: KindTable, app: String) throws(IsletError) -> ProviderMachine {
        guard (1...1_024).contains(capacity) else { throw .invalid("a provider's capacity is 1 to 1 024") }
        let machine = ProviderMachine(
            id: id, app: app, kinds: try table.controlDeclarations(), widgets: try table.widgetDeclarations(),
            capacity: capacity, grace: gracePeriod, now: .now)
        // Room for a longer number of the registration. The service's refusal could not be told from others.
        guard machine.registrationSize + 32 <= RequestTable.maximumFrame else {
            throw .invalid(
                "the declarations of all kinds have \(machine.registrationSize) bytes, and may have "
                    + "\(RequestTable.maximumFrame - 32) together: make them shorter, or divide them among providers")
        }
        return machine
    }

    /// Runs the handlers of the calls until all is over.
    private func serve(
        _ jobs: AsyncStream<ProviderJob>, _ loop: ProviderLoop, _ runner: ProviderCallRunner
    ) async -> Result<Void, IsletError> {
        // Neither it nor the handlers are children: a cancellation would end the stream, from which actions that crossed
        // the drain are taken still, and leaves the handlers the grace period.
        let taking = Task { @concurrent in
            for await job in jobs {
                let task = Task { @concurrent in
                    guard !job.isCancelled else {
                        return await loop.finished(job.call, .failed(message: "cancelled", isRetryable: true))
                    }
                    await loop.finished(job.call, runner.reply(to: job.call))
                }
                job.run(in: task)
            }
        }
        return await withTaskCancellationHandler {
            await taking.value
            return await loop.wait()
        } onCancel: {
            loop.requestStop()
        }
    }
}
