import IsletClient

/// Contexts as people read them.
enum ContextText {
    /// The members with what gives access masked.
    static func shown(_ members: RawObject) -> RawObject {
        var shown = members
        for member in members.members {
            if Redaction.isSecret(member.name) {
                shown[member.name] = .string(Redaction.mask)
            } else if let text = member.value.string {
                shown[member.name] = .string(Redaction.endpoint(text))
            }
        }
        return shown
    }

    /// A table of contexts with a head.
    static func table(_ rows: [RawObject]) -> TextTable {
        var table = TextTable("", "NAME", "COMMANDS", "APP", "TIMEOUT")
        for row in rows {
            func text(_ name: String) -> String { row[name]?.string ?? "-" }
            let mark = row["current"]?.bool == true ? "*" : ""
            table.add(mark, text("name"), text("commands"), text("app"), text("timeout"))
        }
        return table
    }
}
