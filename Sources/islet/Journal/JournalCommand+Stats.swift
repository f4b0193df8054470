import ArgumentParser
import IsletClient
import IsletJournal

extension JournalCommand {
    /// `islet journal stats`.
    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show how much is kept, from when, and in which files.",
            discussion: """
                EXAMPLES:
                  islet journal stats --data /srv/islet
                  islet journal stats --json
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let directory = data.directory
            let statistics = try await ProgressLine.during {
                "reading \(directory)"
            } _: {
                try Store.statistics(directory: directory)
            }
            if output.json { return Console.data(Self.json(statistics).bytes) }
            Self.show(statistics)
        }

        private static func show(_ statistics: JournalStatistics) {
            let grouped = RecoveryText.grouped
            Console.data("epoch      \(statistics.epoch)")
            Console.data("bytes      \(grouped(statistics.bytes)), the snapshot's \(grouped(statistics.stateBytes))")
            Console.data("entities   \(grouped(statistics.entities)), and \(grouped(statistics.facts)) facts")
            Console.data("events     \(grouped(statistics.events))")
            Console.data(
                "batches    \(statistics.trimmedThrough + 1) to \(statistics.acknowledged), the snapshot holds through "
                    + "\(statistics.holdsThrough)")
            Console.data("stopped    \(statistics.wasClosed ? "in good order" : "not, or it runs")")
            Console.data("")
            Console.data("SEGMENT            BATCHES    EVENTS  APPS         BYTES  FROM")
            for segment in statistics.segments {
                let columns = [
                    segment.name.padded(to: 16), left(grouped(segment.batches), 9), left(grouped(segment.events), 9),
                    left(grouped(segment.apps), 5), left(grouped(segment.bytes), 13),
                    segment.batches > 0 ? " " + TimeText.full(segment.firstAt) : "",
                ]
                Console.data(columns.joined(separator: " "))
            }
        }

        private static func left(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }

        private static func json(_ statistics: JournalStatistics) -> RawJSON {
            let segments = statistics.segments.map { segment in
                RawJSON.object([
                    .init("name", .string(segment.name)), .init("bytes", .integer(segment.bytes)),
                    .init("batches", .integer(segment.batches)), .init("events", .integer(segment.events)),
                    .init("apps", .integer(segment.apps)), .init("firstBatch", .integer(segment.firstBatch)),
                    .init("lastBatch", .integer(segment.lastBatch)), .init("firstAt", .integer(segment.firstAt)),
                    .init("lastAt", .integer(segment.lastAt)),
                ])
            }
            return .object([
                .init("epoch", .string(statistics.epoch)), .init("bytes", .integer(statistics.bytes)),
                .init("stateBytes", .integer(statistics.stateBytes)), .init("entities", .integer(statistics.entities)),
                .init("facts", .integer(statistics.facts)), .init("events", .integer(statistics.events)),
                .init("trimmedThrough", .integer(statistics.trimmedThrough)),
                .init("snapshot", .integer(statistics.holdsThrough)),
                .init("acknowledged", .integer(statistics.acknowledged)), .init("closed", .bool(statistics.wasClosed)),
                .init("segments", .array(segments)),
            ])
        }
    }
}
