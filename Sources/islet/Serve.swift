import ArgumentParser
import Glibc
import IsletServer
import Logging
import ServiceLifecycle
import UnixSignals

/// `islet serve`: runs the service until it is told to stop.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Run the service.")

    @Option(help: "Where commands are taken.") var commands = "tcp://127.0.0.1:7411"
    @Option(help: "Where events are published.") var events = "tcp://127.0.0.1:7412"
    @Option(help: "Where snapshots and replays are pulled.") var bulk = "tcp://127.0.0.1:7413"
    @Option var ingest: String?
    @Option var http = "none"
    @Option var store = "memory"
    @Option var clock = "system"
    @Option var speed: Double?

    func run() async throws {
        var configuration = ServeConfiguration()
        configuration.commands = commands
        configuration.events = events
        configuration.bulk = bulk
        configuration.ingest = ingest
        if clock == "manual" { configuration.clock = ServeConfiguration.manualClock }
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var logger = Logger(label: "islet")
        logger.logLevel = .notice
        let service = IsletService(configuration, logger: logger) { card in
            printError(card.readyLine)
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }
}

/// Writes a line on standard error, past all buffers.
func printError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
