import IsletClient

/// Controls as people read them.
enum ControlText {
    /// The kind without the reverse domain before it: `Torch` of `com.example.home.Torch`.
    static func shortKind(_ kind: String) -> String {
        kind.split(separator: ".").last.map(String.init) ?? kind
    }

    /// What a person calls it, such as `Torch/27e5fe81cfb1`.
    static func name(kind: String, id: String) -> String {
        "\(shortKind(kind))/\(EntityText.shortID(id))"
    }

    /// As `name(kind:id:)`, of a whole control.
    static func name(_ members: RawObject) -> String {
        name(kind: members["kind"]?.string ?? "?", id: members["id"]?.string ?? "?")
    }

    /// What it shows, such as `on`, `off (preview)`, `hidden`; nil for a button that has no value.
    static func value(_ members: RawObject) -> String? {
        if members["isRedacted"]?.bool == true { return "hidden" }
        guard let value = members["value"] else { return nil }
        switch members["valueSource"]?.string {
        case "preview": return "\(text(value)) (preview)"
        case "optimistic": return "\(text(value)) (wished)"
        case _: return text(value)
        }
    }

    /// A value: `on` and `off`, a text as it is, else its JSON.
    static func text(_ value: RawJSON) -> String {
        if let isOn = value.bool { return isOn ? "on" : "off" }
        return (value.string ?? value.description).shortened(to: 40)
    }

    /// What came of the last call, where it was not well.
    static func failure(_ members: RawObject) -> String? {
        members["failure"]?.string.map { "failed: \($0)" }
    }

    /// The lines of a whole control.
    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        let head = [
            style.bold(name(members)), EntityText.state(members, style: style), value(members),
            failure(members).map(style.wrong),
        ]
        return [head.compactMap(\.self).joined(separator: "  ")] + EntityText.memberLines(members, now: now)
    }

    /// A table of controls with a head.
    static func table(_ rows: [RawObject], now: Int64, style: Style) -> [String] {
        var table = TextTable("KIND", "ID", "DEVICE", "STATE", "VALUE", "STATUS", "REV", "NEXT")
        for row in rows {
            let next = [failure(row), EntityText.next(row, now: now)].compactMap(\.self).joined(separator: ", ")
            table.add(
                shortKind(row["kind"]?.string ?? ""), EntityText.shortID(row["id"]?.string ?? ""),
                row["device"]?.string ?? "", row["state"]?.string ?? "", value(row) ?? "-",
                row["status"]?.string ?? "", row["revision"]?.description ?? "", next.isEmpty ? "-" : next)
        }
        return table.lines(style: style)
    }
}
