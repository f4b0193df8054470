import IsletCore

/// What is known of connections and of subscriptions.
package struct ConnectionFigures: Equatable, Sendable {
    /// Those that are open.
    package var commands = 0
    package var bulk = 0
    package var events = 0
    package var ingest = 0
    /// How many were shut, since there were too many.
    package var refused: UInt64 = 0
    package var subscriptions = 0
    /// Subscribers that were cut, since they had too many subscriptions.
    package var cutSubscribers: UInt64 = 0
}

/// What the host has counted since it started.
package struct Statistics: Sendable {
    /// Monotonic milliseconds.
    var startedAt: Milliseconds
    var commands: UInt64 = 0
    /// Changes that were executed.
    var applied: UInt64 = 0
    var ignored: UInt64 = 0
    var refused: UInt64 = 0
    var events: UInt64 = 0
    var joins: UInt64 = 0
    /// Whether the journal's next segment could not be made yet.
    var isSegmentDelayed = false
    /// How long the last batch took from the hand-over to the journal until it was committed, in microseconds of real
    /// time; and all of them.
    var lastCommit = 0
    var commits: SpanRecorder
    /// How late deadlines took effect, in milliseconds of real time, those included that were due while the service
    /// was down.
    var lateness: SpanRecorder
    /// From the turn that received a message with a change until its answer was handed to the socket.
    var answers: SpanRecorder
    /// Providers that left, were lost or were given up.
    var droppedProviders: UInt64 = 0
    /// Clients that were cut because they did not read.
    package internal(set) var cutClients: UInt64 = 0
    var connections = ConnectionFigures()

    init(startedAt: Milliseconds) {
        self.startedAt = startedAt
        commits = SpanRecorder(.microseconds, at: startedAt)
        lateness = SpanRecorder(.milliseconds, at: startedAt)
        answers = SpanRecorder(.microseconds, at: startedAt)
    }
}
