import ArgumentParser
import IsletClient
import IsletJournal
import IsletServer

extension JournalCommand {
    /// `islet journal rebuild`.
    struct Rebuild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new directory of what can be read where a service refuses to start.",
            discussion: """
                EXAMPLES:
                  islet journal rebuild --data /srv/islet --to /srv/islet-2
                  islet serve --data /srv/islet-2

                For files that are sound while what they say contradicts itself. It takes the
                snapshot and all events behind it, keeps everything that can be read, writes it
                as a new snapshot, and says what it could not keep. The old directory stays as it
                is; no service may use it. The streams get a new epoch, so that everybody who
                follows them starts again from a snapshot.

                Where files are damaged, islet restore makes a directory from a backup.
                """)

        @Option(help: ArgumentHelp("The new directory, which must be empty or not there yet.", valueName: "dir"))
        var to: String
        @Flag(help: "The new directory may be in memory (tmpfs), which keeps no promise.")
        var allowVolatile = false
        @OptionGroup var data: DataOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var options = StoreOptions { freshEpoch() }
            options.allowVolatile = allowVolatile
            let (directory, target) = (data.directory, to)
            let report = try await ProgressLine.during {
                "rebuilding \(directory)"
            } _: { [options] in
                try await JournalRebuild.run(from: directory, into: target, options: options)
            }
            if output.json { Console.data(json(report).bytes) } else { show(report) }
        }

        private func show(_ report: JournalRebuild.Report) {
            for loss in report.losses { Console.data(loss) }
            let untold = report.lossCount - report.losses.count
            if untold > 0 { Console.data("and \(RecoveryText.grouped(untold)) more") }
            let entities = RecoveryText.grouped(report.entities)
            Console.data(
                "rebuilt \(data.directory) into \(to), with a new epoch: \(entities) entities"
                    + (report.lossCount == 0 ? "; nothing is missing" : "; what is not as it was stands above"))
        }

        private func json(_ report: JournalRebuild.Report) -> RawJSON {
            .object([
                .init("entities", .integer(report.entities)), .init("epoch", .string(report.epoch)),
                .init("lossCount", .integer(report.lossCount)),
                .init("losses", .array(report.losses.map { .string($0) })),
            ])
        }
    }
}
