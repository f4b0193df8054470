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
