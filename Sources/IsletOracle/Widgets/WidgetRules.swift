/// The limits of widgets, copied by hand from apple-semantics 5 and the contract; spans in milliseconds.
package struct WidgetRules: Equatable, Sendable {
    /// Charged reloads within any 24 hours.
    package var dailyBudget = 60
    /// The same in the first days after a widget was placed, and how long these are.
    package var learningBudget = 120
    package var learningSpan: Int64 = 3 * 24 * 3_600_000
    /// The least distance of a charged reload from the last one of any sort.
    package var reloadSpacing: Int64 = 300_000
    package var entrySpacing: Int64 = 300_000
    package var jitter: Int64 = 60_000
    package var retryFirst: Int64 = 60_000
    package var retryLongest: Int64 = 7_200_000
    package var maximumEntries = 256

    package init() {}

    /// How long a reload counts.
    static let window: Int64 = 24 * 3_600_000
    /// A policy is at least so far from the reload that it came with.
    static let shortestPolicySpan: Int64 = 1_000
}
