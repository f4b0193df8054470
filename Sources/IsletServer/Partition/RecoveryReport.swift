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
    /// The entities that differ, each with its row and its events, where that could be found out.
    package var entities: [String] = []

    /// So many entities are told with the error; `islet journal verify` tells more.
    private static let told = 3

    package var description: String {
        let rest = entities.count > Self.told ? ["and \(entities.count - Self.told) more"] : []
        return (["\(place): \(reason)"] + entities.prefix(Self.told) + rest).joined(separator: "; ")
    }
}

/// What a journal could not give back where everything else is to be kept (`islet journal rebuild`).
package final class RecoverySalvage {
    /// At most so many sentences are kept.
    private static let maximumSentences = 1_000

    /// What was lost, each with its place.
    package private(set) var losses: [String] = []
    /// How many there were.
    package private(set) var count = 0
    /// The rows and facts of the snapshot that cannot be read.
    package private(set) var rows: [UInt64] = []
    package private(set) var facts: [[UInt8]] = []

    package init() {}

    func lose(_ what: String) {
        count += 1
        if losses.count < Self.maximumSentences { losses.append(what) }
    }

    func lose(row: UInt64) { rows.append(row) }
    func lose(fact: [UInt8]) { facts.append(fact) }
}
