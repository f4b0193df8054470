import ArgumentParser
import IsletClient
import IsletJournal
import IsletServer

extension JournalCommand {
    /// `islet journal verify`.
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read everything and say what is wrong, and where; changes nothing.",
            discussion: """
                EXAMPLES:
                  islet journal verify --data /srv/islet
                  islet journal verify --json | jq '.findings[]'

                It checks every checksum of the logs, that no batch and no event is missing,
                that each event is whole, and that nothing acknowledged is gone. Then it tries
                in memory whether a service could start, and names what differs where not. It
                may run beside the service. The exit code is 0 where everything is sound, else 1.

                What to do where it is not: keep a copy of the directory. Where files are
                damaged, start from the last backup (islet restore); where only what they say
                contradicts itself, islet journal rebuild makes a new directory of it. A service
                never starts on either.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let directory = data.directory
            let report = try await ProgressLine.during {
                "reading \(directory)"
            } _: {
                var report = try Store.verify(directory: directory)
                if report.isSound {
                    for problem in try JournalTrial.problems(of: directory) { report.add(directory, problem) }
                }
                return report
            }
            if output.json { Console.data(Self.json(report).bytes) } else { Self.show(report) }
            guard report.isSound else {
                let more = report.isCut ? " or more" : ""
                throw Failure(.failure, "\(report.findings.count)\(more) wrong in \(data.directory)")
            }
        }

        private static func show(_ report: VerifyReport) {
            for finding in report.findings { Console.data(finding.description) }
            let counts = [
                "\(RecoveryText.grouped(report.segments)) segments", "\(RecoveryText.grouped(report.batches)) batches",
                "\(RecoveryText.grouped(report.events)) events",
                "\(RecoveryText.grouped(report.entities)) entities in the snapshot",
            ]
            Console.data((report.isSound ? "sound: " : "read: ") + counts.joined(separator: ", "))
            if report.lostUnsynced > 0 {
                Console.data(
                    "\(RecoveryText.grouped(Int(clamping: report.lostUnsynced))) batches were not synced when the machine "
                        + "stopped (sync=normal) and are gone: the next start goes on after batch "
                        + "\(report.lastBatch), in a new epoch")
            }
            if report.endsTorn {
                Console.data("the last log ends in a batch that was never committed: nothing is lost")
            }
        }

        private static func json(_ report: VerifyReport) -> RawJSON {
            let findings = report.findings.map { finding in
                var members = [RawObject.Member("file", .string(finding.file))]
                if let offset = finding.offset { members.append(.init("offset", .integer(offset))) }
                if let batch = finding.batch { members.append(.init("batch", .integer(batch))) }
                members.append(.init("meaning", .string(finding.meaning)))
                return RawJSON.object(members)
            }
            return .object([
                .init("sound", .bool(report.isSound)), .init("segments", .integer(report.segments)),
                .init("batches", .integer(report.batches)), .init("events", .integer(report.events)),
                .init("entities", .integer(report.entities)), .init("firstBatch", .integer(report.firstBatch)),
                .init("lastBatch", .integer(report.lastBatch)), .init("acknowledged", .integer(report.acknowledged)),
                .init("endsTorn", .bool(report.endsTorn)),
                .init("lostUnsynced", .integer(report.lostUnsynced)), .init("findings", .array(findings)),
            ])
        }
    }
}
