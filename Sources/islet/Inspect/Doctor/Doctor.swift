import ArgumentParser
import IsletClient
import IsletFilter

/// `islet doctor`: whether this machine and the service on it are fit.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Examine the machine and the service.",
        discussion: """
            EXAMPLES:
              islet doctor
              islet doctor --data /srv/islet
              islet doctor --offline             before the first start: the machine alone
              islet doctor --json | jq '.findings[] | select(.level != "ok")'

            Each line says ok, warn or fail, and what to do. How long the disk takes to
            keep something is measured in the service's directory, which it says itself
            where none is named; nothing is left there. The exit code is 1 where anything
            fails, else 0.
            """)

    @Flag(help: "Do not look for a service.")
    var offline = false

    @OptionGroup var data: DataOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let drift = ClockDrift()
        var findings = [
            MachineExamination.versions(), MachineExamination.openFiles(), MachineExamination.memory(),
        ]
        var said: (findings: [DoctorFinding], directory: String?) = ([], nil)
        if !offline {
            said = await ProgressLine.during({ "asking the service" }) {
                await ServiceExamination(service: service).examine()
            }
        }
        findings += await ProgressLine.during({ "measuring the disk" }) { [said] in
            disk(saidToBeAt: said.directory).findings()
        }
        findings += said.findings
        findings.append(MachineExamination.clock(drift: drift.milliseconds))
        if output.json {
            Console.data(Self.json(findings).bytes)
        } else {
            for line in findings.flatMap({ $0.lines(style: .output) }) { Console.data(line) }
        }
        let count = Self.count(findings)
        let text = "\(count.fail) failed, \(count.warn) to be looked at, \(count.ok) well"
        guard count.fail == 0 else { throw Failure(.failure, text) }
        Console.message(text)
    }

    /// The disk under a directory that is named; else under that of the service, as it says, or of one to come.
    private func disk(saidToBeAt said: String?) -> DiskExamination {
        guard let said, !data.isNamed else { return DiskExamination(directory: data.directory) }
        return DiskExamination(directory: said, isInUse: true)
    }

    private static func count(_ findings: [DoctorFinding]) -> (ok: Int, warn: Int, fail: Int) {
        func number(_ level: DoctorFinding.Level) -> Int { findings.count { $0.level == level } }
        return (number(.ok), number(.warn), number(.fail))
    }

    private static func json(_ findings: [DoctorFinding]) -> RawJSON {
        let count = count(findings)
        let level: DoctorFinding.Level = count.fail > 0 ? .fail : count.warn > 0 ? .warn : .ok
        return .object([
            .init("level", .string(level.rawValue)), .init("findings", .array(findings.map(\.json))),
        ])
    }
}
