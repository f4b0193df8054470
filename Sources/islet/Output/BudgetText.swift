import IsletClient

/// A widget's ledger of reloads in plain words.
enum BudgetText {
    /// - Parameter budget: that of the answer to `widget.budget`.
    static func lines(_ budget: RawObject, now: Int64) -> [String] {
        var lines = [spent(budget, now: now)]
        if budget["developerMode"]?.bool == true { lines.append("developer mode: nothing is charged, nothing waits") }
        if budget["isLearning"]?.bool == true {
            lines.append("it was placed lately, and has more than it will have later")
        }
        if let last = budget["lastReloadAt"]?.integer {
            lines.append("last reload \(TimeText.full(last, now: now))")
        }
        let exempt = exemptions.compactMap { name, text -> String? in
            guard let count = budget["exempt"]?.object?[name]?.integer, count > 0 else { return nil }
            return "\(count) \(text)"
        }
        if !exempt.isEmpty { lines.append("not charged since it was placed: \(exempt.joined(separator: ", "))") }
        if let held = WidgetText.held(budget["held"], now: now) { lines.append("a reload is held \(held)") }
        return lines
    }

    /// Such as `61 of 120 reloads in the last 24 hours, 59 left; the next one is free at …`.
    private static func spent(_ budget: RawObject, now: Int64) -> String {
        let left = budget["left"]?.integer ?? 0
        let (spent, limit) = (budget["spent"]?.description ?? "?", budget["limit"]?.description ?? "?")
        let head = "\(spent) of \(limit) reloads in the last 24 hours, \(left == 0 ? "none" : "\(left)") left"
        guard let free = budget["freeAt"]?.integer else { return head }
        return "\(head); the next one is free at \(TimeText.full(free, now: now))"
    }

    /// Why a reload was not charged, in the order of the contract.
    private static let exemptions = [
        ("foreground", "while its app was in the foreground"), ("session", "in a session of audio or navigation"),
        ("intent", "after its own action"), ("locale", "by a change of language or region"),
        ("appearance", "by a change of text size or appearance"), ("standBy", "in StandBy"),
        ("developerMode", "in developer mode"), ("placement", "when it was placed or configured"),
    ]
}
