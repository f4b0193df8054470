import IsletClient

/// Activities as people read them.
enum ActivityText {
    /// What a person calls it: the key, else the id.
    static func name(_ members: RawObject) -> String {
        members["key"]?.string ?? members["id"]?.string ?? "?"
    }

    static func state(_ members: RawObject) -> ActivityState? {
        members["state"]?.string.flatMap(ActivityState.init(rawValue:))
    }

    /// The next deadline as seen from `now`; nil where there is none.
    static func next(_ members: RawObject, now: Int64) -> String? {
        members["next"].flatMap(Deadline.init).map { TimeText.deadline($0.cause, at: $0.at, now: now) }
    }

    /// The lines of a whole activity, dates both in UTC and from `now`.
    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        var lines = [style.bold(name(members)) + "  " + style.of(state(members), members["state"]?.string ?? "?")]
        for member in members.members where member.name != "state" {
            lines.append("  " + member.name.padded(to: 15) + " " + value(member, now: now))
        }
        return lines
    }

    /// A table of activities with a head.
    static func table(_ rows: [RawObject], now: Int64, style: Style) -> [String] {
        let names = rows.map(name)
        let types = rows.map { $0["type"]?.string ?? "" }
        let devices = rows.map { $0["device"]?.string ?? "" }
        func width(_ title: String, _ cells: [String]) -> Int { max(title.count, cells.map(\.count).max() ?? 0) }
        let widths = (width("KEY or ID", names), width("TYPE", types), width("DEVICE", devices))
        let head =
            "KEY or ID".padded(to: widths.0) + "  " + "TYPE".padded(to: widths.1) + "  "
            + "DEVICE".padded(to: widths.2) + "  STATE      REV  NEXT"
        return [style.dim(head)]
            + rows.enumerated().map { index, row in
                let shown = (row["state"]?.string ?? "").padded(to: 9)
                let cells = [
                    names[index].padded(to: widths.0), types[index].padded(to: widths.1),
                    devices[index].padded(to: widths.2), style.of(state(row), shown),
                    (row["revision"]?.description ?? "").padded(to: 4), next(row, now: now) ?? "-",
                ]
                return cells.joined(separator: "  ")
            }
    }

    private static func value(_ member: RawObject.Member, now: Int64) -> String {
        if member.name == "next" {
            return member.value.object.flatMap { next(["next": $0.json], now: now) } ?? ""
        }
        let isDate = member.name.hasSuffix("Date") || member.name.hasSuffix("At") || member.name == "timestamp"
        if isDate, let date = member.value.integer {
            let distance = date >= now ? "in \(TimeText.span(date - now))" : "\(TimeText.span(now - date)) ago"
            return "\(TimeText.full(date)) (\(distance))"
        }
        return member.value.string ?? member.value.description
    }
}
