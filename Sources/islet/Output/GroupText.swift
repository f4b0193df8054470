import IsletClient

/// App groups as people read them.
enum GroupText {
    /// The lines of a group.
    static func lines(_ group: RawObject, style: Style) -> [String] {
        let members = group["members"]?.elements?.compactMap(\.string) ?? []
        return [
            style.bold(group["group"]?.string ?? "?"),
            line("owner", group["owner"]?.string ?? "?"),
            line("members", members.joined(separator: ", ")),
            line("keys", group["keys"]?.description ?? "?"),
            line("bytes", group["bytes"]?.description ?? "?"),
        ]
    }

    private static func line(_ name: String, _ value: String) -> String {
        "  " + name.padded(to: 15) + " " + value.printable
    }

    /// A table of keys with a head.
    static func table(_ rows: [RawObject], now: Int64, style: Style) -> [String] {
        var table = TextTable("KEY", "REV", "SET", "BY", "VALUE")
        for row in rows {
            let set = row["updatedAt"]?.integer.map { "\(TimeText.span(max(0, now.subtractingClamped($0)))) ago" }
            table.add(
                row["key"]?.string ?? "", row["revision"]?.description ?? "", set ?? "", row["by"]?.string ?? "",
                (row["value"]?.description ?? "").shortened(to: 60))
        }
        return table.lines(style: style)
    }
}
