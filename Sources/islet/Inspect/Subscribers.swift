import ArgumentParser
import IsletClient

/// `islet subscribers`: who follows the events, and who is slow.
struct Subscribers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who follows the events and how far behind they are, the slowest first.",
        discussion: """
            EXAMPLES:
              islet subscribers
              islet subscribers --app com.example.delivery
              islet subscribers --json | jq -c 'select(.isLagging)'

            Only those that report how far they are (stream.applied) can be shown; the
            LAG is how many events they have not applied yet. One that LAGS is told so,
            and loses events where it does not catch up; it never slows others down.
            """)

    @Option(
        help: ArgumentHelp("Only those that follow this app.", valueName: "bundle id"),
        completion: .custom(Completions.apps))
    var app: String?

    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        var command = Command("subscriber.list")
        command["app"] = app.map(RawJSON.string)
        command["limit"] = .integer(limit.limit)
        try await service.withConnection { [command] connection in
            let answer = try await connection.send(command)
            let rows = answer["subscribers"]?.elements?.compactMap(\.object) ?? []
            if output.json {
                for row in rows { Console.data(row.json.bytes) }
            } else if !rows.isEmpty {
                for line in SubscribersText.table(rows, style: .output) { Console.data(line) }
            }
            let slow = rows.count { $0["isLagging"]?.bool == true }
            let note = slow == 0 ? ", none lags" : ", \(slow) of them lag\(slow == 1 ? "s" : "")"
            let total = answer["total"]?.integer ?? Int64(rows.count)
            Console.message(ShownCount.line(rows.count, of: total, "subscriber", filters: ["app": app]) + note)
        }
    }
}
