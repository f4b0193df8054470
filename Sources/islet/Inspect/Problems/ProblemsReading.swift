import IsletClient
import IsletCore
import IsletFilter

/// All that `problem.list` tells, for who looks through it: where one answer has no room for all of it, that of each
/// family by itself, and what may still be behind that.
struct ProblemsReading {
    /// The worst first, in the service's order.
    private(set) var rows: [RawObject] = []
    /// How many there are.
    private(set) var total: Int64 = 0
    /// Whether an answer says that it leaves something out.
    private(set) var isCut = false
    /// What had no room in an answer: whose it is, and how bad it may be at most.
    private var unseen: [(family: String, severity: Problem.Severity)] = []
    private let app: String?

    private init(app: String?) {
        self.app = app
    }

    /// Asks for the problems of an app and a family, where they are named.
    init(app: String?, family: String?, _ connection: IsletConnection) async throws {
        self.app = app
        let answer = try await Self.answer(app: app, family: family, connection)
        take(answer, of: family)
        guard family == nil, !unseen.isEmpty else { return }
        (rows, total, unseen, isCut) = ([], 0, [], false)
        for family in Problems.families {
            take(try await Self.answer(app: app, family: family, connection), of: family, isPart: true)
        }
        sort()
    }

    /// Asks once.
    static func answer(
        app: String? = nil, family: String?, limit: Int = Problems.limitMax, _ connection: IsletConnection
    ) async throws(IsletError) -> Answer {
        var command = Command("problem.list", ["limit": .integer(limit)])
        command["app"] = app.map(RawJSON.string)
        command["family"] = family.map(RawJSON.string)
        return try await connection.send(command)
    }

    /// What an answer tells.
    static func rows(of answer: Answer) -> [RawObject] { answer["problems"]?.elements?.compactMap(\.object) ?? [] }

    /// How many each family has that has any.
    static func counts(
        app: String?, _ connection: IsletConnection
    ) async throws -> [(family: String, count: Int64)] {
        var counts: [(family: String, count: Int64)] = []
        for family in Problems.families {
            var one = ProblemsReading(app: app)
            one.take(try await answer(app: app, family: family, limit: 1, connection), of: family, isPart: true)
            if one.total > 0 { counts.append((family, one.total)) }
        }
        return counts
    }

    /// - Parameter isPart: whether it is one of several answers, each of which tells that the disk is full.
    private mutating func take(_ answer: Answer, of family: String?, isPart: Bool = false) {
        let all = Self.rows(of: answer)
        let own = isPart ? all.filter { $0["family"]?.string == family } : all
        let count = max(0, (answer["total"]?.integer ?? 0) - Int64(all.count - own.count))
        rows += own
        total = total.addingClamped(count)
        // While it was counted over several turns, some may have gone.
        let isExact = answer["exact"]?.bool ?? true
        if !isExact { isCut = true }
        guard count > (isExact ? Int64(own.count) : Int64(Problems.limitMax)) else { return }
        unseen.append((family ?? "", own.last.flatMap(Self.severity) ?? .critical))
    }

    /// As an answer has them: what is about more than one entity before single ones, then what has lasted longest.
    private mutating func sort() {
        rows = rows.enumerated().sorted { one, other in
            let (left, right) = (ProblemsText.order(one.element), ProblemsText.order(other.element))
            return left == right ? one.offset < other.offset : left < right
        }.map(\.element)
    }

    private static func severity(_ row: RawObject) -> Problem.Severity? {
        Problem.Severity.allCases.first { row["severity"]?.string == "\($0.name)" }
    }

    /// The families of which something had no room, that is worse than a notice and that a filter may select.
    func unseen(fitting filter: Filter, now: Int64) -> [String] {
        unseen.filter { unseen in
            Problem.allCases.contains { problem in
                problem.severity != .notice && problem.severity >= unseen.severity
                    && problem.families.contains { "\($0.name)" == unseen.family }
                    && maySelect(filter, problem, unseen.family, now: now)
            }
        }.map(\.family)
    }

    private func maySelect(_ filter: Filter, _ problem: Problem, _ family: String, now: Int64) -> Bool {
        var row: RawObject = [
            "severity": .string("\(problem.severity.name)"), "what": .string("\(problem.what)"),
            "family": .string(family), "text": .string("\(problem.text)"), "advice": .string("\(problem.advice)"),
        ]
        if let app { row["app"] = .string(app) }
        return filter.maySelect(row, now: now, unknown: filter.members.filter { row[$0] == nil })
    }

    /// How many controls or widgets an answer about their family tells that have failed since a date or longer, also those for
    /// which it has no room: it has the longest failures first.
    static func failed(_ family: String, in answer: Answer, since date: Int64) -> Int64 {
        let failed = rows(of: answer).filter { $0["family"]?.string == family && $0["what"]?.string == "failed" }
        // An older service does not say since when, and not how many of a sort there are.
        let count = answer["byWhat"]?.object.map { $0["failed"]?.integer ?? 0 }
        let long = failed.count { ($0["since"]?.integer ?? .min) <= date }
        guard long == failed.count else { return Int64(long) }
        return count ?? Self.count(of: "failed", family, in: answer)
    }

    /// How many of a sort an answer about one family tells, each with its count, also those for which it has no room.
    static func count(of what: String, _ family: String, in answer: Answer) -> Int64 {
        let all = rows(of: answer)
        let listed = all.filter { $0["family"]?.string == family && $0["what"]?.string == what }
        let told = listed.reduce(Int64(0)) { $0.addingClamped($1["count"]?.integer ?? 1) }
        // Of a severity what has lasted for a known time, such as what is overdue, comes first: behind one that fails,
        // all others fail.
        guard let severity = listed.last?["severity"]?.string,
            let counted = answer["counts"]?.object?[severity]?.integer
        else { return told }
        let shown = all.count { $0["severity"]?.string == severity }
        return told.addingClamped(max(0, counted - Int64(shown)))
    }
}
