/// What a metric is: the lines `# HELP` and `# TYPE` of the text, and the buckets of a histogram.
package struct MetricDescription: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// Rises only; its name ends in `_total`.
        case counter
        case gauge
        /// Counts by buckets, whose upper bounds rise; the one without a bound is not named.
        case histogram(bounds: [Double])
    }

    package let name: String
    package let help: String
    package let kind: Kind

    /// - Precondition: the name is one of Prometheus, and bounds rise.
    package init(_ name: String, _ kind: Kind, help: String) {
        precondition(MetricName.isValid(name), "not a metric's name: \(name)")
        if case .histogram(let bounds) = kind {
            precondition(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "bounds rise")
        }
        self.name = name
        self.help = help
        self.kind = kind
    }

    /// The bounds of durations in seconds, from 100 µs to 10 s: those of all histograms of durations without bounds of
    /// their own.
    package static let durationBounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
}
