import ArgumentParser

/// A point in domain time as people write it: from now (`30s`, `+30s`), ago (`-5m`), a date in UTC
/// (`2026-01-31T09:00Z`, `2026-01-31T09:00:30Z`), or the bus's own milliseconds since 1970.
enum Moment: ExpressibleByArgument, Equatable {
    case fromNow(milliseconds: Int64)
    case at(milliseconds: Int64)

    init?(argument: String) {
        if argument.hasPrefix("-"), let span = Span(argument: String(argument.dropFirst())) {
            self = .fromNow(milliseconds: -span.milliseconds)
        } else if let span = Span(argument: argument.hasPrefix("+") ? String(argument.dropFirst()) : argument) {
            self = .fromNow(milliseconds: span.milliseconds)
        } else if let milliseconds = Int64(argument) {
            self = .at(milliseconds: milliseconds)
        } else if let milliseconds = Self.date(argument) {
            self = .at(milliseconds: milliseconds)
        } else {
            return nil
        }
    }

    /// The point, where domain time stands at `now`.
    func milliseconds(now: Int64) -> Int64 {
        switch self {
        case .fromNow(let milliseconds): now + milliseconds
        case .at(let milliseconds): milliseconds
        }
    }

    /// `2026-01-31T09:00Z` or with seconds; only UTC, so that nothing is to be guessed.
    private static func date(_ text: String) -> Int64? {
        guard text.hasSuffix("Z"), let separator = text.firstIndex(of: "T") else { return nil }
        let days = text[..<separator].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        let times = text[text.index(after: separator)...].dropLast().split(separator: ":").map { Int64($0) }
        guard days.count == 3, (2...3).contains(times.count), let year = days[0], let month = days[1],
            let day = days[2],
            let hour = times[0], let minute = times[1], let second = times.count == 3 ? times[2] : 0,
            (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        let civil = CivilDay(year: year, month: month, day: day)
        return ((civil.daysSince1970 * 24 + hour) * 60 + minute) * 60_000 + second * 1_000
    }
}
