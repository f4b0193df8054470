import IsletClient
import IsletFilter
import Synchronization

/// The same change of all entities that fit a filter: counted, asked for, done in parts, and told.
struct BulkChange<Target: NamedTarget> {
    let choice: EntityChoice<Target>
    let filter: Filter
    /// What is done, as on the wire: `end`.
    let verb: String
    /// Such as `ended`.
    let done: String
    /// What the command says beside the address. It is asked before the person is, so that what is wrong is told at
    /// once, and again when the change begins: `15m` counts from there, however long the person thinks.
    var fields: @Sendable (IsletConnection) async throws -> RawObject = { _ in [:] }
    /// The states in which it can be done; nil: in all.
    var states: Set<String>?
    let output: OutputOptions
    let service: ServiceOptions

    private typealias Family = Target.Family

    /// How many are changed at once, at most.
    private let countMax = 100_000
    /// How many commands go together: a stop is heard between two of these.
    private let partMax = 64
    /// How many are named before the question.
    private let namesMax = 10
    /// How often one is tried that changes all the time.
    private let triesMax = 4

    func run() async throws {
        try await service.withConnection { connection in
            let app = try await choice.app.required(connection)
            _ = try await fields(connection)
            let rows = try await chosen(app, connection)
            guard !rows.isEmpty else { return Console.message("nothing was changed") }
            if choice.dryRun {
                for row in rows {
                    if output.json { Console.data(row.json.bytes); continue }
                    Console.data(output.isNames ? Family.address(row) : Self.name(row))
                }
                return Console.message("\(verb) would be for \(counted(rows.count)); nothing was changed")
            }
            let names = rows.prefix(namesMax).map(Self.name).joined(separator: ", ")
            Console.message("\(names)\(rows.count > namesMax ? ", …" : "")")
            try choice.consent.require("\(verb) \(counted(rows.count)) in \(app)")
            let common = Command("\(Family.noun).\(verb)", app: app, try await fields(connection))
            try await change(rows, common, connection)
        }
    }

    /// What a person calls one, here and in all that is told of it: by its key alone nobody tells devices apart.
    private static func name(_ row: RawObject) -> String {
        Family.name(row) + (row["device"]?.string.map { " on \($0.printable)" } ?? "")
    }

    private func chosen(_ app: String, _ connection: IsletConnection) async throws -> [RawObject] {
        var list = Command("\(Family.noun).list", app: app)
        list["device"] = choice.device.map(RawJSON.string)
        let now = filter.needsNow ? try await connection.now() : 0
        let selection = try await Pages.rows(
            list, Family.plural, limit: countMax, fitting: filter, now: now, connection)
        guard selection.matching <= countMax, !selection.isCut else {
            throw Failure(.refused, "more than \(RecoveryText.grouped(countMax)) fit: make the filter narrower")
        }
        let rows = selection.rows.filter(isPossible)
        let others = selection.rows.count - rows.count
        Console.message(
            "\(counted(rows.count)) of \(RecoveryText.grouped(selection.seen)) fit"
                + (others == 0 ? "" : "; \(RecoveryText.grouped(others)) more fit, but have \(done) already"))
        return rows
    }

    /// - Parameter common: the command, but for what it says of each.
    private func change(_ rows: [RawObject], _ common: Command, _ connection: IsletConnection) async throws {
        let progress = BulkProgress()
        await Interruption.telling { signals in
            let listener = Task { for await _ in signals { progress.stop() } }
            defer { listener.cancel() }
            await ProgressLine.during {
                "\(done) \(RecoveryText.grouped(progress.counts.applied)) of \(RecoveryText.grouped(rows.count))"
            } _: {
                var rest = rows[...]
                while !rest.isEmpty, !progress.isStopped {
                    let part = rest.prefix(partMax)
                    rest = rest.dropFirst(partMax)
                    await change(part: Array(part), common, progress, connection)
                }
            }
        }
        try conclude(progress, of: rows.count)
    }

    /// Changes each as it was when it was found to fit. What has changed since then is looked at again: it is changed
    /// where it still fits, and skipped where not.
    private func change(
        part: [RawObject], _ common: Command, _ progress: BulkProgress, _ connection: IsletConnection
    ) async {
        var rows = part
        for _ in 0..<triesMax where !rows.isEmpty && !progress.isStopped {
            let results = await connection.send(batch: rows.map { Self.command($0, common) })
            if results.allSatisfy(Self.isUnanswered) { progress.lost() }
            var changed: [RawObject] = []
            for (row, result) in zip(rows, results) {
                if Self.isGuarded(common), case .failure(let error) = result, error.code == .conflict {
                    changed.append(row)
                } else {
                    tell(result, of: row, progress)
                }
            }
            rows = await stillFitting(changed, common, progress, connection)
        }
        guard !progress.isStopped else { return }
        for row in rows { skip(row, "it changes all the time", progress) }
    }

    private static func isUnanswered(_ result: Result<Answer, IsletError>) -> Bool {
        guard case .failure(.timedOut) = result else { return false }
        return true
    }

    /// Whether a change is only made of what has not changed since it was found to fit. Whoever names a revision has
    /// said what it is to be.
    private static func isGuarded(_ common: Command) -> Bool { common["ifRevision"] == nil }

