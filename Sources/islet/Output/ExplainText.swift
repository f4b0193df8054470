import IsletClient

/// The decisions about an entity in plain words.
enum ExplainText {
    /// - Parameter shown: what an entity shows, where that is said.
    static func lines(
        _ answer: Answer, shown: (RawObject) -> String?, now: Int64, style: Style
    ) -> [String] {
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
        if let entity = EntityText.entity(answer) {
            let parts = [EntityText.state(entity, style: style), shown(entity), EntityText.next(entity, now: now)]
            let rest = entity["next"] == nil ? ", and nothing will happen by itself" : ""
            lines.append("Now it is \(parts.compactMap(\.self).joined(separator: ", "))\(rest).")
        }
        return lines
    }

    private static func sentence(_ decision: RawObject, style: Style) -> String {
        let text = decision["text"]?.string ?? ""
        let from = decision["from"]?.string
        let to = decision["to"]?.string ?? "?"
        let shownTo = style.of(state: to, to)
        switch decision["outcome"]?.string {
        case "ignored": return "\(style.bold("ignored")): \(text)"
        case "refused": return "\(style.bold("refused")): \(text)"
        default:
            guard let from else { return "\(shownTo): \(text)" }
            let shownFrom = style.of(state: from, from)
            return from == to ? "\(shownTo): \(text)" : "\(shownFrom) → \(shownTo): \(text)"
        }
    }

    /// The rule, the cause, what failed, and who asked.
    private static func source(_ decision: RawObject) -> String {
        var parts: [String] = []
        if let rule = decision["rule"]?.string { parts.append(rule) }
        if let cause = decision["cause"]?.string { parts.append("cause \(cause)") }
        if let failure = decision["failure"]?.string { parts.append("failure \(failure)") }
        if let exempt = decision["exempt"]?.string { parts.append("not charged: \(exempt)") }
        if let revision = decision["revision"] { parts.append("revision \(revision)") }
        if let req = decision["by"]?.object?["req"]?.string { parts.append("asked by \(req)") }
        return parts.joined(separator: " · ")
    }
}
