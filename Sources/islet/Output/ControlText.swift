import IsletClient

/// Controls as people read them.
enum ControlText {
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
        return value.text.shortened(to: 40)
    }

    /// The lines of a whole control.
    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        let head = [
            style.bold(PlacedText.name(members)), EntityText.state(members, style: style), value(members),
            PlacedText.failure(members).map(style.wrong),
        ]
        return [head.compactMap(\.self).joined(separator: "  ")] + EntityText.memberLines(members, now: now)
    }

    /// A table of controls with a head.
    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String] {
        let more = isWide ? WideText.head : []
        var table = TextTable("KIND", "ID", "DEVICE", "STATE", "IN STATE", "VALUE", "STATUS", "REV", "NEXT", more: more)
        for row in rows {
            let notes = [PlacedText.shortFailure(row), EntityText.next(row, now: now)]
            let next = notes.compactMap(\.self).joined(separator: ", ")
            table.add(
                PlacedText.shortKind(row["kind"]?.string ?? ""), EntityText.shortID(row["id"]?.string ?? ""),
                row["device"]?.string ?? "", row["state"]?.string ?? "",
                EntityText.timeInState(row, now: now), value(row) ?? "-",
                row["status"]?.string ?? "", row["revision"]?.description ?? "", next.isEmpty ? "-" : next,
                more: isWide ? WideText.cells(row) : [])
        }
        return table.lines(style: style)
    }
}
