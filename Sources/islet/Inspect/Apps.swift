import ArgumentParser
import IsletClient

/// `islet apps`: of which apps the service knows.
struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the apps there are, with how many things each has.",
        discussion: """
            EXAMPLES:
              islet apps
              islet apps --json | jq -r .app
              ISLET_APP=com.example.delivery islet activity list

            EVENTS is how many an app has had in its stream; the rest is what is listed
            now. Other commands take one app: --app, or ISLET_APP.
            """)

    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    /// How long the next app may take to be told of.
    private static let patience = Duration.milliseconds(500)
    private static let families = ["activity", "control", "widget"]

    func run() async throws {
        try await service.withConnection(followsStreams: true) { connection in
            let streams = try await streams(connection)
            let shown = streams.sorted { $0.app < $1.app }.prefix(limit.limit)
            let rows = try await rows(Array(shown), connection)
            if output.json {
                for row in rows { Console.data(row.json.bytes) }
            } else if !rows.isEmpty {
                for line in Self.table(rows).lines(style: .output) { Console.data(line) }
            }
            Console.message(ShownCount.line(rows.count, of: Int64(streams.count), "app"))
        }
    }

    /// The apps that joining names, each with the number of its last event.
    private func streams(_ connection: IsletConnection) async throws -> [(app: String, seq: UInt64)] {
        let stats = try StatsReading(try await connection.send(Command("service.stats")))
        let count = stats.number("apps").map { Int(clamping: $0) } ?? .max
        let found = FoundApps()
        try await withThrowingTaskGroup { group in
            group.addTask {
                guard count > 0 else { return }
                for try await delivery in try await connection.events("") {
                    guard case .synced(let state) = delivery else { continue }
                    if found.add(state.app, seq: state.position?.seq ?? 0) >= count { return }
                }
            }
            // The service may count apps that have no stream any more: then silence is the end.
            group.addTask {
                let end = ContinuousClock.now + service.timeout.duration
                var before = 0
                while ContinuousClock.now < end {
                    try await Task.sleep(for: Self.patience)
                    let count = found.count
                    if count > 0, count == before { return }
                    before = count
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        return found.all
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
