import ArgumentParser
import IsletFilter

/// A point of an entity's past as people name it: a revision (`7`), how long ago (`10m`, `10m ago`, `-10m`), or a date
/// (`2026-01-31T09:00Z`, milliseconds since 1970).
enum PastPoint: ExpressibleByArgument, Equatable {
    case revision(UInt64)
    case ago(milliseconds: Int64)
    case at(milliseconds: Int64)

    /// Revisions are smaller than any plausible date in milliseconds (the contract's 10^12).
    private static let firstDate: UInt64 = 1_000_000_000_000

    init?(argument: String) {
        if let number = UInt64(argument) {
            guard number > 0 else { return nil }
            self = number < Self.firstDate ? .revision(number) : .at(milliseconds: Int64(clamping: number))
            return
        }
        var text = argument[...]
        if text.hasSuffix("ago") { text = text.dropLast(3) }
        while text.last == " " { text = text.dropLast() }
        if text.hasPrefix("-") { text = text.dropFirst() }
        if let span = Span(argument: String(text)) {
            self = .ago(milliseconds: span.milliseconds)
        } else if case .at(let milliseconds)? = Moment(argument: argument) {
            self = .at(milliseconds: milliseconds)
        } else {
            return nil
        }
    }

    /// The date, where domain time stands at `now`; nil for a revision.
    func date(now: Int64) -> Int64? {
        switch self {
        case .revision: nil
        case .ago(let milliseconds): now.subtractingClamped(milliseconds)
        case .at(let milliseconds): milliseconds
        }
    }
}
