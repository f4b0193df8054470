package import IsletCore
package import Logging

/// All that `islet serve` can be told; the defaults are the contract's ("The process").
package struct ServeConfiguration: Equatable, Sendable {
    package enum Store: String, Sendable, CaseIterable {
        case memory
    }

    /// What a commit waits for (`store=sqlite`, which is to come).
    package enum Sync: String, Sendable, CaseIterable {
        case full
        case normal
    }

    package var commands = "tcp://127.0.0.1:7411"
    package var events = "tcp://127.0.0.1:7412"
    package var bulk = "tcp://127.0.0.1:7413"
    /// Nil: off.
    package var ingest: String?
    package var store = Store.memory
    /// The directory of the store's files.
    package var data = "data"
    package var sync = Sync.full
    package var clock = ClockMode.system
    package var logLevel = Logger.Level.notice
    package var rules = RuleSet.standard

    /// Where a manual clock starts without a date of its own: 2026-01-01T00:00Z.
    package static let manualClock = ClockMode.manual(from: Instant(1_767_225_600_000))

    package init() {}
}
