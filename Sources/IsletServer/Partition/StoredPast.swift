import IsletCore
import IsletJournal

/// An entity whose past is asked for.
enum PastSubject {
    case activity(SlotRef)
    case control(SlotRef)
    case widget(SlotRef)

    /// What the streams know of it; nil where it is gone.
    func identity(in engine: borrowing Engine) -> (id: EntityID, app: AppID, lastSeq: UInt64)? {
        switch self {
        case .activity(let reference):
            guard let record = engine.record(reference) else { return nil }
            return (record.id, engine.app(of: record), record.lastSeq)
        case .control(let reference):
            guard let record = engine.controls.record(reference) else { return nil }
            return (record.id, engine.controls.kinds.app(of: record.kind), record.lastSeq)
        case .widget(let reference):
            guard let record = engine.widgets.record(reference) else { return nil }
            return (record.id, engine.widgets.kinds.app(of: record.kind), record.lastSeq)
        }
    }
}

/// The question for an entity's past, some of which stands only in the journal's files.
final class StoredPast {
    enum Question {
        case history
        case explain
    }

    let question: Question
    let subject: PastSubject
    /// The number of the read that is under way.
    var read: UInt64?
    /// What it found, newest first; nil before.
    var events: [StoredEvent]?
    /// How often it was read: the past grows while it is read.
    var attempts = 0

    /// After so many attempts the asker is told to come again.
    static let maximumAttempts = 4

    init(_ question: Question, _ subject: PastSubject) {
        self.question = question
        self.subject = subject
    }
}
