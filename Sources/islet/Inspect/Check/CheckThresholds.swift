import ArgumentParser
import IsletClient
import IsletFilter

/// The thresholds of `islet check`, each WARN:CRIT or off.
struct CheckThresholds: ParsableArguments {
    @Option(help: ArgumentHelp("How late timers fired lately (99th percentile).", valueName: "warn:crit"))
    var latenessP99 = "250ms:5s"

    @Option(
        help: ArgumentHelp("How long changes took to be answered lately (99th percentile).", valueName: "warn:crit"))
    var answerP99 = "250ms:2s"

    @Option(help: ArgumentHelp("How long commits took lately (99th percentile).", valueName: "warn:crit"))
    var commitP99 = "250ms:2s"

    @Option(help: ArgumentHelp("How long this question took.", valueName: "warn:crit"))
    var response = "500ms:5s"

    @Option(help: ArgumentHelp("Timers that are due and have not fired.", valueName: "warn:crit"))
    var overdue = "100:10000"

    @Option(
        help: ArgumentHelp(
            "How far domain time, which stands still then, is ahead of a clock that was set back.",
            valueName: "warn:crit"))
    var clockAhead = "1s:10s"

    @Option(help: ArgumentHelp("Subscribers that lag.", valueName: "warn:crit"))
    var lagging = "0:10"

    @Option(help: ArgumentHelp("Calls that wait for a provider while their time passes.", valueName: "warn:crit"))
    var waiting = "16:256"

    @Option(
        help: ArgumentHelp("Providers that are asked nothing, since they failed too often.", valueName: "warn:crit"))
    var openProviders = "0:"

    @Option(
        help: ArgumentHelp(
            "Providers that failed too often lately and have not done well since, or for which calls wait.",
            valueName: "warn:crit"))
    var halfOpenProviders = "0:"

    @Option(
        help: ArgumentHelp(
            "Controls and widgets that fail, or of a kind that no provider serves.", valueName: "warn:crit"))
    var failing = "0:"

    @Option(
        help: ArgumentHelp(
            "Counts one that fails as failing only after so long, in the service's time.", valueName: "span"))
    var failingAfter = Span(milliseconds: 0)

    @Option(help: ArgumentHelp("Connected providers: fewer are bad.", valueName: "warn:crit"))
    var providers = "off"

    @Option(help: ArgumentHelp("Entities, in percent of how many the service may hold.", valueName: "warn:crit"))
    var entities = "80:95"

    @Option(help: ArgumentHelp("Resident memory, such as 1GiB:2GiB.", valueName: "warn:crit"))
    var memory = "off"

    /// All of them, read.
    ///
    /// - Throws: a `CheckProblem` for one that is written wrongly.
    func rules() throws -> [CheckRule] {
        try [
            rule("lateness-p99", "lateness p99", latenessP99, .milliseconds) { Self.p99($0.stats, "lateness") },
            rule("answer-p99", "answer p99", answerP99, .microseconds) { Self.p99($0.stats, "answer") },
            rule("commit-p99", "commit p99", commitP99, .microseconds) { Self.p99($0.stats, "commit") },
            rule("overdue", "overdue timers", overdue, .count) { $0.stats.number("timers", "overdue") },
            rule("clock-ahead", "domain time ahead of the wall clock", clockAhead, .milliseconds) {
                $0.stats.number("clockAhead") ?? 0
            },
            rule("lagging", "lagging subscribers", lagging, .count) { $0.stats.number("subscribers", "lagging") },
            rule("waiting", "waiting calls", waiting, .count) { $0.waitingCalls },
            rule("open-providers", "failing providers", openProviders, .count) { $0.openProviders },
            rule("half-open-providers", "half open providers", halfOpenProviders, .count) { $0.halfOpenProviders },
            rule("failing", "failing controls and widgets", failing, .count) { $0.failing },
            rule("providers", "connected providers", providers, .count, isMinimum: true) {
                $0.stats.number("providers", "connected")
            },
            rule("entities", "entities", entities, .percent) { $0.entitiesPercent },
            rule("memory", "resident memory", memory, .bytes) { $0.stats.number("memory", "resident") },
            rule("response", "response time", response, .milliseconds) { $0.responseTime },
        ]
    }

    private func rule(
        _ option: String, _ title: String, _ text: String, _ unit: CheckUnit, isMinimum: Bool = false,
        _ value: @escaping @Sendable (CheckReading) -> Int64?
    ) throws -> CheckRule {
        let threshold = try Threshold.reading(text, option: option, unit: unit, isMinimum: isMinimum)
        let name = option.split(separator: "-").joined(separator: "_")
        return CheckRule(name: name, title: title, unit: unit, threshold: threshold, value: value)
    }

    /// The 99th percentile of the last while; zero where nothing happened in it.
    private static func p99(_ stats: StatsReading, _ name: String) -> Int64? {
        guard let recent = stats.object(name, "recent") else { return nil }
        return recent["count"]?.integer == 0 ? 0 : recent["p99"]?.integer
    }
}

/// What is judged, and how its figure is had.
struct CheckRule: Sendable {
    let name: String
    let title: String
    let unit: CheckUnit
    let threshold: Threshold
    let value: @Sendable (CheckReading) -> Int64?
}

/// What the service has said, as a check sees it.
struct CheckReading: Sendable {
    let stats: StatsReading
    /// Providers that the service asks nothing for a while.
    let openProviders: Int64?
    /// Providers that failed as often, of which one call is to tell whether they are well again.
    let halfOpenProviders: Int64?
    /// Controls and widgets that fail, or of a kind that nobody serves.
    let failing: Int64?
    /// How many entities the service may hold.
    let maximumEntities: Int64?
    /// How long the answer took, in milliseconds.
    let responseTime: Int64?

    /// The calls that may fail by waiting: what is held back loses no time. An older service tells all alike.
    var waitingCalls: Int64? {
        stats.number("providers", "waiting").map { max(0, $0 - (stats.number("providers", "held") ?? 0)) }
    }

    var entitiesPercent: Int64? {
        guard let maximumEntities, maximumEntities > 0 else { return nil }
        guard let held = stats.number("entities") ?? listed else { return nil }
        return held.multipliedClamped(by: 100) / maximumEntities
    }

    /// What an older service tells of its entities, by state.
    private var listed: Int64? {
        let families = ["activities", "controls", "widgets"].compactMap { stats.object($0) }
        guard !families.isEmpty else { return nil }
        let states = families.flatMap(\.members).filter { $0.name != "dismissed" }
        let keys = stats.number("groups", "keys") ?? 0
        return states.reduce(keys) { $0.addingClamped($1.value.integer ?? 0) }
    }

    /// Judges it.
    func report(_ rules: [CheckRule]) -> CheckReport {
        var report = CheckReport()
        if stats.stats["diskFull"]?.bool == true {
            report.problems.append(.init(status: .critical, text: "the disk is full, changes are refused"))
        }
        if stats.object("journal")?["segmentDelayed"]?.bool == true {
            let text = "the journal can begin no new segment, the present one grows: look for room and inodes on its disk"
            report.problems.append(.init(status: .warning, text: text))
        }
        if stats.stats["stopping"]?.bool == true {
            report.problems.append(.init(status: .warning, text: "the service is stopping"))
        }
        report.figures = rules.compactMap { rule in
            rule.value(self).map { value in
                .init(name: rule.name, title: rule.title, value: value, unit: rule.unit, threshold: rule.threshold)
            }
        }
        return report
    }
}
