package import IsletClient

/// The answer to `subscriber.list` as people read it.
package enum SubscribersText {
    /// How many apps of one subscriber are named.
    private static let appsMax = 3

    /// A table with a head, in the order of the answer.
    ///
    /// - Parameter isWide: whether whole nonces and all apps are shown.
    package static func table(_ rows: [RawObject], isWide: Bool = false, style: Style) -> [String] {
        var table = TextTable("SUBSCRIBER", "LAG", "LAGS", "REPORTED", "APPS")
        for row in rows {
            let apps = row["apps"]?.object?.members ?? []
            let most = isWide ? apps.count : appsMax
            let named = apps.prefix(most).map(app)
            let more = apps.count > most ? ["and \(apps.count - appsMax) more"] : []
            table.add(
                String((row["nonce"]?.string ?? "?").prefix(isWide ? .max : 12)),
                RecoveryText.grouped(Int(clamping: row["lag"]?.integer ?? 0)),
                row["isLagging"]?.bool == true ? "yes" : "no",
                row["age"]?.integer.map { "\(TimeText.span($0)) ago" } ?? "?",
                apps.isEmpty ? "nothing yet" : (named + more).joined(separator: ", "))
        }
        return table.lines(style: style)
    }

    /// A table of those that follow and report nothing, below another or alone; nothing where there are none.
    package static func silent(_ rows: [RawObject], below isBelow: Bool, style: Style) -> [String] {
        guard !rows.isEmpty else { return [] }
        var table = TextTable("SILENT", "FOLLOWS")
        for row in rows {
            let topics = row["topics"]?.elements?.compactMap(\.string) ?? []
            let count = row["topicCount"]?.integer ?? Int64(topics.count)
            let named = topics.prefix(appsMax).map { $0.isEmpty ? "everything" : "\($0.printable)…" }
            let more = count > Int64(named.count) ? ["and \(count - Int64(named.count)) more"] : []
            table.add(
                row["age"]?.integer.map { "for \(TimeText.span($0))" } ?? "?", (named + more).joined(separator: ", "))
        }
        return (isBelow ? [""] : []) + table.lines(style: style)
    }

    /// Such as `; 3 more follow and report nothing: nobody knows how far they are`.
    package static func silentNote(_ count: Int64) -> String {
        switch count {
        case ...0: ""
        case 1: "; 1 more follows and reports nothing: nobody knows how far it is"
        default: "; \(RecoveryText.grouped(Int(clamping: count))) more follow and report nothing: nobody knows how far they are"
        }
    }

    /// `com.example.pizza at 90 113, 12 behind`.
    private static func app(_ member: RawObject.Member) -> String {
        let seq = member.value.object?["seq"]?.integer ?? 0
        let lag = member.value.object?["lag"]?.integer ?? 0
        let place = "\(member.name) at \(RecoveryText.grouped(Int(clamping: seq)))"
        return lag == 0 ? place : "\(place) (\(RecoveryText.grouped(Int(clamping: lag))) behind)"
    }
}
