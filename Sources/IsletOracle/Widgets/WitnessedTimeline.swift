/// A timeline as a provider gave it, known again by the mark in its entries.
package struct WitnessedTimeline: Sendable, Equatable {
    package enum Policy: Sendable, Equatable {
        case atEnd, never
        case after(Int64)

        var json: JSON {
            switch self {
            case .atEnd: .string("atEnd")
            case .never: .string("never")
            case .after(let date): .object(["after": .integer(date)])
            }
        }
    }

    package var call: String
    package var entries: [JSON]
    package var dates: [Int64]
    package var policy: Policy
    package var needsLogin: Bool

    package init(call: String, entries: [JSON], policy: Policy, needsLogin: Bool) {
        self.call = call
        self.entries = entries
        dates = entries.map { $0["date"]?.integer ?? 0 }
        self.policy = policy
        self.needsLogin = needsLogin
    }

    /// The last entry whose date is not after one.
    func newest(by date: Int64) -> Int? { dates.lastIndex { $0 <= date } }

    /// When the entry after one is shown, by the distance of entries; nil: there is none.
    func next(after index: Int?, shownAt: Int64, spacing: Int64) -> Int64? {
        guard let index else { return dates.first }
        return index + 1 < dates.count ? max(dates[index + 1], shownAt + spacing) : nil
    }
}
