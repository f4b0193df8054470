import IsletJournal
package import Logging
import ServiceLifecycle
import ZeroMQ

/// The service as a whole: starts the bus thread with its host, says that it serves, and stops gracefully.
package struct IsletService: Service {
    private let configuration: ServeConfiguration
    private let logger: Logger
    private let onReady: @Sendable (ServiceCard) -> Void

    /// - Parameter onReady: called once, when commands are taken.
    package init(
        _ configuration: ServeConfiguration, logger: Logger, onReady: @escaping @Sendable (ServiceCard) -> Void
    ) {
        self.configuration = configuration
        self.logger = logger
        self.onReady = onReady
    }

    /// Serves until it is shut down or cancelled.
    ///
    /// - Throws: `StartError` where an address cannot be bound.
    package func run() async throws {
        let context = try ZeroMQContext()
        let thread = try BusThread(name: "islet-bus")
        let configuration = configuration
        let host: EngineHost
        do {
            host = try await thread.host { thread throws in
                try EngineHost(
                    on: thread, context: context, configuration, journal: MemoryJournal(),
                    notices: NoticeBox(waking: thread))
            }
        } catch {
            await thread.stop()
            throw error
        }
        logger.notice("\(host.card.guaranteeInWords)", metadata: ["guarantee": "\(host.card.guarantee.rawValue)"])
        onReady(host.card)
        // Cancellation ends the wait as well, and the streams deserve their goodbye in both cases.
        try? await gracefulShutdown()
        logger.info("stopping")
        await host.stop()
        await thread.stop()
        logger.info("stopped")
    }
}