    /// These as they are now, without those that do not fit any more.
    private func stillFitting(
        _ rows: [RawObject], _ common: Command, _ progress: BulkProgress, _ connection: IsletConnection
    ) async -> [RawObject] {
        guard !rows.isEmpty else { return [] }
        let now: Int64
        do throws(IsletError) {
            now = filter.needsNow ? try await connection.now() : 0
        } catch {
            for row in rows { tell(.failure(error), of: row, progress) }
            return []
        }
        let gets = rows.map { row in
            var get = Command("\(Family.noun).get", app: common["app"]?.string)
            get["id"] = row["id"]
            return get
        }
        var fitting: [RawObject] = []
        for (row, result) in zip(rows, await connection.send(batch: gets)) {
            switch result.map(EntityText.entity) {
            case .success(let entity?) where filter.matches(entity, now: now) && isPossible(entity):
                fitting.append(entity)
            case .success: skip(row, "it has changed and does not fit any more", progress)
            case .failure(let error): tell(.failure(error), of: row, progress)
            }
        }
        return fitting
    }

    private func isPossible(_ row: RawObject) -> Bool { states?.contains(row["state"]?.string ?? "") ?? true }

    private func skip(_ row: RawObject, _ reason: String, _ progress: BulkProgress) {
        progress.skipped()
        Console.message("\(Self.name(row)): skipped: \(reason)")
    }

    private static func command(_ row: RawObject, _ common: Command) -> Command {
        var command = common
        command["id"] = row["id"]
        if isGuarded(common) { command["ifRevision"] = row["revision"] }
        return command
    }

    private func tell(_ result: Result<Answer, IsletError>, of row: RawObject, _ progress: BulkProgress) {
        switch result {
        case .success(let answer):
            if output.json { Console.data(answer.json.bytes) }
            guard case .ignored(let reason) = answer.outcome else {
                if output.isNames { Console.data(Family.address(row)) }
                return progress.applied()
            }
            progress.ignored()
            if !output.json { Console.message("\(Self.name(row)): ignored: \(reason)") }
        case .failure(let error) where error.code == .notFound:
            // Somebody else was faster: what is not there any more is no fault of the change.
            progress.gone()
            Console.message("\(Self.name(row)): gone meanwhile")
        case .failure(let error):
            let failure = Failure(error)
            progress.failed(failure.code)
            Console.message("\(Self.name(row)): \(failure.text)")
        }
    }

    /// Such as `ended 12 of 15 activities, 1 gone meanwhile, 1 ignored, 1 failed`. What is gone is no failure.
    private func conclude(_ progress: BulkProgress, of count: Int) throws {
        let counts = progress.counts
        var text = "\(done) \(RecoveryText.grouped(counts.applied)) of \(counted(count))"
        if counts.gone > 0 { text += ", \(RecoveryText.grouped(counts.gone)) gone meanwhile" }
        if counts.ignored > 0 { text += ", \(RecoveryText.grouped(counts.ignored)) ignored" }
        if counts.skipped > 0 { text += ", \(RecoveryText.grouped(counts.skipped)) skipped" }
        if counts.failed > 0 { text += ", \(RecoveryText.grouped(counts.failed)) failed" }
        let told = counts.applied + counts.gone + counts.ignored + counts.skipped + counts.failed
        guard told == count else {
            let reason = progress.isLost ? "the service answers nothing more; " : ""
            throw Failure(
                progress.isLost ? .unreachable : .failure,
                "\(text); \(reason)stopped before the other \(RecoveryText.grouped(count - told))")
        }
        guard let worst = counts.worst else { return Console.message(text) }
        throw Failure(worst, text)
    }

    private func counted(_ count: Int) -> String {
        "\(RecoveryText.grouped(count)) \(count == 1 ? Family.noun : Family.plural)"
    }
}

/// How far a change of many has come.
private final class BulkProgress: Sendable {
    struct Counts {
        var applied = 0
        /// Those that were not there any more.
        var gone = 0
        var ignored = 0
        var skipped = 0
        var failed = 0
        /// The exit code, where not all is well: that of a failure stands over that of what was ignored
        /// or skipped.
        var worst: Outcome?
    }

    private let state = Mutex((counts: Counts(), isStopped: false, isLost: false))

    var counts: Counts { state.withLock { $0.counts } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Whether a whole part had no answers: the next one would only wait as long.
    var isLost: Bool { state.withLock { $0.isLost } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Stops it, as nobody answers.
    func lost() {
        state.withLock { state in
            state.isStopped = true
            state.isLost = true
        }
    }

    func applied() { state.withLock { $0.counts.applied += 1 } }
    func gone() { state.withLock { $0.counts.gone += 1 } }

    func ignored() {
        state.withLock { state in
            state.counts.ignored += 1
            state.counts.worst = state.counts.worst ?? .conflict
        }
    }

    func skipped() {
        state.withLock { state in
            state.counts.skipped += 1
            state.counts.worst = state.counts.worst ?? .conflict
        }
    }

    func failed(_ code: Outcome) {
        state.withLock { state in
            if state.counts.failed == 0 { state.counts.worst = code }
            state.counts.failed += 1
        }
    }
}
