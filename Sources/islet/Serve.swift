import ArgumentParser
import Glibc
import IsletHTTP
import IsletServer
import Logging
import ServiceLifecycle
import UnixSignals

/// `islet serve`: runs the service until it is told to stop.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            EXAMPLES:
              islet serve
              islet serve --data /srv/islet --sync normal
              islet serve --store memory
              islet serve --config islet.yaml --check-config
              islet serve --clock manual --commands 'tcp://127.0.0.1:*'

            Each setting may also stand in the YAML file (commands: …) or in the environment (ISLET_COMMANDS=…); a flag \
            stands over the environment, and that over the file.

            SETTINGS OF THE FILE:
            These have no flag. With their defaults:

            \(indented(ServeConfiguration.yamlWithoutFlags))
            """)

    @Option(help: ArgumentHelp("A YAML file with settings (or ISLET_CONFIG).", valueName: "file"))
    var config: String?
    @Flag(help: "Show the settings that would hold and what is wrong with them, and end: with 2 where anything is.")
    var checkConfig = false
    @Option(help: ArgumentHelp("Where commands are taken. (default: tcp://127.0.0.1:7411)", valueName: "url"))
    var commands: String?
    @Option(help: ArgumentHelp("Where events are published. (default: tcp://127.0.0.1:7412)", valueName: "url"))
    var events: String?
    @Option(
        help: ArgumentHelp("Where snapshots and replays are pulled. (default: tcp://127.0.0.1:7413)", valueName: "url"))
    var bulk: String?
    @Option(help: ArgumentHelp("Where commands are taken from plain publishers. (default: none)", valueName: "url"))
    var ingest: String?
    @Option(
        help: ArgumentHelp(
            "Where the board, /metrics and /healthz are, or none. (default: 127.0.0.1:7414)", valueName: "host:port"))
    var http: String?
    @Flag(help: "Let the board change something: tap controls, end activities …")
    var boardWrite = false
    @Option(help: ArgumentHelp("Where state is kept: sqlite or memory. (default: sqlite)", valueName: "store"))
    var store: String?
    @Option(
        help: ArgumentHelp(
            "The directory of the store's files. (default: islet in the XDG state directory)",
            valueName: "dir"))
    var data: String?
    @Option(
        help: ArgumentHelp(
            "What a commit waits for: full, the disk, or normal, the system. (default: full)", valueName: "mode"))
    var sync: String?
    @Option(help: ArgumentHelp("Domain time: system, manual or manual=MS. (default: system)", valueName: "clock"))
    var clock: String?
    @Option(help: ArgumentHelp("How many times faster than real time domain time runs.", valueName: "factor"))
    var speed: String?
    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical. (default: notice)", valueName: "level"))
    var logLevel: String?

    func run() async throws {
        let reading = ConfigurationReading(
            ConfigurationSources(
                flags: flags, environment: processEnvironment()))
        for problem in reading.warnings { printError("islet: warning: \(problem)") }
        for problem in reading.problems { printError("islet: \(problem)") }
        if checkConfig { Console.text(reading.configuration.yaml) }
        guard reading.problems.isEmpty else { throw ExitCode(2) }
        ServiceProcess.prepare()
        if !checkConfig { try await serve(reading.configuration) }
    }

    /// The text as an example: help does not wrap what is indented.
    private static func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    }

    /// The flags that were given, by the names of their settings.
    private var flags: [String: String] {
        let all = [
            "config": config, "commands": commands, "events": events, "bulk": bulk, "ingest": ingest, "http": http,
            "store": store, "data": data, "sync": sync, "clock": clock, "speed": speed, "logLevel": logLevel,
        ]
        return all.merging(["boardWrite": boardWrite ? "true" : nil]) { $1 }.compactMapValues { $0 }
    }

    private func serve(_ configuration: ServeConfiguration) async throws {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var logger = Logger(label: "islet")
        logger.logLevel = configuration.logLevel
        let pages = HTTPService(configuration, logger: logger)
        let service = IsletService(configuration, logger: logger) {
            try await pages?.url
        } onRecovery: { report, duration in
            printError(RecoveryText.line(report, in: duration))
        } onReady: { card, inspection in
            pages?.show(card, inspection)
            printError(card.readyLine)
        }
        // They stop from the last to the first.
        let services: [any Service] = [service] + (pages.map { [$0] } ?? [])
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0) }, gracefulShutdownSignals: ServiceProcess.signalsToStop,
                logger: logger))
        try await group.run()
    }
}

/// The variables that this process was started with.
///
/// `environ` may be changed by `setenv`, which nothing in this process calls.
func processEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
        let text = String(cString: entry)
        if let equals = text.firstIndex(of: "=") {
            result[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        next += 1
    }
    return result
}

/// Writes a line on standard error, past all buffers.
func printError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
