import IsletCore

/// What the host has counted since it started.
package struct Statistics: Sendable {
    /// Monotonic milliseconds.
    var startedAt: Milliseconds
    var commands: UInt64 = 0
    var ignored: UInt64 = 0
    var refused: UInt64 = 0
    var events: UInt64 = 0
    var joins: UInt64 = 0
    /// How long the last commit took, in microseconds of real time.
    var lastCommit = 0
    /// Clients that were cut because they did not read.
    var cutClients: UInt64 = 0

    init(startedAt: Milliseconds) {
        self.startedAt = startedAt
    }
}
