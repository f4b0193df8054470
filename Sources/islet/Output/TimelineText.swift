import IsletClient

/// A widget's timeline as people read it.
struct TimelineText {
    private let entries: [RawObject]
    private let current: Int?
    private let policy: RawJSON?
    private let timelineAt: Int64?
    private let next: Deadline?
    private let held: String?
    private let now: Int64
    private let style: Style

    /// - Parameters:
    ///   - timeline: that of the answer to `widget.timeline`.
    ///   - held: the reload that waits, of the answer to `widget.budget`.
    init(_ timeline: RawObject, held: RawJSON?, now: Int64, style: Style) {
        entries = timeline["entries"]?.elements?.compactMap(\.object) ?? []
        current = timeline["entryIndex"]?.integer.map(Int.init)
        policy = timeline["policy"]
        timelineAt = timeline["timelineAt"]?.integer
        next = timeline["next"].flatMap(Deadline.init)
        self.held = WidgetText.held(held, now: now)
        self.now = now
        self.style = style
    }

    /// The entries with the current one marked, what comes next, and when the next timeline is asked for.
    var lines: [String] {
        guard !entries.isEmpty else { return ["no timeline is there yet"] + rest }
        let came = timelineAt.map { ", came \(TimeText.full($0, now: now))" } ?? ""
        let head = "\(entries.count) \(entries.count == 1 ? "entry" : "entries")\(came)"
        return [head] + entries.indices.map(line) + (current == nil ? ["none of them is shown yet"] : []) + rest
    }

    /// What comes next, and when the next timeline is asked for.
    private var rest: [String] { [nextLine, reloadLine].compactMap(\.self) }

    /// What it shows at another moment than now.
    ///
    /// - Parameter moment: the answer's `at`.
    static func line(_ moment: RawObject, now: Int64) -> String {
        let place = moment["entryIndex"]?.integer.map { "entry \($0 + 1)" }
        let content = WidgetText.content(moment["entry"], width: .max)
        let shown = [place, content].compactMap(\.self).joined(separator: ": ")
        let date = moment["at"]?.integer.map { TimeText.full($0, now: now) } ?? "?"
        return "\(date): " + (shown.isEmpty ? "none of these entries" : shown)
    }

    private func line(_ index: Int) -> String {
        let entry = entries[index]
        let isCurrent = index == current
        let date = entry["date"]?.integer ?? 0
        let when = isCurrent ? "now" : TimeText.distance(to: date, now: now)
        let cells = [
            "\(index + 1)".padded(to: 3), TimeText.full(date), when.padded(to: whenWidth),
            [WidgetText.content(.some(entry.json), width: contentWidth) ?? "", relevance(entry)].compactMap(\.self)
                .joined(separator: "  "),
        ]
        let text = cells.joined(separator: "  ")
        return isCurrent ? "→ \(style.of(state: "shown", text))" : "  \(text)"
    }

    /// Such as `score 10 for 1 h`; nil where the entry has none.
    private func relevance(_ entry: RawObject) -> String? {
        guard let relevance = entry["relevance"]?.object, let score = relevance["score"] else { return nil }
        let duration = relevance["duration"]?.integer ?? 0
        return "score \(score)" + (duration == 0 ? "" : " for \(TimeText.span(duration))")
    }

    private var nextLine: String? {
        guard held == nil || next?.cause != "held" else { return nil }
        return next.map { TimeText.deadline($0.cause, at: $0.at, now: now) + ", \(TimeText.full($0.at))" }
    }

    /// When the next timeline is asked for; nil where the line before says it.
    private var reloadLine: String? {
        if let held { return "the next timeline is held \(held)" }
        if next?.cause == "policy" || next?.cause == "retry" { return nil }
        guard let policy else { return nil }
        if let after = policy.object?["after"]?.integer { return reload("not before", after) }
        switch policy.string {
        case "atEnd": return entries.last?["date"]?.integer.map { reload("at its end,", $0) }
        case "never": return "reload only when it is asked for"
        case let other: return "reload: \(other ?? policy.description)"
        }
    }

    private func reload(_ how: String, _ date: Int64) -> String {
        "next timeline \(how) \(TimeText.full(date, now: now))"
    }

    private let contentWidth = 60
    /// `in 23 h 59 m`.
    private let whenWidth = 12
}
