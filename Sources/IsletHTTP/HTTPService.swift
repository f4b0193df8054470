import HummingbirdCore
package import IsletServer
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import ZeroMQ

/// The service's pages: the board, its way to the bus, metrics and health.
///
/// It stands beside the service and is a client of it like any other: what happens here takes threads of its own, and
/// the service never waits for it. It is bound before the service starts, so that a port that is taken ends the start,
/// and answers `starting` until the service is ready.
package struct HTTPService: Service {
    /// They only carry bytes, and live as long as the process.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    /// How long commands wait for their answers at the stop: the service, which is stopped after its pages, mostly gives
    /// them at once.
    private static let answerPatience = Duration.milliseconds(300)
    /// How long connections may take to end by themselves at the stop.
    private static let stopPatience = Duration.milliseconds(500)

    private let address: HTTPAddress
    private let logger: Logger
    private let bound = Announcement<String>()
    private let bridge = Bridge()
    private let streams = EventStreams()
    private let canWrite: Bool
    private let assets: BoardAssets

    /// - Parameters:
    ///   - canWrite: whether the board may change something.
    ///   - boardFiles: a folder whose files are served instead of the built-in ones, read anew each time.
    package init(_ address: HTTPAddress, canWrite: Bool, boardFiles: String? = nil, logger: Logger) {
        self.address = address
        self.canWrite = canWrite
        self.logger = logger
        assets = BoardAssets(folder: boardFiles)
    }

    /// The URL where it serves, with the port that was found; known once it is bound.
    ///
    /// - Throws: what ``run()`` throws where it cannot be bound.
    package var url: String {
        get async throws { try await bound.result.get() }
    }

    /// The service that is shown serves now.
    package func show(_ card: ServiceCard, _ inspection: Inspection) {
        bridge.begin(card, inspection)
    }

    /// Serves until it is shut down or cancelled.
    ///
    /// - Throws: `StartError` where the address cannot be bound.
    package func run() async throws {
        let connections = ConnectionTable()
        let server = server(connections)
        // It is never cancelled, only shut down: NIO traps where a connection was accepted and is not handled.
        let serving = Task { try await serve(server) }
        if case .success = await bound.result {
            // Cancellation ends the wait as well.
            try? await gracefulShutdown()
            await end(server, connections)
        }
        try await serving.value
    }

    private func server(_ connections: ConnectionTable) -> Server<HTTP1Channel> {
        let responder = Responder(
            bridge: bridge, streams: streams, assets: assets, canWrite: canWrite, logger: logger)
        let channel = HTTP1Channel(
            responder: { request, writer, channel in
                try await responder.respond(to: request, with: writer, on: channel)
            },
            configuration: .init(
                additionalChannelHandlers: [ConnectionHandler(table: connections)],
                idleTimeout: HTTPLimits.idleTime,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: HTTPLimits.headerFieldBytes, maxHeaderListSize: HTTPLimits.headerBytes,
                    maxHeaderFieldCount: HTTPLimits.headerFields)))
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port), backlog: HTTPLimits.connections,
                availableConnectionsDelegate: .maximum(
                    HTTPLimits.connections + HTTPLimits.spareConnections, logger: quiet)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                bound.tell(.success(HTTPAddress(host: address.host, port: port).url))
            },
            eventLoopGroup: Self.loops, logger: quiet)
    }

    private func serve(_ server: Server<HTTP1Channel>) async throws {
        do {
            try await server.run()
        } catch let error as IOError {
            let error = StartError(address: address.url, reason: ZeroMQError(code: error.errnoCode))
            bound.tell(.failure(error))
            throw error
        } catch {
            bound.tell(.failure(error))
            throw error
        }
        guard !bridge.isStopping, !Task.isShuttingDownGracefully else { return }
        // The bus is worth more than its pages: the service goes on without them.
        logger.critical("HTTP has ended by itself: the board and the metrics are gone until the next start")
    }

    /// Ends what is under way: streams at once, commands with an answer, and after a moment what does not end by itself.
    private func end(_ server: Server<HTTP1Channel>, _ connections: ConnectionTable) async {
        bridge.stop()
        streams.stop()
        let patience = Task {
            try await Task.sleep(for: Self.answerPatience)
            await bridge.close()
            try await Task.sleep(for: Self.stopPatience - Self.answerPatience)
            connections.closeAll()
        }
        try? await server.shutdownGracefully()
        patience.cancel()
        await bridge.close()
    }
}
