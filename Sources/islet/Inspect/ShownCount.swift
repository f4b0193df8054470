/// The last line of a list: how much of what it shows.
enum ShownCount {
    /// Such as `showing 50 of 12 031 timers of com.example.pizza`.
    ///
    /// - Parameter filters: what the list was asked to select by: name and value.
    static func line(
        _ shown: Int, of total: Int64?, _ noun: String, isExact: Bool = true,
        filters: KeyValuePairs<String, String?> = [:]
    ) -> String {
        let noun = "\(noun)\(total == 1 ? "" : "s")"
        return "\(line(shown, of: total, isExact: isExact)) \(noun)\(told(filters))"
    }

    /// Such as `, with app com.example.pizza, device phone-1`; empty where nothing was asked for.
    static func told(_ filters: KeyValuePairs<String, String?>) -> String {
        let told = filters.compactMap { name, value in value.map { "\(name) \($0)" } }
        return told.isEmpty ? "" : ", with " + told.joined(separator: ", ")
    }

    /// Such as `showing 50 of 12 031`, `showing 50 of about 12 000`.
    static func line(_ shown: Int, of total: Int64?, isExact: Bool = true) -> String {
        let all = total.map { (isExact ? "" : "about ") + RecoveryText.grouped(Int(clamping: $0)) } ?? "?"
        return "showing \(RecoveryText.grouped(shown)) of \(all)"
    }
}
