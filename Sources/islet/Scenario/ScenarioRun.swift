import ArgumentParser
import Glibc
import IsletClient
import IsletFilter

/// `islet scenario run`.
struct ScenarioRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Play scenarios, and say what was not as expected.",
        discussion: """
            EXAMPLES:
              islet scenario run order.yaml
              islet scenario run scenarios/ --junit report.xml     all YAML files in it
              islet scenario run order.yaml --only '*stale*'
              islet scenario run order.yaml --json | jq '.results[] | select(.passed | not)'
              islet scenario run order.yaml --commands tcp://127.0.0.1:7411

            A FILE:
              name: an order goes stale, and recovers
              app: com.example.pizza
              steps:
                - start: {key: order-1, contentState: {eta: 20}, staleDate: 30m}
                - advance: 30m
                  events: [activity.stale]
                - update: {key: order-1, contentState: {eta: 12}}
                - state: {order-1: active}

            Each YAML document is a scenario; examples/scenarios in the project has some,
            and a page on all that a step may say. A scenario plays against a service of
            its own in this process, in memory, whose clock it moves; with --commands or
            --context against that one, which must run with --clock manual where the
            scenario moves the clock. After a failure the next scenario goes on.

            EXIT CODES: 0 all passed; 1 some failed; 2 a file is wrong, or the usage; 5 the
            service that was named does not answer any more.
            """)

    @OptionGroup var files: ScenarioFiles

    @Option(
        help: ArgumentHelp("Also write the results as JUnit's XML to this file.", valueName: "file"),
        completion: .file(extensions: ["xml"]))
    var junit: String?

    @Flag(help: "One JSON object on standard output with all results.")
    var json = false

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let scenarios = try await files.read()
        let player = ScenarioPlayer(
            service: try await endpoints(for: scenarios), answerPatience: service.timeout.duration)
        let begun = ContinuousClock.now
        var results: [ScenarioResult] = []
        var ending: (any Error)?
        for scenario in scenarios {
            do {
                let result = try await player.play(scenario)
                results.append(result)
                if !json {
                    for line in ScenarioReport.lines(result, style: .output) { Console.data(line) }
                }
            } catch {
                // The service that was named is gone. What was played until then is reported all the same.
                ending = error
                break
            }
        }
        let report = ScenarioReport(results, duration: .now - begun)
        if json { Console.data(report.json.bytes) } else { Console.data(report.summary) }
        if let junit { try Self.write(JUnitReport.text(report), to: junit) }
        if let ending { throw ending }
        if report.failed > 0 { throw ExitCode(Outcome.failure.rawValue) }
    }

    // MARK: A service that is there

    /// The service that was named, with its streams; nil where each scenario has its own.
    ///
    /// Only what is named on the command line counts: a context that happens to be in use, or what the environment says,
    /// may be a service that matters to somebody.
    private func endpoints(for scenarios: [Scenario]) async throws -> Endpoints? {
        guard service.namesService else {
            if let context = service.context {
                throw Failure(
                    .usage,
                    "the context '\(context)' does not say where commands go: name the service with --commands, or "
                        + "leave --context out, and each scenario has a service of its own")
            }
            if service.events != nil || service.bulk != nil {
                throw Failure(
                    .usage, "--events and --bulk need --commands: else each scenario has a service of its own")
            }
            return nil
        }
        return try await service.withConnection(.events) { connection in
            let info = try await connection.send(Command("service.info"))["info"]?.object
            let kind = info?["clock"]?.object?["kind"]?.string ?? "unknown"
            if kind != "manual", let scenario = scenarios.first(where: \.movesClock) {
                throw Failure(
                    .usage,
                    "\(scenario.path):\(scenario.place.line): '\(scenario.name)' moves the clock, and that of "
                        + "\(connection.endpoints.commands) is no manual one (\(kind)): start it with --clock manual, "
                        + "or leave --commands out")
            }
            if let scenario = scenarios.first(where: { !$0.rules.isEmpty }) {
                Console.message("the rules of '\(scenario.name)' do not hold there: that service has its own")
            }
            if let scenario = scenarios.first(where: { $0.clock != Scenario.usualClock }) {
                Console.message("the clock of '\(scenario.name)' is not set there: that service has its own time")
            }
            if let error = await service.foreignStreams(of: connection, bulk: false).events { throw error }
            return connection.endpoints
        }
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(.usage, path, errno) }
        defer { close(descriptor) }
        if let error = Output.write(Array(text.utf8)[...], to: descriptor) { throw failure(.failure, path, error) }
    }

    private static func failure(_ code: Outcome, _ path: String, _ error: Int32) -> Failure {
        Failure(code, "cannot write \(path): \(String(cString: strerror(error)))")
    }
}
