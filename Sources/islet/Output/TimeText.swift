/// Dates and spans of the bus, which are milliseconds, as people read them. Dates are in UTC.
enum TimeText {
    /// Such as `3 h 12 m`, `30 s`, `0.4 s`: the two largest units, and from ten minutes on whole minutes.
    static func span(_ milliseconds: Int64) -> String {
        let sign = milliseconds < 0 ? "-" : ""
        let magnitude = milliseconds.magnitude
        if magnitude < 10_000 {
            let tenths = magnitude % 1_000 / 100
            return "\(sign)\(magnitude / 1_000)\(tenths == 0 ? "" : ".\(tenths)") s"
        }
        let rounded = magnitude < 600_000 ? magnitude : (magnitude + 30_000) / 60_000 * 60_000
        let units: [(UInt64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
        var rest = rounded
        var parts: [String] = []
        for (size, name) in units {
            let count = rest / size
            rest %= size
            if count > 0 || !parts.isEmpty { parts.append("\(count) \(name)") }
            if parts.count == 2 { break }
        }
        if parts.count == 2, parts[1].hasPrefix("0 ") { parts.removeLast() }
        return sign + parts.joined(separator: " ")
    }

    /// `2026-01-31`.
    static func date(_ milliseconds: Int64) -> String {
        let day = CivilDay(daysSince1970: floorDivide(milliseconds, 86_400_000))
        return "\(padded(day.year, 4))-\(padded(day.month, 2))-\(padded(day.day, 2))"
    }

    /// `Sat 2026-01-31`.
    static func dateWithWeekday(_ milliseconds: Int64) -> String {
        let days = floorDivide(milliseconds, 86_400_000)
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        return "\(names[Int(days - floorDivide(days, 7) * 7)]) \(date(milliseconds))"
    }

    /// `09:41:07`.
    static func clock(_ milliseconds: Int64) -> String {
        let seconds = (milliseconds - floorDivide(milliseconds, 86_400_000) * 86_400_000) / 1_000
        return "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
    }

    /// `2026-01-31 09:41:07 UTC`.
    static func full(_ milliseconds: Int64) -> String {
        "\(date(milliseconds)) \(clock(milliseconds)) UTC"
    }

    /// `2026-01-31 09:41:07 UTC (in 3 h)`.
    static func full(_ milliseconds: Int64, now: Int64) -> String {
        "\(full(milliseconds)) (\(distance(to: milliseconds, now: now)))"
    }

    /// `in 3 h`, `5 m ago`, `now`.
    static func distance(to date: Int64, now: Int64) -> String {
        guard date != now else { return "now" }
        return date > now ? "in \(span(date.subtractingClamped(now)))" : "\(span(now.subtractingClamped(date))) ago"
    }

    /// A deadline as seen from `now`: `stale in 30 s`, `ends in 3 h 12 m`, `removed in 4 h`.
    static func deadline(_ cause: String, at date: Int64, now: Int64) -> String {
        let what =
            switch cause {
            case "staleDate": "stale"
            case "startDate": "starts"
            case "activeLimit": "ends"
            case "dismissalPolicy": "removed"
            case "heartbeat": "without a heartbeat stale or ended"
            case "retry": "asked again"
            case "entry": "next entry"
            case "policy": "next timeline"
            case "held": "held reload"
            case "relevance": "relevance over"
            case "authentication", "authenticationLimit": "given up"
            case let other: other
            }
        if date == now { return "\(what) now" }
        return date > now
            ? "\(what) in \(span(date.subtractingClamped(now)))"
            : "\(what) due for \(span(now.subtractingClamped(date)))"
    }

    private static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

/// Division that rounds down, also below zero.
func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}

/// A day of the Gregorian calendar.
struct CivilDay {
    var year: Int64
    /// 1...12.
    var month: Int64
    /// 1...31.
    var day: Int64

    /// Counts in eras of 400 years, which all have the same length, from a March, so that the leap day comes last.
    init(daysSince1970: Int64) {
        let days = daysSince1970 + 719_468
        let era = floorDivide(days, 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}
