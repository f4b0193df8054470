import ArgumentParser
import IsletClient
import IsletJournal

extension JournalCommand {
    /// `islet journal dump`.
    struct Dump: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write every stored event as a line of JSON, oldest first.",
            discussion: """
                EXAMPLES:
                  islet journal dump --app com.example.pizza | jq -c .event
                  islet journal dump --from 1200

                A line is {"batch":…,"at":…,"topic":…,"event":{…}}, the event byte for byte as it
                was published, but for line ends between its parts, which are spaces. A batch
                without events is {"batch":…,"at":…,"facts":n,"answers":n}. Where batches are
                missing, since they were trimmed meanwhile or a file is damaged, it says which
                on standard error and ends with 1.
                """)

        @Option(help: ArgumentHelp("Begin with this batch.", valueName: "number"))
        var from: UInt64 = 1
        @Option(name: .customLong("app"), help: ArgumentHelp("Only events of this app.", valueName: "bundle id"))
        var wanted: String?
        @OptionGroup var data: DataOptions

        func run() async throws {
            let wanted = wanted.map { Array($0.utf8) }
            let gaps = try Store.dump(directory: data.directory, from: from) { row in
                if let wanted, row.app != wanted { return }
                if row.app == nil { Console.data(Self.quiet(row).bytes) }
                for event in row.events { Console.data(Self.line(row, event).bytes) }
            }
            guard !gaps.isEmpty else { return }
            for gap in gaps.prefix(Self.shownGaps) { Console.message(Self.words(gap)) }
            if gaps.count > Self.shownGaps {
                Console.message("and \(RecoveryText.counted(gaps.count - Self.shownGaps, "more gap", "more gaps"))")
            }
            throw Failure(
                .failure,
                "the dump is not whole: a service that uses the directory has trimmed them while they were read, or a file is "
                    + "missing or damaged, which 'islet journal verify' tells")
        }

        /// More are only counted.
        private static let shownGaps = 10

        private static func words(_ gap: DumpGap) -> String {
            guard let last = gap.last else { return "batches from \(gap.first) on are missing" }
            return gap.first == last ? "batch \(last) is missing" : "batches \(gap.first) to \(last) are missing"
        }

        private static func line(_ row: DumpedRow, _ event: StoredEvent) -> RawJSON {
            .object([
                .init("batch", .integer(row.batch)), .init("at", .integer(row.at)),
                .init("topic", .string(String(decoding: event.topic, as: UTF8.self))),
                .init("event", RawJSON(event.json) ?? .string(String(decoding: event.json, as: UTF8.self))),
            ])
        }

        private static func quiet(_ row: DumpedRow) -> RawJSON {
            .object([
                .init("batch", .integer(row.batch)), .init("at", .integer(row.at)), .init("facts", .integer(row.facts)),
                .init("answers", .integer(row.answers)),
            ])
        }
    }
}
