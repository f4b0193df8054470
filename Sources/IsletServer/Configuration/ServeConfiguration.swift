package import IsletCore

/// All that `islet serve` can be told; the defaults are the contract's ("The process").
package struct ServeConfiguration: Equatable, Sendable {
    package enum Store: String, Sendable, CaseIterable {
        case memory
    }

    package var commands = "tcp://127.0.0.1:7411"
    package var events = "tcp://127.0.0.1:7412"
    package var bulk = "tcp://127.0.0.1:7413"
    /// Nil: off.
    package var ingest: String?
    package var store = Store.memory
    package var clock = ClockMode.system
    package var rules = RuleSet.standard

    /// Where a manual clock starts without a date of its own: 2026-01-01T00:00Z.
    package static let manualClock = ClockMode.manual(from: Instant(1_767_225_600_000))

    package init() {}
}
