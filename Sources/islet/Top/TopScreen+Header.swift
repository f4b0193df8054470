import IsletClient

/// The figures above the table.
extension TopScreen {
    /// As many lines as `headerHeight(_:)` says, the most important ones where there are fewer.
    static func header(_ model: TopModel) -> [StyledLine] {
        let figures = model.reading?.figures ?? TopFigures()
        let height = headerHeight(model.size)
        let title = title(model, figures)
        switch height {
        case 0: return []
        case 1: return [title]
        case 2...3: return [title, timers(figures), bar(model, figures)]
        case _:
            return [
                title, traffic(model, figures), timers(figures), spans(figures), peers(model, figures),
                bar(model, figures),
            ]
        }
    }

    /// `islet top  tcp://127.0.0.1:7411  0.1.0 full  up 3 h …          22:55:07 UTC  live`.
    private static func title(_ model: TopModel, _ figures: TopFigures) -> StyledLine {
        var right = StyledLine()
        if figures.isDiskFull { right.add("DISK FULL  ", .wrong) }
        if figures.isStopping { right.add("STOPPING  ", .warning) }
        if let now = figures.now { right.add("\(TimeText.clock(now)) UTC\(speed(figures))  ") }
        switch model.link {
        case .connecting: right.add("waiting", .warning)
        case .away(let since, _):
            right.add("NO ANSWER for \(TimeText.span((model.now - since) / 1_000 * 1_000))", .wrong)
        case .live where model.isPaused: right.add("PAUSED", Ink(colour: 33, isBold: true))
        case .live: right.add("live", .good)
        }

        var left = StyledLine("islet top", .bold)
        left.add("  \(model.endpoint)")
        if let version = figures.version { left.add("  \(version)", .dim) }
        if let guarantee = figures.guarantee { left.add(" \(guarantee)", .dim) }
        if let uptime = figures.uptime { left.add("  up \(TimeText.span(uptime / 1_000 * 1_000))", .dim) }
        var line = left.fitted(to: max(0, model.size.columns - right.columns - 2))
        line.pad(to: model.size.columns - right.columns)
        line.add(right)
        return line
    }

    /// ` ×60`, where domain time runs fast.
    private static func speed(_ figures: TopFigures) -> String {
        guard figures.speed != 1 else { return "" }
        return " ×" + (Int64(exactly: figures.speed).map(String.init) ?? "\(figures.speed)")
    }

    /// A label in its own ink before a value.
    private static func add(_ label: String, _ value: String, _ ink: Ink = .plain, to line: inout StyledLine) {
        if !line.runs.isEmpty { line.add("  ") }
        line.add(label + " ", .dim)
        line.add(value, ink)
    }

    private static func begin(_ label: String) -> StyledLine { StyledLine(label.padded(to: 10), .bold) }

    /// What happens in a second.
    private static func traffic(_ model: TopModel, _ figures: TopFigures) -> StyledLine {
        let rates = model.rates
        var line = begin("commands")
        line.add("\(TopText.rate(rates.taken))/s")
        if figures.refused != nil {
            add("refused", "\(TopText.rate(rates.refused))/s", (rates.refused ?? 0) > 0 ? .warning : .plain, to: &line)
            add("ignored", "\(TopText.rate(rates.ignored))/s", to: &line)
        }
        add("events", "\(TopText.rate(rates.events))/s", to: &line)
        if let apps = figures.apps { add("apps", TopText.count(apps), to: &line) }
        if let bytes = figures.residentBytes { add("memory", TopText.bytes(bytes), to: &line) }
        return line
    }

    /// How many are armed, when the next fires, and how late they are.
    private static func timers(_ figures: TopFigures) -> StyledLine {
        var line = begin("timers")
        line.add("\(figures.timersArmed.map(TopText.count) ?? "-") armed")
        if let overdue = figures.timersOverdue, overdue > 0 {
            line.add("  \(TopText.count(overdue)) overdue", .wrong)
        }
        if let next = figures.nextAt, let now = figures.now {
            add("next", TimeText.distance(to: max(next, now), now: now), to: &line)
        }
        let lateness = figures.lateness
        let isLate = (lateness?.p99 ?? 0) >= latenessMax
        add("lateness", spread(lateness), isLate ? .wrong : .plain, to: &line)
        return line
    }

