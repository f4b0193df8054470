import FoundationEssentials

/// A point in domain time as people write it: from now (`30s`, `+30s`), ago (`-5m`), a date in UTC (`2026-01-31T09:00Z`,
/// `2026-01-31T09:00:30Z`, with a fraction `…:30.250Z`, or `2026-01-31`, which is its first moment), or the bus's own
/// milliseconds since 1970.
package enum Moment: Equatable, Sendable {
    case fromNow(milliseconds: Int64)
    case at(milliseconds: Int64)

    /// The contract's plausible dates in milliseconds since 1970: a number beyond them is in another unit, or no date.
    package static let plausible: Range<Int64> = 1_000_000_000_000..<10_000_000_000_000

    /// Reads one; nil where the text is none, or a date that there is not.
    package init?(_ text: String) {
        if text.hasPrefix("-"), let span = Span(String(text.dropFirst())) {
            self = .fromNow(milliseconds: -span.milliseconds)
        } else if let span = Span(text.hasPrefix("+") ? String(text.dropFirst()) : text) {
            self = .fromNow(milliseconds: span.milliseconds)
        } else if let milliseconds = Int64(text) {
            guard Self.plausible.contains(milliseconds) else { return nil }
            self = .at(milliseconds: milliseconds)
        } else if let milliseconds = Self.date(text) {
            self = .at(milliseconds: milliseconds)
        } else {
            return nil
        }
    }

    /// How a moment may be written, for messages.
    package static let forms =
        "a date such as 2026-01-31 or 2026-01-31T09:00Z, a length of time from now such as 10m, or ago such as -10m"

    /// What a number that is no plausible date in milliseconds was probably to be: a date in seconds, or a length of
    /// time without its unit. nil for all else.
    package static func meant(by text: String) -> String? {
        guard let number = Int64(text), number >= 0, !plausible.contains(number) else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: 1_000)
        return !overflow && plausible.contains(milliseconds)
            ? "a date as a number is in milliseconds since 1970: \(milliseconds) was probably meant"
            : "a length of time has its unit, as in \(number)s or \(number)ms"
    }

    /// The point, where domain time stands at `now`; nil where that is beyond what 64 bits can tell.
    package func milliseconds(now: Int64) -> Int64? {
        switch self {
        case .fromNow(let milliseconds):
            let (date, overflow) = now.addingReportingOverflow(milliseconds)
            return overflow ? nil : date
        case .at(let milliseconds): return milliseconds
        }
    }

    /// Only UTC, so that nothing is to be guessed.
    private static func date(_ text: String) -> Int64? {
        let rest: String? =
            switch text.utf8.count {
            case "2026-01-31".utf8.count: "T00:00:00.000Z"
            case "2026-01-31T09:00Z".utf8.count: ":00.000Z"
            case "2026-01-31T09:00:30Z".utf8.count: ".000Z"
            case _: nil
            }
        let begun = text.hasSuffix("Z") ? String(text.dropLast()) : text
        let whole = rest.map { begun + $0 } ?? text
        // Thousandths are read apart: a Double holds most of them a little too small, and would write the one before.
        let digits = whole.dropLast().suffix(3)
        guard whole.hasSuffix("Z"), digits.utf8.count == 3, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let thousandths = Int64(digits)
        else { return nil }
        let onSecond = whole.dropLast(4) + "000Z"
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        // It reads the 31st of February as the 3rd of March, and what stands behind a date not at all: only what it
        // would write in the same way is that date.
        guard let date = try? style.parse(String(onSecond)), style.format(date) == onSecond else { return nil }
        let seconds = date.timeIntervalSince1970
        guard (0..<Self.secondsEnd).contains(seconds) else { return nil }
        return Int64(seconds.rounded()) * 1_000 + thousandths
    }

    /// The year 10000.
    private static let secondsEnd = 253_402_300_800.0
}
