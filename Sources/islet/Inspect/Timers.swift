import ArgumentParser
import IsletClient

/// `islet timers`: what happens next by itself, and how late it is.
struct Timers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what fires next, and how late timers are.",
        discussion: """
            EXAMPLES:
              islet timers                            the next 50 of all apps
              islet timers --limit 5 --family widget
              islet timers --app com.example.delivery --device phone-1
              islet timers --hours                    how many in each of the next hours
              islet timers --calls                    what providers are asked now
              islet timers --filter 'cause=staleDate and key~order-*' -o name
              islet timers --json | jq -r '[.at, .cause, .id] | @tsv'

            A timer is the next deadline of an activity, a control or a widget: it goes
            stale, ends, is removed, is asked for anew. OVERDUE ones are past their date
            and have not fired yet; lateness is how long after its date one has fired,
            in real time.
            Calls are what providers are asked now: each fails when its time is over.
            --filter compares at, cause, family, app, kind, id, key, device and state, and
            looks through the next 1 000.
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

    @Flag(help: "Only the calls to providers that are under way or wait.")
    var calls = false

    @OptionGroup var filter: FilterOption<TimerRows>
    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    /// What one answer has at most, by the contract.
    private static let limitMax = 1_000

    func validate() throws {
        guard limit.limit <= Self.limitMax else { throw ValidationError("--limit is at most \(Self.limitMax) here") }
        guard !hours || filter.text == nil else { throw ValidationError("--hours counts all: it takes no --filter") }
        guard !hours || !calls else { throw ValidationError("--hours counts timers: it does not go with --calls") }
        guard !calls || filter.text == nil else { throw ValidationError("--filter is of timers: it does not go with --calls") }
        guard !hours || !output.isNames else { throw ValidationError("--hours counts, and names none") }
    }

    func run() async throws {
        var command = Command("timer.list")
        command["app"] = app.map(RawJSON.string)
        command["device"] = device.map(RawJSON.string)
        command["family"] = family.map(RawJSON.string)
        let filter = filter.filter
        command["limit"] = .integer(filter == nil ? limit.limit : Self.limitMax)
        try await service.withConnection { [command] connection in
            let answer = try await connection.send(command)
            let now = try await connection.now()
            if calls {
                guard answer["calls"] != nil else {
                    throw Failure(.refused, "this service is older than this command, and tells no calls")
                }
                return try await writeCalls(CallsText(answer, style: .output))
            }
            let all = answer[hours ? "hours" : "timers"]?.elements?.compactMap(\.object) ?? []
            let selection = filter.map {
                Pages.Selection(all, limit: limit.limit, fitting: $0, now: now, of: answer["total"]?.integer)
            }
            let rows = selection?.rows ?? all
            let text = TimersText(answer, now: now, style: .output)
            try await RowOutput.write(rows, output, name: TimersText.address) { isWide in
                hours ? text.hours : text.table(of: rows, isWide: isWide)
            }
            if !output.json, !output.isNames {
                if !hours { for line in CallsText(answer, style: .output).section { Console.data(line) } }
                let stats = try await connection.send(Command("service.stats"))["stats"]?.object ?? [:]
                for line in TimersText.lateness(stats) { Console.data(line) }
            }
            let filters: KeyValuePairs = ["app": app, "device": device, "family": family]
            if let selection { return Console.message(selection.line + ShownCount.told(filters)) }
            Console.message(hours ? text.total(filters) : text.shown(filters))
        }
    }

    private func writeCalls(_ text: CallsText) async throws {
        try await RowOutput.write(text.calls, output, name: CallsText.address) { isWide in text.table(isWide: isWide) }
        Console.message(text.shown(["app": app, "device": device, "family": family]))
    }
}
