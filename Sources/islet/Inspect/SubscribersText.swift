import IsletClient

/// The answer to `subscriber.list` as people read it.
enum SubscribersText {
    /// How many apps of one subscriber are named.
    private static let appsMax = 3

    /// A table with a head, in the order of the answer.
    static func table(_ rows: [RawObject], style: Style) -> [String] {
        var table = TextTable("SUBSCRIBER", "LAG", "LAGS", "REPORTED", "APPS")
        for row in rows {
            let apps = row["apps"]?.object?.members ?? []
            let named = apps.prefix(appsMax).map(app)
            let more = apps.count > appsMax ? ["and \(apps.count - appsMax) more"] : []
            table.add(
                String((row["nonce"]?.string ?? "?").prefix(12)),
                RecoveryText.grouped(Int(clamping: row["lag"]?.integer ?? 0)),
                row["isLagging"]?.bool == true ? "yes" : "no",
                row["age"]?.integer.map { "\(TimeText.span($0)) ago" } ?? "?",
                (named + more).joined(separator: ", "))
        }
        return table.lines(style: style)
    }

    /// `com.example.pizza at 90 113, 12 behind`.
    private static func app(_ member: RawObject.Member) -> String {
        let seq = member.value.object?["seq"]?.integer ?? 0
        let lag = member.value.object?["lag"]?.integer ?? 0
        let place = "\(member.name) at \(RecoveryText.grouped(Int(clamping: seq)))"
        return lag == 0 ? place : "\(place) (\(RecoveryText.grouped(Int(clamping: lag))) behind)"
    }
}
