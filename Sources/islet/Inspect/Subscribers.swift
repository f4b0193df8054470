import ArgumentParser
import IsletClient

/// `islet subscribers`: who follows the events, and who is slow.
struct Subscribers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who follows the events, the slowest first.",
        discussion: """
            EXAMPLES:
              islet subscribers
              islet subscribers --app com.example.delivery
              islet subscribers --filter 'lag>1000 or age>30s' -o wide
              islet subscribers --json | jq -c 'select(.isLagging)'

            Those that report how far they are (stream.applied) come first: LAG is how
            many events they have not applied yet. One that LAGS is told so, and loses
            events where it does not catch up; it never slows others down. Of those that
            report nothing nobody knows how far they are: they stand below, without a LAG.
            --filter compares nonce, age, lag and isLagging.
            """)

    @Option(
        help: ArgumentHelp("Only those that follow this app.", valueName: "bundle id"),
        completion: .custom(Completions.apps))
    var app: String?

    @OptionGroup var filter: FilterOption<SubscriberRows>
    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    /// What one answer has at most, by the contract.
    private static let limitMax = 1_000

    func run() async throws {
        let filter = filter.filter
        var command = Command("subscriber.list")
        command["app"] = app.map(RawJSON.string)
        command["limit"] = .integer(filter == nil ? limit.limit : Self.limitMax)
        try await service.withConnection { [command] connection in
            let answer = try await connection.send(command)
            let all = answer["subscribers"]?.elements?.compactMap(\.object) ?? []
            let total = answer["total"]?.integer ?? Int64(all.count)
            let selection = filter.map {
                Pages.Selection(all, limit: limit.limit, fitting: $0, now: 0, of: total)
            }
            let rows = selection?.rows ?? all
            try await RowOutput.write(rows, output, name: { $0["nonce"]?.string ?? "?" }) { isWide in
                SubscribersText.table(rows, isWide: isWide, style: .output)
            }
            let silent = filter == nil ? answer["silent"]?.elements?.compactMap(\.object) ?? [] : []
            if !output.json, !output.isNames {
                for line in SubscribersText.silent(silent, below: !rows.isEmpty, style: .output) { Console.data(line) }
            }
            let slow = rows.count { $0["isLagging"]?.bool == true }
            let note =
                (slow == 0 ? ", none lags" : ", \(slow) of them lag\(slow == 1 ? "s" : "")")
                + SubscribersText.silentNote(answer["silentTotal"]?.integer ?? 0)
            if let selection {
                return Console.message(selection.line + " subscribers" + ShownCount.told(["app": app]) + note)
            }
            Console.message(ShownCount.line(rows.count, of: total, "subscriber", filters: ["app": app]) + note)
        }
    }
}
