import ArgumentParser
import IsletFilter

/// From when on something is shown.
struct SinceOption: ParsableArguments {
    @Option(
        name: .customLong("since"), parsing: .unconditional,
        help: ArgumentHelp(
            "Only from then on: 10m is ten minutes ago; or a date such as 2026-01-31T09:00Z.", valueName: "span|date"))
    var since: Moment?

    var isSet: Bool { since != nil }

    /// The date; the beginning of time where nothing is named, and domain time is not asked for.
    func date(now: () async throws -> Int64) async throws -> Int64 {
        switch since {
        case .fromNow(let milliseconds):
            let (date, overflow) = try await now().subtractingReportingOverflow(milliseconds.absolute)
            return overflow ? .min : date
        case .at(let milliseconds): return milliseconds
        case nil: return .min
        }
    }
}

extension Int64 {
    /// Without its sign: `10m` and `-10m` are both ten minutes ago.
    fileprivate var absolute: Int64 { Int64(clamping: magnitude) }
}
