/// The limits, copied by hand from apple-semantics sections 1.3, 2.5 and 8 and from the contract; spans in milliseconds.
package struct OracleRules: Equatable, Sendable {
    package var contentLimit = 4_096
    package var activeLimit: Int64 = 8 * 3_600_000
    package var dismissalLimit: Int64 = 4 * 3_600_000
    package var maximumPerApp = 5
    package var maximumPerDevice = 20
    package var endedCount = false
    package var futureLimit: Int64 = 8 * 3_600_000
    package var pushEndAcceptsOlder = true
    package var ignoresUnchanged = true
    package var mute: Int64?
    package var silenceStale: Int64?
    package var silenceEnds: Int64?
    package var groupValueLimit = 16_384
    package var maximumGroupKeys = 10_000
    package var groupLimit = 4 * 1_024 * 1_024
    package var retention: Int64 = 24 * 3_600_000
    /// How long an answer is remembered for retries.
    package var remembers: Int64 = 600_000
    /// Whether deadlines are dated by themselves (the manual clock) and not by when they are noticed.
    package var datesByDue = false
    package var widgets = WidgetRules()

    package init() {}

    /// Whether signs of life mean anything.
    var hearsSilence: Bool { shortestSilence != nil }

    /// The shortest silence that means anything.
    package var shortestSilence: Int64? { [silenceStale, silenceEnds].compactMap(\.self).min() }
}
