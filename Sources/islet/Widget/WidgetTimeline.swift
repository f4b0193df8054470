import ArgumentParser
import IsletClient
import IsletFilter

extension WidgetCommand {
    /// `islet widget timeline`.
    struct Timeline: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a widget's entries, which is shown now, and when the next timeline is asked for.",
            discussion: """
                EXAMPLES:
                  islet widget timeline Flight
                  islet widget timeline Flight --at 2h      and what it shows then
                  islet widget timeline Flight --json
                """)

        @OptionGroup var target: PlacedTarget<Widgets>

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Also what it shows then, such as 2h, -5m or 2026-01-31T09:00Z.", valueName: "date"))
        var at: Moment?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                var command = try await target.command("timeline", connection)
                if let at { command["at"] = .integer(try await at.resolved(now: connection.now)) }
                let answer = try await connection.send(command)
                if output.json { return Console.data(answer.json.bytes) }
                guard let timeline = answer["timeline"]?.object else { throw IsletError.unreadable("no timeline") }
                let budget = try await connection.send(Command("widget.budget", addressedAs: command))["budget"]?.object
                let now = try await connection.now()
                let text = TimelineText(timeline, held: budget?["held"], now: now, style: .output)
                for line in text.lines { Console.data(line) }
                if let moment = answer["at"]?.object { Console.data(TimelineText.line(moment, now: now)) }
            }
        }
    }

    /// `islet widget budget`.
    struct Budget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a widget's reloads: spent, left, not charged and held.",
            discussion: """
                EXAMPLES:
                  islet widget budget Flight
                  islet widget budget Flight --json | jq .spentAt
                """)

        @OptionGroup var target: PlacedTarget<Widgets>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("budget", connection))
                guard let budget = answer["budget"]?.object else { throw IsletError.unreadable("no budget") }
                if output.json { return Console.data(budget.json.bytes) }
                let now = try await connection.now()
                for line in BudgetText.lines(budget, now: now) { Console.data(line) }
            }
        }
    }

    /// `islet widget stack`.
    struct Stack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the Smart Stack of a device: its widgets, the most relevant first.",
            discussion: """
                EXAMPLES:
                  islet widget stack phone-1
                  islet widget stack phone-1 --json | jq .rule
                """)

        @Argument(help: ArgumentHelp("The device.", valueName: "device"))
        var device: String

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(Command("widget.stack", ["device": .string(device)]))
                let rows = answer["stack"]?.elements?.compactMap(\.object) ?? []
                if output.json {
                    for row in rows { Console.data(row.json.bytes) }
                } else if !rows.isEmpty {
                    let now = try await connection.now()
                    for line in Self.table(rows, now: now).lines(style: .output) { Console.data(line) }
                }
                Console.message("\(rows.count) widget\(rows.count == 1 ? "" : "s") on \(device)")
            }
        }

        private static func table(_ rows: [RawObject], now: Int64) -> TextTable {
            var table = TextTable("PLACE", "WIDGET", "APP", "BY", "SCORE", "UNTIL")
            for (index, row) in rows.enumerated() {
                table.add(
                    "\(index + 1)", PlacedText.name(row), row["app"]?.string ?? "", row["rule"]?.string ?? "",
                    row["score"]?.description ?? "-", row["until"]?.integer.map { TimeText.full($0, now: now) } ?? "-")
            }
            return table
        }
    }
}
