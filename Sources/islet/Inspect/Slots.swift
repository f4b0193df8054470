import ArgumentParser
import IsletClient
import IsletFilter

/// `islet slots`: who holds the slots of the maxima.
struct Slots: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who holds the slots of the maxima.",
        discussion: """
            EXAMPLES:
              islet slots                        all devices that hold any
              islet slots --device phone-1       and which activities hold them
              islet slots --app com.example.delivery
              islet slots --filter 'held>=20' -o name
              islet slots --json | jq -c 'select(.held >= 20)'

            A device shows a limited number of activities, and a limited number of each
            app (islet info: maximumPerDevice, maximumPerApp). A start beyond that is
            refused (exit code 6) until one ends.
            """)

    @Option(
        help: ArgumentHelp("Only this device, with the activities that hold its slots.", valueName: "device"),
        completion: .custom(Completions.devices))
    var device: String?

    @Option(
        help: ArgumentHelp("Only what this app holds.", valueName: "bundle id"), completion: .custom(Completions.apps))
    var app: String?

    @OptionGroup var filter: FilterOption<SlotRows>
    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        var command = Command("slot.list")
        command["app"] = app.map(RawJSON.string)
        command["device"] = device.map(RawJSON.string)
        try await service.withConnection { [command] connection in
            var first = command
            first["limit"] = .integer(1)
            let maxima = try await connection.send(first)
            let (rows, count) = try await rows(command, connection)
            try await RowOutput.write(rows, output, name: { $0["device"]?.string ?? "?" }) { _ in
                let byHeld = rows.sorted { ($0["held"]?.integer ?? 0) > ($1["held"]?.integer ?? 0) }
                return SlotsText(maxima, style: .output).table(byHeld)
            }
            if device != nil, !output.json, !output.isNames { try await showHolders(rows, connection) }
            Console.message(count)
        }
    }

    /// The rows, and how many there are of which.
    private func rows(
        _ command: Command, _ connection: IsletConnection
    ) async throws -> (rows: [RawObject], count: String) {
        let filters: KeyValuePairs = ["app": app, "device": device]
        guard let filter = filter.filter else {
            let (rows, total, isExact) = try await Pages.rows(command, "devices", limit: limit.limit, connection)
            let count = ShownCount.line(rows.count, of: total, "device", isExact: isExact, filters: filters)
            return (rows, count + holding)
        }
        let now = filter.needsNow ? try await connection.now() : 0
        let selection = try await Pages.rows(
            command, "devices", limit: limit.limit, fitting: filter, now: now, connection)
        return (selection.rows, selection.line + " devices" + ShownCount.told(filters) + holding)
    }

    private var holding: String { device == nil && app == nil ? " with any slot held" : "" }

    /// The activities that hold the slots of the devices in `rows`.
    private func showHolders(_ rows: [RawObject], _ connection: IsletConnection) async throws {
        let now = try await connection.now()
        let states = try await holdingStates(connection)
        for row in rows {
            for held in row["apps"]?.elements?.compactMap(\.object) ?? [] {
                guard let app = held["app"]?.string else { continue }
                var list = Command("activity.list", app: app)
                list["device"] = row["device"]
                var holders: [RawObject] = []
                _ = try await Pages.forEach(list, Activities.plural, connection) {
                    holders = []
                } _: { row in
                    let isHolder = states.contains(row["state"]?.string ?? "")
                    if isHolder, holders.count < limit.limit { holders.append(row) }
                }
                guard !holders.isEmpty else { continue }
                Console.data("")
                Console.data(app)
                for line in Activities.table(holders, now: now, style: .output) { Console.data(line) }
            }
        }
    }

    /// The states that hold a slot, by the service's rule set.
    private func holdingStates(_ connection: IsletConnection) async throws -> Set<String> {
        let info = try await connection.send(Command("service.info"))["info"]?.object
        let endedCount = info?["ruleSet"]?.object?["endedCountTowardMaxima"]?.bool ?? false
        return endedCount ? ["pending", "active", "stale", "ended"] : ["pending", "active", "stale"]
    }
}
