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

    /// A table of activities with a head.
    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String] {
        var table = TextTable("KEY or ID", "TYPE", "DEVICE", "STATE", "REV", "NEXT", more: isWide ? WideText.head : [])
        for row in rows {
            table.add(
                name(row), row["type"]?.string ?? "", row["device"]?.string ?? "", row["state"]?.string ?? "",
                row["revision"]?.description ?? "", EntityText.next(row, now: now) ?? "-",
                more: isWide ? WideText.cells(row) : [])
        }
        return table.lines(style: style)
    }
}
