import IsletClient

/// Activities as people read them.
enum ActivityText {
    /// What a person calls it: the key, else the id.
    static func name(_ members: RawObject) -> String {
        (members["key"]?.string ?? members["id"]?.string)?.printable ?? "?"
    }

    /// The lines of a whole activity.
    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        [style.bold(name(members)) + "  " + EntityText.state(members, style: style)]
            + EntityText.memberLines(members, now: now)
    }

    /// A table of activities with a head; with their apps where these are several.
    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String] {
        let hasApps = Set(rows.compactMap { $0["app"]?.string }).count > 1
        let more = (hasApps ? ["APP"] : []) + (isWide ? WideText.head : [])
        var table = TextTable("KEY or ID", "TYPE", "DEVICE", "STATE", "IN STATE", "REV", "NEXT", more: more)
        for row in rows {
            let app = hasApps ? [row["app"]?.string ?? ""] : []
            table.add(
                name(row), row["type"]?.string ?? "", row["device"]?.string ?? "", row["state"]?.string ?? "",
                EntityText.timeInState(row, now: now), row["revision"]?.description ?? "",
                EntityText.next(row, now: now) ?? "-",
                more: app + (isWide ? WideText.cells(row) : []))
        }
        return table.lines(style: style)
    }
}
