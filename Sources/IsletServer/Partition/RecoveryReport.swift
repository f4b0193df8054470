package import IsletCore

/// What a start brought back.
package struct RecoveryReport: Equatable, Sendable {
    /// Listed activities.
    package var activities = 0
    /// Deadlines that were due while the service was down, and not yet taken.
    package var overdue = 0
    /// How late the oldest of them is.
    package var oldestLateBy: Milliseconds = 0
    /// Answers that retries may ask for.
    package var answers = 0
    /// Events that were read from the journal, beside the snapshot.
    package var events = 0
}

/// Why a journal cannot be taken back: its files are sound, but what they say is not.
package struct RecoveryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package var reason: String
    /// Where: a batch, an activity.
    package var place: String

    package var description: String { "\(place): \(reason)" }
}
