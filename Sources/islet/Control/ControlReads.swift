import ArgumentParser
import IsletClient

extension ControlCommand {
    /// `islet control get`.
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show all of it.",
            discussion: """
                EXAMPLES:
                  islet control get Torch
                  islet control get Torch --max-age 0s    ask its provider first
                  islet control get Torch --json
                """)

        @OptionGroup var target: ControlTarget

        @Option(help: ArgumentHelp("Ask its provider first where the value is older than this.", valueName: "span"))
        var maxAge: Span?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                var command = try await target.command("control.get", connection)
                command["maxAge"] = maxAge.map { .integer($0.milliseconds) }
                guard let control = try await connection.send(command)["control"]?.object else {
                    throw IsletError.unreadable("no control")
                }
                if output.json { return Console.data(control.json.bytes) }
                let now = try await connection.now()
                for line in ControlText.lines(control, now: now, style: .output) { Console.data(line) }
            }
        }
    }

    /// `islet control list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the controls that are placed.",
            discussion: """
                EXAMPLES:
                  islet control list
                  islet control list --kind Thermostat --device phone-1
                  islet control list --json | jq -r .id
                """)

        @Option(
            help: ArgumentHelp(
                "Only these: loading, preview, shown, reloading, acting, authenticating or disabled.",
                valueName: "state"))
        var state: String?

        @Option(help: ArgumentHelp("Only of this kind.", valueName: "kind"))
        var kind: String?

        @Option(help: ArgumentHelp("Only of this device.", valueName: "device"))
        var device: String?

        @Option(help: ArgumentHelp("How many at most.", valueName: "number"))
        var limit = 50

        @OptionGroup var app: ControlAppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
        }

        func run() async throws {
            var command = Command("control.list", app: app.app)
            command["state"] = state.map(RawJSON.string)
            command["kind"] = kind.map(RawJSON.string)
            command["device"] = device.map(RawJSON.string)
            try await service.withConnection { connection in
                let (rows, total) = try await Pages.rows(command, "controls", limit: limit, connection)
                if output.json {
                    for row in rows { Console.data(row.json.bytes) }
                } else if !rows.isEmpty {
                    let now = try await connection.now()
                    for line in ControlText.table(rows, now: now, style: .output) { Console.data(line) }
                }
                Console.message("showing \(rows.count) of \(total) in \(app.app)\(filter)")
            }
        }

        private var filter: String {
            let parts = [("state", state), ("kind", kind), ("device", device)]
            let named = parts.compactMap { name, value in value.map { "\(name) \($0)" } }
            return named.isEmpty ? "" : ", with " + named.joined(separator: ", ")
        }
    }

    /// `islet control history`.
    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show its events, oldest first.",
            discussion: """
                EXAMPLES:
                  islet control history Torch
                  islet control history Torch --json      one event a line
                """)

        @OptionGroup var target: ControlTarget
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("control.history", connection))
                EventLines.writeHistory(answer, name: target.target, output)
            }
        }
    }

    /// `islet control explain`.
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say why it is as it is: each decision with its rule.",
            discussion: """
                EXAMPLES:
                  islet control explain Torch
                """)

        @OptionGroup var target: ControlTarget
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("control.explain", connection))
                if output.json { return Console.data(answer.json.bytes) }
                let now = try await connection.now()
                for line in ExplainText.lines(answer, now: now, style: .output) { Console.data(line) }
            }
        }
    }
}
