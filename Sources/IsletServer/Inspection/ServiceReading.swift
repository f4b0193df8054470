package import IsletCore

/// All figures of the service at one moment: what `service.stats` answers and what `/metrics` shows.
package struct ServiceReading: Sendable {
    package var now: Instant
    /// How many milliseconds domain time is ahead of a wall clock that was set back.
    package var clockAhead: Milliseconds
    /// Milliseconds of real time since the start.
    package var uptime: Milliseconds
    package var guarantee: String
    /// Totals since the start.
    package var commands: (taken: UInt64, applied: UInt64, ignored: UInt64, refused: UInt64)
    package var events: UInt64
    package var joins: UInt64
    package var apps: Int
    package var devices: Int
    /// How many entities are in each state, by the state's raw value.
    package var activities: [Int]
    package var controls: [Int]
    package var widgets: [Int]
    /// How many count toward `maximumEntities`: all that are listed, of all families.
    package var entities: Int
    package var groups: (groups: Int, keys: Int, bytes: Int)
    /// `nextAt` is not set where nothing is armed.
    package var timers: (armed: Int, overdue: Int, nextAt: Instant)
    package var lateness: SpanReading
    package var answers: SpanReading
    package var commits: SpanReading
    package var providers: Providers
    package var subscribers: SubscriberFigures
    /// Clients that were cut because they did not read.
    package var cutClients: UInt64
    package var connections: ConnectionFigures
    /// What waits or is remembered for peers, by kind.
    package var waiting: [WorkFigures]
    /// nil where nothing outlives the process.
    package var journal: JournalReading?
    package var isDiskFull: Bool
    /// ``Partition/commitAge``.
    package var commitAge: Milliseconds
    package var isStopping: Bool
    /// Bytes of memory that are resident; nil where nobody knows.
    package var residentBytes: Int?

    /// The figures of all providers; those since the start count the ones that are gone, too.
    package struct Providers: Sendable {
        package var connected: Int
        package var waiting: Int
        /// Those of them that wait for room and lose no time meanwhile.
        package var held: Int
        package var inFlight: Int
        /// How many left, were lost or were given up.
        package var dropped: UInt64
        package var totals: ProviderTotals
        package var spans: SpanReading
    }
}

/// How much waits of a kind.
package struct WorkFigures: Sendable {
    package var work: WaitingWork
    package var usage: WorkLedger.Usage
    /// How often something of it was refused.
    package var refusals: UInt64
}

/// What is known of the subscribers that report how far they are.
package struct SubscriberFigures: Equatable, Sendable {
    package var reporting = 0
    /// Those that are further behind in an app than ``SubscriberTable/maximumLag``.
    package var lagging = 0
    /// How many events the one is behind that is furthest.
    package var maximumLag: UInt64 = 0
    /// Those that follow and report nothing.
    package var silent = 0
}

/// How the journal stands.
package struct JournalReading: Sendable {
    package var epoch: [UInt8]
    /// The last batch that was committed.
    package var committed: UInt64
    /// The batch up to which the snapshot holds everything.
    package var snapshot: UInt64
    /// How long the last commit took, in microseconds.
    package var lastCommit: Int
    package var commits: SpanHistogram
    /// Bytes that were free when the disk became full; nil while it is not.
    package var free: Int?
    /// Whether the next segment could not be made yet, so that the present one grows.
    package var isSegmentDelayed: Bool
}
