import ArgumentParser
import IsletClient
import IsletFilter

/// `islet provider …`: the processes that compute what controls and widgets show.
struct ProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider",
        abstract: "Look at the providers of controls and widgets.",
        discussion: """
            EXAMPLES:
              islet provider list
              islet provider list --json | jq .inFlight
            """,
        subcommands: [List.self])

    /// `islet provider list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the providers that are connected, with their calls.",
            discussion: """
                EXAMPLES:
                  islet provider list
                  islet provider list --filter 'failures>0 or waiting>10'
                """)

        @OptionGroup var filter: FilterOption<ProviderRows>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await Self.write(filter, output, service)
        }

        /// Asks for them and writes them.
        static func write(
            _ filter: FilterOption<ProviderRows>, _ output: OutputOptions, _ service: ServiceOptions
        ) async throws {
            try await service.withConnection { connection in
                let all = try await Pages.all(Command("provider.list"), "providers", connection).compactMap(\.object)
                let filter = filter.filter
                let now = filter?.needsNow == true ? try await connection.now() : 0
                let rows = all.filter { filter?.matches($0, now: now) ?? true }
                try await RowOutput.write(rows, output, name: { $0["id"]?.string ?? "?" }) { isWide in
                    table(rows, isWide: isWide).lines(style: .output)
                }
                let count = "\(rows.count) provider\(rows.count == 1 ? "" : "s")"
                Console.message(filter == nil ? count : ShownCount.line(rows.count, of: Int64(all.count), "provider"))
            }
        }

        private static func table(_ rows: [RawObject], isWide: Bool) -> TextTable {
            var table = TextTable(
                "ID", "APP", "STATE", "CALLS", "FAILED", "AT WORK", "WAITING", "P50", "P99", "KINDS")
            for row in rows {
                func number(_ name: String) -> String { row[name]?.description ?? "-" }
                func span(_ name: String) -> String { row[name]?.integer.map { "\($0) ms" } ?? "-" }
                let id = row["id"]?.string ?? ""
                table.add(
                    isWide ? id : EntityText.shortID(id), row["app"]?.string ?? "", row["state"]?.string ?? "",
                    number("calls"), number("failures"), "\(number("inFlight")) of \(number("capacity"))",
                    number("waiting"), span("p50"), span("p99"),
                    kinds(row).joined(separator: ", "))
            }
            return table
        }

        /// Those of its controls and of its widgets; both may have one of the same name.
        private static func kinds(_ row: RawObject) -> [String] {
            ["kinds", "widgets"].flatMap { row[$0]?.elements ?? [] }.compactMap { $0.string.map(PlacedText.shortKind) }
        }
    }
}
