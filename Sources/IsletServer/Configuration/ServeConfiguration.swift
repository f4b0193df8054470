package import IsletCore
package import IsletJournal
package import Logging

/// All that `islet serve` can be told; the defaults are the contract's ("The process").
package struct ServeConfiguration: Equatable, Sendable {
    package enum Store: String, Sendable, CaseIterable {
        /// In files of a directory.
        case sqlite
        case memory
    }

    package var commands = "tcp://127.0.0.1:7411"
    package var events = "tcp://127.0.0.1:7412"
    package var bulk = "tcp://127.0.0.1:7413"
    /// Nil: off.
    package var ingest: String?
    /// Where the board and the metrics are; nil: nowhere.
    package var http: HTTPAddress? = .standard
    /// Whether the board may change something.
    package var boardWrite = false
    package var store = Store.sqlite
    /// The directory of the store's files.
    package var data = ServeConfiguration.defaultData([:])
    /// What a commit waits for (`store=sqlite`).
    package var sync = SyncMode.full
    package var journal = JournalLimits()
    package var clock = ClockMode.system
    package var logLevel = Logger.Level.notice
    package var rules = RuleSet.standard
    /// The apps of the demo, where it is played; no setting names them.
    package var demo: DemoApps?

    /// Where a manual clock starts without a date of its own: 2026-01-01T00:00Z.
    package static let manualClock = ClockMode.manual(from: Instant(1_767_225_600_000))

    package init() {}

    /// The app that the demo has of each family: it is meant where the command line names none.
    package struct DemoApps: Equatable, Sendable {
        package let activity: String
        package let control: String
        package let widget: String

        package init(activity: String, control: String, widget: String) {
            self.activity = activity
            self.control = control
            self.widget = widget
        }
    }

    /// How much of the past is kept, and when there is too little room.
    package struct JournalLimits: Equatable, Sendable {
        /// About as many bytes are in one segment file.
        package var segmentBytes = 64 << 20
        /// All segments together; it beats the time.
        package var retentionBytes = 8 << 30
        /// How long events are kept, in domain time.
        package var retention: Milliseconds = 24 * 3_600_000
        /// With less free space than this, commands are refused.
        package var minimumFree = 64 << 20
        /// Whether zeros are written ahead of the journal: quicker commits, and up to twice the bytes for the disk.
        package var logRoom = true
        /// Whether the directory may be in memory (`tmpfs`), which keeps no promise.
        package var allowVolatile = false
    }

    /// The directory where nothing is said: `islet` in the XDG state directory.
    package static func defaultData(_ environment: [String: String]) -> String {
        if let state = environment["XDG_STATE_HOME"], state.first == "/" { return within(state, "islet") }
        if let home = environment["HOME"], home.first == "/" { return within(home, ".local/state/islet") }
        return "/var/lib/islet"
    }

    /// The home of a user without one is the root.
    private static func within(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }
}