    /// From this p99 in milliseconds of real time on, lateness is shown as wrong.
    private static let latenessMax = 1_000.0

    /// How long answers and commits take.
    private static func spans(_ figures: TopFigures) -> StyledLine {
        var line = begin("commit")
        line.add(spread(figures.commit))
        add("answer", spread(figures.answer), to: &line)
        return line
    }

    /// Who else takes part.
    private static func peers(_ model: TopModel, _ figures: TopFigures) -> StyledLine {
        var line = begin("providers")
        line.add(figures.providers.map(TopText.count) ?? "-")
        if figures.calls != nil { line.add(", \(TopText.rate(model.rates.calls)) calls/s") }
        if let waiting = figures.callsWaiting, waiting > 0 {
            line.add(", \(TopText.count(waiting)) waiting", .warning)
        }
        if let call = figures.call { line.add(", p99 \(TopText.milliseconds(call.p99)) ms") }
        add("subscribers", figures.subscribers.map(TopText.count) ?? "-", to: &line)
        if let lagging = figures.laggingSubscribers, lagging > 0 {
            line.add(", \(TopText.count(lagging)) lagging", .warning)
        }
        if let lag = figures.maximumLag, lag > 0 { line.add(" by \(TopText.count(lag)) at most", .warning) }
        return line
    }

    /// `p50 0.4  p99 1.9  max 12 ms`.
    static func spread(_ spread: TopFigures.Spread?) -> String {
        guard let spread else { return "-" }
        let parts = [("p50", spread.p50), ("p99", spread.p99), ("max", spread.maximum)]
        return parts.map { "\($0) \(TopText.milliseconds($1))" }.joined(separator: " ") + " ms"
    }

    // MARK: States

    /// The states of the family as shares of a bar, each with its sign, its name and its number.
    private static func bar(_ model: TopModel, _ figures: TopFigures) -> StyledLine {
        let states =
            switch model.tab {
            case .controls: figures.controls
            case .widgets: figures.widgets
            case .problems, .activities, .providers, .subscribers: figures.activities
            }
        // States that nothing is in are named where there is room.
        let all = legend(of: states, isWhole: true)
        let legend = all.columns + barMin <= model.size.columns ? all : legend(of: states, isWhole: false)
        let width = max(barMin, min(barMax, model.size.columns - legend.columns))
        var line = StyledLine()
        let shares = shares(states.counts.map(\.count), width: width)
        for (index, state) in states.counts.enumerated() {
            line.add(String(repeating: sign(index), count: shares[index]), .state(state.name))
        }
        line.add(String(repeating: "·", count: max(0, width - shares.reduce(0, +))), .dim)
        line.add(legend)
        return line
    }

    private static let barMin = 10
    private static let barMax = 40

    private static func legend(of states: TopFigures.States, isWhole: Bool) -> StyledLine {
        var line = StyledLine()
        for (index, state) in states.counts.enumerated() where isWhole || state.count > 0 {
            line.add("  ")
            line.add(sign(index), .state(state.name))
            line.add(" \(state.name) ", state.count > 0 ? .plain : .dim)
            line.add(TopText.count(state.count), state.count > 0 ? .bold : .dim)
        }
        return line
    }

    /// Shares are told apart without colours too.
    private static func sign(_ index: Int) -> String {
        let signs = ["░", "█", "▓", "▒", "▞", "▚", "▪"]
        return signs[index % signs.count]
    }

    /// How many of so many places each of these counts gets: none for 0, else at least one, in all at most the width.
    static func shares(_ counts: [Int64], width: Int) -> [Int] {
        let total = counts.reduce(Int64(0)) { $0.addingClamped(max(0, $1)) }
        guard total > 0, width > 0 else { return counts.map { _ in 0 } }
        var shares = counts.map { count in
            count > 0 ? max(1, Int((Double(count) / Double(total) * Double(width)).rounded())) : 0
        }
        while shares.reduce(0, +) > width, let most = shares.indices.max(by: { shares[$0] < shares[$1] }) {
            shares[most] -= 1
        }
        if shares.reduce(0, +) < width, let most = shares.indices.max(by: { shares[$0] < shares[$1] }) {
            shares[most] += width - shares.reduce(0, +)
        }
        return shares
    }
}
