import ArgumentParser
import IsletClient

extension ActivityCommand {
    /// `islet activity list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the activities that are open or ended.",
            discussion: """
                EXAMPLES:
                  islet activity list
                  islet activity list --state stale --type Delivery
                  islet activity list --device phone-1 --order presentation
                  islet activity list --json | jq -r .key
                """)

        @Option(help: ArgumentHelp("Only these: pending, active, stale, ended or dismissed.", valueName: "state"))
        var state: String?

        @Option(help: ArgumentHelp("Only of this type.", valueName: "name"))
        var type: String?

        @Option(help: ArgumentHelp("Only those whose key begins so.", valueName: "prefix"))
        var key: String?

        @Option(help: ArgumentHelp("Only of this device.", valueName: "device"))
        var device: String?

        @Option(help: ArgumentHelp("presentation: as the device shows them (needs --device).", valueName: "order"))
        var order: String?

        @Option(help: ArgumentHelp("How many at most.", valueName: "number"))
        var limit = 50

        @OptionGroup var app: AppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
            guard order == nil || device != nil else { throw ValidationError("--order presentation needs --device") }
        }

        func run() async throws {
            var command = Command("activity.list", app: app.app)
            command["state"] = state.map(RawJSON.string)
            command["type"] = type.map(RawJSON.string)
            command["device"] = device.map(RawJSON.string)
            command["key"] = key.map(RawJSON.string)
            command["order"] = order.map(RawJSON.string)
            try await service.withConnection { connection in
                let (rows, total) = try await Pages.rows(command, "activities", limit: limit, connection)
                if output.json {
                    for row in rows { Console.data(row.json.bytes) }
                } else if !rows.isEmpty {
                    let now = try await connection.now()
                    for line in ActivityText.table(rows, now: now, style: .output) { Console.data(line) }
                }
                Console.message("showing \(rows.count) of \(total) in \(app.app)\(filter)")
            }
        }

        private var filter: String {
            let parts = [("state", state), ("type", type), ("key", key.map { "\($0)…" }), ("device", device)]
            let named = parts.compactMap { name, value in value.map { "\(name) \($0)" } }
            return named.isEmpty ? "" : ", with " + named.joined(separator: ", ")
        }
    }
}
