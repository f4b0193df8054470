import ArgumentParser
import IsletClient
import IsletFilter

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
            until, failure, failureReason, count, text and advice, and looks through the
            worst 1 000 of each family.

            EXIT CODES: 0 nothing, or only notices; 1 a warning; 2 something critical;
            3 nothing could be judged, or what could not be looked at may fit --filter
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
    static let families = [
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
        if let filter = filter.filter { return try await show(what: filter, connection) }
        let answer = try await ProblemsReading.answer(app: app, family: family, limit: limit.limit, connection)
        let rows = ProblemsReading.rows(of: answer)
        try await write(rows, now: connection.now())
        let isAll = family != nil || answer["total"]?.integer ?? 0 <= Int64(rows.count)
        // Many of one family may leave no room for any of another one.
        let families = isAll ? [] : try await ProblemsReading.counts(app: app, connection)
        Console.message(
            ProblemsText.total(answer, shown: rows.count, ["app": app, "family": family])
                + ProblemsText.byFamily(families))
        return ProblemsText.worst(counts: answer["counts"]?.object ?? [:])
    }

    /// - Returns: what the worst of those that a filter selects is worth; where that is nothing, and others that it may
    ///   select were not looked at, nobody knows.
    private func show(what filter: Filter, _ connection: IsletConnection) async throws -> CheckStatus {
        let reading = try await ProblemsReading(app: app, family: family, connection)
        let now = try await connection.now()
        let selection = Pages.Selection(reading.rows, limit: limit.limit, fitting: filter, now: now, of: reading.total)
        try await write(selection.rows, now: now)
        if reading.isCut, let full = reading.rows.first(where: ProblemsText.isDiskFull), !selection.rows.contains(full) {
            throw Failure(
                .unreachable, "the disk of the journal is full, so that nothing that is on it was looked at (diskFull)")
        }
        Console.message(selection.line + ShownCount.told(["app": app, "family": family]))
        let worst = ProblemsText.worst(of: selection.rows)
        let unseen = reading.unseen(fitting: filter, now: now)
        guard worst == .ok, !unseen.isEmpty else { return worst }
        let names = unseen.joined(separator: ", ")
        let most = RecoveryText.grouped(Self.limitMax)
        Console.message(
            "of the family \(names) only the worst \(most) were looked at, and others may fit: name --app, or do "
                + "without --filter")
        return .unknown
    }

    private func write(_ rows: [RawObject], now: Int64) async throws {
        let text = ProblemsText(now: now, style: .output)
        try await RowOutput.write(rows, output, name: ProblemsText.address) { isWide in
            text.table(rows, isWide: isWide) + text.advice(rows)
        }
    }
}
