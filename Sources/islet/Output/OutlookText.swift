import IsletClient

/// What will become of an entity by itself.
enum OutlookText {
    private struct Prospect {
        let at: Int64
        let cause: String
    }

    /// Lines of what is to come, the next first; one that says so where nothing is.
    static func lines(_ entity: RawObject, now: Int64) -> [String] {
        let lines = waits(entity) + prospects(entity).map { line($0, now: now) }
        return lines.isEmpty ? ["Nothing will happen to it by itself."] : ["What happens next:"] + lines
    }

    private static func line(_ prospect: Prospect, now: Int64) -> String {
        let what = CauseText.outlook(prospect.cause)
        let date = TimeText.full(prospect.at)
        guard prospect.at > now else {
            let late = TimeText.span(now.subtractingClamped(prospect.at))
            return "  due for \(late), since \(date): \(what) (\(prospect.cause))"
        }
        let left = TimeText.span(prospect.at.subtractingClamped(now))
        return "  in \(left), at \(date): \(what) (\(prospect.cause))"
    }

    /// The next deadline, and what is known to follow after it.
    private static func prospects(_ entity: RawObject) -> [Prospect] {
        var known: [Prospect] = []
        if let next = entity["next"].flatMap(Deadline.init) { known.append(Prospect(at: next.at, cause: next.cause)) }
        var others: [(String, Int64?)] = []
        switch entity["state"]?.string {
        case "pending": others = [("startDate", entity["startDate"]?.integer)]
        case "active":
            others = [("staleDate", entity["staleDate"]?.integer), ("activeLimit", entity["expiresAt"]?.integer)]
        case "stale": others = [("activeLimit", entity["expiresAt"]?.integer)]
        case "ended": others = [("dismissalPolicy", entity["dismissAt"]?.integer)]
        case _: break
        }
        others.append(("held", entity["held"]?.object?["until"]?.integer))
        others.append(("policy", entity["policy"]?.object?["after"]?.integer))
        for (cause, at) in others where !known.contains(where: { $0.cause == cause }) {
            if let at { known.append(Prospect(at: at, cause: cause)) }
        }
        return known.sorted { $0.at < $1.at }
    }

    /// What it waits for that has no date in the service's time.
    private static func waits(_ entity: RawObject) -> [String] {
        switch entity["state"]?.string {
        case "loading", "reloading":
            ["  its provider is asked: its answer comes, or the deadline of the call (islet providers)"]
        case "acting": ["  its action runs: its provider answers, or the deadline of the call comes (islet providers)"]
        case _: []
        }
    }
}
