import IsletClient

/// The decisions about an activity in plain words.
enum ExplainText {
    static func lines(_ answer: Answer, now: Int64, style: Style) -> [String] {
        let decisions = answer["decisions"]?.elements?.compactMap(\.object) ?? []
        var lines: [String] = []
        var date = ""
        for (index, decision) in decisions.enumerated() {
            let at = decision["at"]?.integer ?? 0
            if TimeText.date(at) != date {
                date = TimeText.date(at)
                lines.append(style.dim(TimeText.dateWithWeekday(at) + " UTC"))
            }
            lines.append("\("\(index + 1).".padded(to: 3)) \(TimeText.clock(at))  \(sentence(decision, style: style))")
            lines.append(style.dim("              \(source(decision))"))
        }
        if let activity = answer.activity {
            let state = style.of(ActivityText.state(activity), activity["state"]?.string ?? "?")
            let next = ActivityText.next(activity, now: now).map { ", \($0)" } ?? ", and nothing will happen by itself"
            lines.append("Now it is \(state)\(next).")
        }
        return lines
    }

    private static func sentence(_ decision: RawObject, style: Style) -> String {
        let text = decision["text"]?.string ?? ""
        let from = decision["from"]?.string
        let to = decision["to"]?.string ?? "?"
        let shownTo = style.of(ActivityState(rawValue: to), to)
        switch decision["outcome"]?.string {
        case "ignored": return "\(style.bold("ignored")): \(text)"
        case "refused": return "\(style.bold("refused")): \(text)"
        default:
            guard let from else { return "\(shownTo): \(text)" }
            let shownFrom = style.of(ActivityState(rawValue: from), from)
            return from == to ? "\(shownTo): \(text)" : "\(shownFrom) → \(shownTo): \(text)"
        }
    }

    /// The rule, the event, and who asked.
    private static func source(_ decision: RawObject) -> String {
        var parts: [String] = []
        if let rule = decision["rule"]?.string { parts.append(rule) }
        if let cause = decision["cause"]?.string { parts.append("cause \(cause)") }
        if let revision = decision["revision"] { parts.append("revision \(revision)") }
        if let req = decision["by"]?.object?["req"]?.string { parts.append("asked by \(req)") }
        return parts.joined(separator: " · ")
    }
}
