import ArgumentParser
import IsletClient

/// `islet problems`: what is wrong, in one command.
struct Problems: AsyncParsableCommand {
    /// As it is called.
    static let name = "problems"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Show what is wrong, since when, why, and what to do.",
        discussion: """
            EXAMPLES:
              islet problems                          of everything, the worst first
              islet problems --app com.example.delivery --family activity
              islet problems --filter 'severity=critical or what=failed'
              islet problems --json | jq -r '[.what, .family, .id] | @tsv'

            It looks at activities, controls and widgets, the kinds that no provider
            serves, groups, providers, subscribers, the journal and the clock: what has
            FAILED, WAITS, is STALE, OVERDUE, HELD, LAGGING, SILENT, UNSERVED or FULL. A
            kind that nobody serves is one row for all that is placed of it. --filter
            compares severity, what, family, app, kind, id, key, device, state, since,
            until, failure, count, text and advice, and looks through the worst 1 000.

            EXIT CODES: 0 nothing, or only notices; 1 a warning; 2 something critical;
            3 nothing could be judged
            """)

    @Option(help: ArgumentHelp("Only of this app.", valueName: "bundle id"), completion: .custom(Completions.apps))
    var app: String?

    @Option(
        help: ArgumentHelp(
            "Only of one: \(families.joined(separator: ", ")).", valueName: "family"),
        completion: .list(families))
    var family: String?

    @OptionGroup var filter: FilterOption<ProblemRows>
    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    /// What may have a problem.
    private static let families = [
        "activity", "control", "widget", "kind", "group", "provider", "subscriber", "journal", "clock",
    ]
    /// What one answer has at most, by the contract.
    static let limitMax = 1_000

    func validate() throws {
        guard limit.limit <= Self.limitMax else { throw ValidationError("--limit is at most \(Self.limitMax) here") }
        guard family.map(Self.families.contains) ?? true else {
            throw ValidationError("--family is one of \(Self.families.joined(separator: ", "))")
        }
    }

    func run() async throws {
        let worst: CheckStatus
        do {
            worst = try await service.withConnection { try await show($0) }
        } catch {
            guard let failure = Failure(error) else { throw error }
            Console.message(failure.text)
            throw ExitCode(CheckStatus.unknown.rawValue)
        }
        if worst != .ok { throw ExitCode(worst.rawValue) }
    }

    /// - Returns: what the worst of those that were asked for is worth.
    private func show(_ connection: IsletConnection) async throws -> CheckStatus {
        var command = Command("problem.list")
        command["app"] = app.map(RawJSON.string)
        command["family"] = family.map(RawJSON.string)
        let filter = filter.filter
        command["limit"] = .integer(filter == nil ? limit.limit : Self.limitMax)
        let answer = try await connection.send(command)
        let now = try await connection.now()
        let all = answer["problems"]?.elements?.compactMap(\.object) ?? []
        let selection = filter.map {
            Pages.Selection(all, limit: limit.limit, fitting: $0, now: now, of: answer["total"]?.integer)
        }
        let rows = selection?.rows ?? all
        let text = ProblemsText(now: now, style: .output)
        try await RowOutput.write(rows, output, name: ProblemsText.address) { isWide in
            text.table(rows, isWide: isWide) + text.advice(rows)
        }
        guard let selection else {
            Console.message(ProblemsText.total(answer, shown: rows.count, ["app": app, "family": family]))
            return ProblemsText.worst(counts: answer["counts"]?.object ?? [:])
        }
        let isCut = answer["exact"]?.bool == false
        if isCut, let full = all.first(where: ProblemsText.isDiskFull), !rows.contains(full) {
            throw Failure(
                .unreachable, "the disk of the journal is full, so that nothing that is on it was looked at (diskFull)")
        }
        Console.message(selection.line + ShownCount.told(["app": app, "family": family]))
        return ProblemsText.worst(of: rows)
    }
}
