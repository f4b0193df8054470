import IsletClient

/// Widgets as people read them.
enum WidgetText {
    /// Where what an entry shows is cut.
    private static let contentWidth = 40

    /// What an entry shows, cut; nil where there is no entry.
    static func content(_ entry: RawJSON?, width: Int = contentWidth) -> String? {
        guard let entry = entry?.object else { return nil }
        return entry["content"]?.description.printable.shortened(to: width) ?? "an empty entry"
    }

    /// What is to be known of it beside its state: `on top`, `asks for a login`.
    static func marks(_ members: RawObject) -> [String] {
        let marks = [("isOnTop", "on top"), ("needsLogin", "asks for a login"), ("isInvalidated", "about to change")]
        return marks.compactMap { name, text in members[name]?.bool == true ? text : nil }
    }

    /// `at the end of the timeline`, `after 2026-01-31 09:41:07 UTC (in 3 h)`, `never`.
    static func policy(_ policy: RawJSON, now: Int64) -> String {
        if let after = policy.object?["after"]?.integer { return "after \(TimeText.full(after, now: now))" }
        return policy.string == "atEnd" ? "at the end of the timeline" : policy.text
    }

    /// `until 2026-01-31 09:41:07 UTC (in 3 h), since the budget is spent; for a push and 2 more requests`; nil where
    /// nothing is held.
    static func held(_ held: RawJSON?, now: Int64) -> String? {
        guard let held = held?.object, let until = held["until"]?.integer else { return nil }
        return "until \(TimeText.full(until, now: now)), \(reason(held)); \(requests(held))"
    }

    /// What a reload is held for: `for a push and 2 more requests`, `as its timeline had come to the end`.
    private static func requests(_ held: RawObject) -> String {
        let more = held["merged"]?.integer ?? 0
        let merged = "\(more) more request\(more == 1 ? "" : "s")"
        let cause = held["cause"]?.string ?? "?"
        switch cause {
        case "push", "request": return "for a \(cause)" + (more == 0 ? "" : " and \(merged)")
        default:
            let why = CauseText.reason(cause).map { "as \($0)" } ?? "for \(cause.printable)"
            return why + (more == 0 ? "" : ", and for \(merged)")
        }
    }

    /// Why a reload waits.
    static func reason(_ held: RawObject) -> String {
        switch held["reason"]?.string {
        case "budget": "since the budget is spent"
        case "spacing": "since the last reload was a moment ago"
        case let reason: reason?.printable ?? "?"
        }
    }

    /// The lines of a whole widget.
    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        let head = [
            style.bold(PlacedText.name(members)), EntityText.state(members, style: style), content(members["entry"]),
            PlacedText.failure(members).map(style.wrong),
        ]
        return [(head.compactMap(\.self) + marks(members)).joined(separator: "  ")]
            + EntityText.memberLines(members, now: now)
    }

    /// A table of widgets with a head.
    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String] {
        let more = isWide ? WideText.head : []
        var table = TextTable("KIND", "ID", "FAMILY", "DEVICE", "STATE", "IN STATE", "ENTRY", "REV", "NEXT", more: more)
        for row in rows {
            let failure = [PlacedText.shortFailure(row)].compactMap(\.self)
            let next = marks(row) + failure + EntityText.upcoming(row, now: now)
            table.add(
                PlacedText.shortKind(row["kind"]?.string ?? ""), EntityText.shortID(row["id"]?.string ?? ""),
                row["family"]?.string ?? "", row["device"]?.string ?? "", row["state"]?.string ?? "",
                EntityText.timeInState(row, now: now), content(row["entry"]) ?? "-", row["revision"]?.description ?? "",
                next.isEmpty ? "-" : next.joined(separator: ", "),
                more: isWide ? WideText.cells(row) : [])
        }
        return table.lines(style: style)
    }
}
