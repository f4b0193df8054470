/// A length of domain time in milliseconds.
@usableFromInline package typealias Milliseconds = Int64

/// A point in domain time: whole milliseconds since 1970-01-01T00:00Z, as the contract carries it.
///
/// The core never reads a clock; every instant comes in as an argument.
@usableFromInline package struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
    @usableFromInline package var milliseconds: Milliseconds

    @inlinable package init(_ milliseconds: Milliseconds) {
        self.milliseconds = milliseconds
    }

    /// Later than every real date: the value of a deadline that is not set.
    @inlinable package static var never: Instant { Instant(.max) }

    /// The dates that messages may name end here, in November 2286: milliseconds of at most 13 digits.
    @inlinable package static var endOfDates: Instant { Instant(10_000_000_000_000) }

    /// The last date that a message can name.
    @inlinable package static var lastDate: Instant { Instant(endOfDates.milliseconds - 1) }

    /// Whether this is a real date and not ``never``.
    @inlinable package var isSet: Bool { milliseconds != .max }

    @inlinable package static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The instant `span` later; ``never`` stays ``never``, and an overflow becomes ``never``.
    @inlinable package static func + (instant: Instant, span: Milliseconds) -> Instant {
        guard instant.isSet else { return .never }
        let (sum, overflow) = instant.milliseconds.addingReportingOverflow(span)
        return overflow ? .never : Instant(sum)
    }

    /// The span from `right` to `left`; both must be set.
    @inlinable package static func - (left: Instant, right: Instant) -> Milliseconds {
        left.milliseconds - right.milliseconds
    }
}
