import ArgumentParser
import IsletClient
import IsletCore
import IsletHTTP
import IsletServer
import Logging
import ServiceLifecycle
import UnixSignals

/// `islet dev`: a service whose time runs fast, with a demo: a morning of a delivery service, a home with controls,
/// and a traveller with widgets.
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a service with a demo, to look around.",
        discussion: """
            EXAMPLES:
              islet dev                     one second is ten minutes
              islet dev --speed 60          one second is one minute
              islet dev --no-demo           only the service
              islet dev --no-board-write    the board only shows

            In a second terminal: islet top, islet tail, islet apps,
            islet control tap Torch --wait, islet widget timeline Flight.
            In a browser: the board, at the address that it says.
            """)

    @Option(help: ArgumentHelp("How fast the service's time runs.", valueName: "factor"))
    var speed = 600.0

    @Flag(inversion: .prefixedNo, help: "Play the demo.")
    var demo = true

    @Option(
        help: ArgumentHelp(
            "Where commands are taken (else ISLET_COMMANDS, else tcp://127.0.0.1:7411).", valueName: "url"))
    var commands: String?

    @Option(
        help: ArgumentHelp(
            "Where events are published (else ISLET_EVENTS, else tcp://127.0.0.1:7412).", valueName: "url"))
    var events: String?

    @Option(
        help: ArgumentHelp(
            "Where snapshots and replays are pulled (else ISLET_BULK, else tcp://127.0.0.1:7413).", valueName: "url"))
    var bulk: String?

    @Option(
        help: ArgumentHelp(
            "Where the board is, or none (else ISLET_HTTP, else 127.0.0.1:7414).", valueName: "host:port"))
    var http: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Let the board change something: tap controls, end activities … It is on this machine alone.")
    var boardWrite = true

    @Option(
        help: ArgumentHelp("Keep everything in this directory. (default: it is gone at the end)", valueName: "dir"))
    var data: String?

    func validate() throws {
        guard speed >= 1, speed <= 100_000 else { throw ValidationError("--speed is between 1 and 100000") }
        do throws(HTTPAddressError) {
            _ = try HTTPAddress.checked(boardAddress)
        } catch {
            throw ValidationError("--http: \(error)")
        }
    }

    private var boardAddress: String { http ?? environment("ISLET_HTTP") ?? HTTPAddress.standard.description }

    func run() async throws {
        ServiceProcess.prepare()
        var configuration = ServeConfiguration()
        if let url = commands ?? environment("ISLET_COMMANDS") { configuration.commands = url }
        if let url = events ?? environment("ISLET_EVENTS") { configuration.events = url }
        if let url = bulk ?? environment("ISLET_BULK") { configuration.bulk = url }
        configuration.http = try HTTPAddress.checked(boardAddress)
        configuration.boardWrite = boardWrite
        configuration.store = data == nil ? .memory : .sqlite
        if let data { configuration.data = data }
        if demo {
            configuration.demo = ServeConfiguration.DemoApps(
                activity: DemoShop.app, control: DemoHome.app, widget: DemoTravel.app)
        }
        configuration.clock = .speed(from: Instant(WallClock.now()), factor: speed)
        var logger = Logger(label: "islet") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning

        let (cards, ready) = AsyncStream.makeStream(of: ServiceCard.self, bufferingPolicy: .bufferingNewest(1))
        let pages = HTTPService(configuration, logger: logger)
        let service = IsletService(configuration, logger: logger) {
            try await pages?.url
        } onRecovery: { report, duration in
            Console.message(RecoveryText.line(report, in: duration))
        } onReady: { card, inspection in
            pages?.show(card, inspection)
            ready.yield(card)
            ready.finish()
        }
        let show = DemoService(cards: cards, speed: speed, isOn: demo, canWrite: boardWrite, data: data)
        // They stop from the last to the first.
        let services: [any Service] = [service] + (pages.map { [$0] } ?? []) + [show]
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0) }, gracefulShutdownSignals: ServiceProcess.signalsToStop,
                logger: logger))
        try await group.run()
    }
}
