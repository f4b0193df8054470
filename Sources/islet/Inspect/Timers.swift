import ArgumentParser
import IsletClient

/// `islet timers`: what happens next by itself, and how late it is.
struct Timers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what fires next, how many fire in each hour, and how late timers are.",
        discussion: """
            EXAMPLES:
              islet timers                            the next 50 of all apps
              islet timers --limit 5 --family widget
              islet timers --app com.example.delivery --device phone-1
              islet timers --hours                    how many in each of the next hours
              islet timers --json | jq -r '[.at, .cause, .id] | @tsv'

            A timer is the next deadline of an activity, a control or a widget: it goes
            stale, ends, is removed, is asked for anew. OVERDUE ones are past their date
            and have not fired yet; lateness is how long after its date one has fired.
            """)

    @Option(help: ArgumentHelp("Only of this app.", valueName: "bundle id"), completion: .custom(Completions.apps))
    var app: String?

    @Option(help: ArgumentHelp("Only of this device.", valueName: "device"), completion: .custom(Completions.devices))
    var device: String?

    @Option(
        help: ArgumentHelp("Only these: activity, control or widget.", valueName: "family"),
        completion: .list(["activity", "control", "widget"]))
    var family: String?

    @Flag(help: "How many fire in each hour, instead of which.")
    var hours = false

    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    /// What one answer has at most, by the contract.
    private static let limitMax = 1_000

    func validate() throws {
        guard limit.limit <= Self.limitMax else { throw ValidationError("--limit is at most \(Self.limitMax) here") }
    }

    func run() async throws {
        var command = Command("timer.list")
        command["app"] = app.map(RawJSON.string)
        command["device"] = device.map(RawJSON.string)
        command["family"] = family.map(RawJSON.string)
        command["limit"] = .integer(limit.limit)
        try await service.withConnection { [command] connection in
            let answer = try await connection.send(command)
            let rows = answer[hours ? "hours" : "timers"]?.elements ?? []
            guard !output.json else {
                for row in rows { Console.data(row.bytes) }
                return
            }
            let text = TimersText(answer, now: try await connection.now(), style: .output)
            for line in hours ? text.hours : text.table { Console.data(line) }
            let stats = try await connection.send(Command("service.stats"))["stats"]?.object ?? [:]
            for line in TimersText.lateness(stats) { Console.data(line) }
            let filters: KeyValuePairs = ["app": app, "device": device, "family": family]
            Console.message(hours ? text.total(filters) : text.shown(filters))
        }
    }
}
