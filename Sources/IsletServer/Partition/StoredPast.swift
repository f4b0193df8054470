import IsletCore
import IsletJournal

/// The question for an activity's past, some of which stands only in the journal's files.
final class StoredPast {
    enum Question {
        case history
        case explain
    }

    let question: Question
    let reference: SlotRef
    /// The number of the read that is under way.
    var read: UInt64?
    /// What it found, newest first; nil before.
    var events: [StoredEvent]?
    /// How often it was read: the past grows while it is read.
    var attempts = 0

    /// After so many attempts the asker is told to come again.
    static let maximumAttempts = 4

    init(_ question: Question, _ reference: SlotRef) {
        self.question = question
        self.reference = reference
    }
}
