import IsletCore
import IsletJournal
package import IsletMetrics
package import Logging
import ServiceLifecycle
import Synchronization
import ZeroMQ

/// The service as a whole: opens the store, starts the bus thread with its host, says that it serves, and stops
/// gracefully.
package struct IsletService: Service {
    private let configuration: ServeConfiguration
    private let logger: Logger
    private let http: @Sendable () async throws -> String?
    private let onRecovery: @Sendable (RecoveryReport, Duration) -> Void
    private let onReady: @Sendable (ServiceCard, ServiceInspection) -> Void
    private let metrics: PrometheusMetrics

    /// - Parameters:
    ///   - http: gives the URL where HTTP is served, once it is bound; nil where it is not.
    ///   - onRecovery: called once, before `onReady`, if the store held anything; with the time that it took.
    ///   - metrics: where the service's figures are shown; one of its own where there is no other.
    ///   - onReady: called once, when commands are taken; with what may be asked of the service from inside the process.
    package init(
        _ configuration: ServeConfiguration, logger: Logger,
        metrics: PrometheusMetrics = PrometheusMetrics(ServiceMetrics.descriptions),
        http: @escaping @Sendable () async throws -> String? = { nil },
        onRecovery: @escaping @Sendable (RecoveryReport, Duration) -> Void = { _, _ in },
        onReady: @escaping @Sendable (ServiceCard, ServiceInspection) -> Void
    ) {
        self.metrics = metrics
        self.configuration = configuration
        self.logger = logger
        self.http = http
        self.onRecovery = onRecovery
        self.onReady = onReady
    }

    /// Serves until it is shut down or cancelled.
    ///
    /// - Throws: `StoreError` or `RecoveryError` where the data cannot be used, before any socket is bound; `StartError`
    ///   where an address cannot be; what `http` throws.
    package func run() async throws {
        let teller = StopTeller(logger) { "the start" }
        defer { teller.end() }
        try await withGracefulShutdownHandler {
            try await run(teller)
        } onGracefulShutdown: {
            teller.begin()
        }
    }

    private func run(_ teller: StopTeller) async throws {
        let http = try await http()
        let begun = ContinuousClock.now
        let startedAt = Double(ClockReading.system().wall) / 1_000
        let clock = configuration.clock
        let store = try openStore()
        if let store { await waitForClock(clock, persisted: store.summary.clock) }
        // Nothing was made yet, and nothing has to be said.
        if Task.isShuttingDownGracefully { return logger.info("stopped before it served") }
        let context = try ZeroMQContext(interrupting: false)
        let thread = try BusThread(name: "islet-bus")
        let host: EngineHost
        do {
            host = try await self.host(on: thread, context, store, http: http, since: begun)
        } catch {
            await thread.stop()
            throw error
        }
        logger.notice("\(host.card.guaranteeInWords)", metadata: ["guarantee": "\(host.card.guarantee.rawValue)"])
        let figures = ServiceMetrics(
            metrics, version: ServiceCard.version, guarantee: host.card.guarantee.rawValue, startedAt: startedAt)
        teller.waits(for: { host.stopWaitsFor.withLock { $0 } })
        if !Task.isShuttingDownGracefully {
            onReady(
                host.card,
                ServiceInspection(host, figures, directory: configuration.store == .sqlite ? configuration.data : nil))
        }
        // Cancellation ends the wait as well, and the streams deserve their goodbye in both cases.
        try? await gracefulShutdown()
        logger.info("stopping")
        await host.stop()
        await thread.stop()
        // Whoever still has the host has the sockets' context: without this, the process could end before its goodbye left.
        context.end()
        logger.info("stopped")
    }

    private func host(
        on thread: BusThread, _ context: ZeroMQContext, _ store: sending Store?, http: String?,
        since begun: ContinuousClock.Instant
    ) async throws -> EngineHost {
        let configuration = configuration
        let onRecovery = onRecovery
        let logger = logger
        let notices = NoticeBox(waking: thread)
        // The store is made here and used there, by one thread at a time.
        let parcel = Parcel(store)
        return try await thread.host { thread throws in
            try EngineHost(
                on: thread, context: context, configuration, store: parcel.take(), http: http, notices: notices,
                logger: logger
            ) {
                onRecovery($0, ContinuousClock.now - begun)
            }
        }
    }

    private func openStore() throws(StoreError) -> sending Store? {
        switch configuration.store {
        case .memory: return nil
        case .sqlite: break
        }
        let logger = logger
        var options = StoreOptions {
            var random = SystemRandomNumberGenerator()
            let now = Instant(ClockReading.system().wall)
            return EntityID(version7At: now, random: (random.next(), random.next())).description
        }
        options.sync = configuration.sync
        options.segmentBytes = configuration.journal.segmentBytes
        options.retentionBytes = configuration.journal.retentionBytes
        options.retentionTime = configuration.journal.retention
        options.answerRetention = RetryWindow.Limits.standard.span
        options.minimumFree = configuration.journal.minimumFree
        options.logRoom = configuration.journal.logRoom
        options.allowVolatile = configuration.journal.allowVolatile
        options.onWarning = { logger.warning("\($0)") }
        return try Store.open(directory: configuration.data, options: options)
    }

    /// A machine whose clock is not set yet must not date events: where the wall clock stands before what was persisted,
    /// the start waits for it for a while, and then goes on with the persisted time (engine.md 1.4).
    private func waitForClock(_ clock: ClockMode, persisted: Milliseconds) async {
        guard case .system = clock else { return }
        let deadline = ContinuousClock.now + Self.clockPatience
        var hasWarned = false
        while true {
            let behind = persisted - ClockReading.system().wall
            guard behind > Self.clockTolerance else { return }
            if !hasWarned {
                hasWarned = true
                logger.warning(
                    "the clock stands before the journal's last entry: waiting for it to be set",
                    metadata: ["behind": "\(behind) ms", "patience": "\(Self.clockPatience)"])
            }
            guard ContinuousClock.now < deadline else { break }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(250)) }
            if Task.isShuttingDownGracefully || Task.isCancelled { return }
        }
        logger.warning("the clock still stands before the journal's last entry: time stands still until it is there")
    }

    /// How long a start waits for a clock that is not set.
    private static let clockPatience = Duration.seconds(60)
    /// Two clocks of one machine, before and after a reboot, may differ by as many milliseconds.
    private static let clockTolerance: Milliseconds = 1_000
}

/// Hands a store from the task that opened it to the thread that owns it.
private final class Parcel: Sendable {
    private let content: Mutex<Store?>

    init(_ store: sending Store?) {
        content = Mutex(store)
    }

    func take() -> sending Store? { content.withLock { $0.take() } }
}
