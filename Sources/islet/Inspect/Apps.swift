import ArgumentParser
import IsletClient
import IsletFilter

/// `islet apps`: of which apps the service knows.
struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the apps there are, and what each has.",
        discussion: """
            EXAMPLES:
              islet apps
              islet apps -o name
              islet apps --filter 'activities>0 or app~pizza'
              ISLET_APP=com.example.delivery islet activity list

            EVENTS (seq) is how many an app has had in its stream; the rest is what is
            listed now. Other commands take one app: --app, or ISLET_APP.
            """)

    @OptionGroup var filter: FilterOption<AppRows>
    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    private static let families = ["activity", "control", "widget"]

    func run() async throws {
        try await service.withConnection(.joins) { connection in
            let streams = try await KnownApps.all(connection, timeout: service.timeout.duration)
            guard let filter = filter.filter else {
                let rows = try await rows(Array(streams.prefix(limit.limit)), connection)
                try await write(rows)
                return Console.message(ShownCount.line(rows.count, of: Int64(streams.count), "app"))
            }
            let all = try await rows(streams, connection)
            let selection = Pages.Selection(all, limit: limit.limit, fitting: filter, now: 0)
            try await write(selection.rows)
            Console.message("\(selection.line) app\(selection.seen == 1 ? "" : "s")")
        }
    }

    private func write(_ rows: [RawObject]) async throws {
        try await RowOutput.write(rows, output, name: { $0["app"]?.string ?? "?" }) { _ in
            Self.table(rows).lines(style: .output)
        }
    }

    private func rows(
        _ streams: [(app: String, seq: UInt64)], _ connection: IsletConnection
    ) async throws -> [RawObject] {
        let commands = streams.flatMap { stream in
            Self.families.map { Command("\($0).list", app: stream.app, ["limit": .integer(1)]) }
        }
        let answers = await connection.send(batch: commands)
        return try streams.enumerated().map { index, stream in
            var row: RawObject = ["app": .string(stream.app), "seq": .integer(stream.seq)]
            let names = ["activities", "controls", "widgets"]
            for (offset, name) in names.enumerated() {
                row[name] = try answers[index * names.count + offset].get()["total"] ?? .integer(0)
            }
            return row
        }
    }

    private static func table(_ rows: [RawObject]) -> TextTable {
        var table = TextTable("APP", "EVENTS", "ACTIVITIES", "CONTROLS", "WIDGETS")
        for row in rows {
            func number(_ name: String) -> String {
                RecoveryText.grouped(Int(clamping: row[name]?.integer ?? 0))
            }
            table.add(
                row["app"]?.string ?? "", number("seq"), number("activities"), number("controls"), number("widgets"))
        }
        return table
    }
}
