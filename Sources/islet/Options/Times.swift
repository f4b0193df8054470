import ArgumentParser
package import IsletFilter

extension Span: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    package var defaultValueDescription: String { TimeText.span(milliseconds) }
}

extension Moment: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    /// The point; domain time is asked for only where it matters.
    ///
    /// - Throws: a `Failure` where it is beyond all dates.
    func resolved(now: () async throws -> Int64) async throws -> Int64 {
        switch self {
        case .at(let milliseconds): return milliseconds
        case .fromNow(let span):
            guard let date = milliseconds(now: try await now()) else {
                throw Failure(.usage, "\(TimeText.span(span)) from now is beyond all dates")
            }
            return date
        }
    }
}

/// Arithmetic on numbers from outside, which ends at the first or last number that there is instead of the process.
extension FixedWidthInteger {
    /// The sum, or the nearest number to it.
    func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number to it.
    func subtractingClamped(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    /// The whole number nearest to a number of whatever size; zero where it is none.
    init(clamped number: Double) {
        self = number.isNaN ? 0 : Self(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
    }

    /// The product, or the nearest number to it.
    func multipliedClamped(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
