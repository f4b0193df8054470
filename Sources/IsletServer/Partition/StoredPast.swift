import IsletCore
import IsletJournal
import IsletProtocol

/// An entity whose past is asked for.
enum PastSubject {
    case activity(SlotRef)
    case control(SlotRef)
    case widget(SlotRef)

    /// The member of the answer that shows it.
    fileprivate var member: StaticString {
        switch self {
        case .activity: "activity"
        case .control: "control"
        case .widget: "widget"
        }
    }

    /// What the streams know of it; nil where it is gone.
    fileprivate func identity(in engine: borrowing Engine) -> StoredPast.Identity? {
        switch self {
        case .activity(let reference):
            guard let record = engine.record(reference) else { return nil }
            return .init(id: record.id, app: engine.app(of: record), lastSeq: record.lastSeq, revision: record.revision)
        case .control(let reference):
            guard let record = engine.controls.record(reference) else { return nil }
            let app = engine.controls.kinds.app(of: record.kind)
            return .init(id: record.id, app: app, lastSeq: record.lastSeq, revision: record.revision)
        case .widget(let reference):
            guard let record = engine.widgets.record(reference) else { return nil }
            let app = engine.widgets.kinds.app(of: record.kind)
            return .init(id: record.id, app: app, lastSeq: record.lastSeq, revision: record.revision)
        }
    }

    /// Whether its content is hidden at present, and with it what its past tells of it.
    fileprivate func isRedacted(in engine: borrowing Engine) -> Bool {
        switch self {
        case .activity, .widget: false
        case .control(let reference):
            engine.controls.record(reference).map { $0.machine.isRedacted || engine.hides($0) } ?? false
        }
    }

    /// What is remembered to have been decided about it.
    fileprivate func decisions(_ identity: StoredPast.Identity, in engine: borrowing Engine) -> RememberedDecisions {
        switch self {
        case .activity: RememberedDecisions(aboutActivity: identity.id, of: identity.app, in: engine)
        case .control: RememberedDecisions(aboutControl: identity.id, of: identity.app, in: engine)
        case .widget: RememberedDecisions(aboutWidget: identity.id, of: identity.app, in: engine)
        }
    }

    /// The revision that a stored event made.
    fileprivate func revision(of event: StoredEvent) -> UInt32? {
        switch self {
        case .activity: try? ActivityImage(event.image.span).revision
        case .control: try? ControlImage(event.image.span).revision
        case .widget: try? WidgetImage(event.image.span).revision
        }
    }
}

/// The question for an entity's past, some of which may stand only in the journal's files.
///
/// The answer shows what is so where the question stands among other commands, from memory and from files alike. So what
/// commands behind it may change is kept here from the beginning, and its past ends with the last event of then.
final class StoredPast {
    enum Question {
        case history
        case explain
    }

    /// What is asked for; of decisions, those that are remembered.
    enum Sought {
        case history
        case explain(RememberedDecisions)
    }

    /// Whose past it is, and with which event it ends.
    struct Identity {
        let id: EntityID
        let app: AppID
        let lastSeq: UInt64
        let revision: UInt32
    }

    let identity: Identity
    /// The last batch that may have an event of it.
    let batch: UInt64
    let sought: Sought
    /// Whether what its past tells of its content is hidden.
    let isRedacted: Bool
    private let subject: PastSubject
    /// The entity as the answer shows it: in short for a history, else whole.
    private let entity: [UInt8]
    /// The number of the read that is under way.
    var read: UInt64?
    /// What it found, newest first; nil before.
    var events: [StoredEvent]?
    /// How often it was read: memory may give up what is not committed yet.
    var attempts = 0

    /// After so many attempts the asker is told to come again.
    static let maximumAttempts = 4

    /// Nil where the entity is gone.
    init?(_ question: Question, of subject: PastSubject, in engine: borrowing Engine, through batch: UInt64) {
        guard let identity = subject.identity(in: engine) else { return nil }
        var writer = JSONWriter(capacity: 1 << 10)
        switch question {
        case .history:
            sought = .history
            writer.short(subject, of: engine)
        case .explain:
            sought = .explain(subject.decisions(identity, in: engine))
            writer.whole(subject, of: engine)
        }
        self.identity = identity
        self.batch = batch
        self.subject = subject
        isRedacted = subject.isRedacted(in: engine)
        entity = writer.copy()
    }

    /// What it keeps while it waits.
    var bytes: Int {
        switch sought {
        case .history: entity.count
        case .explain(let decisions): entity.count + decisions.bytes
        }
    }

    /// Writes the member that shows the entity.
    func writeEntity(to writer: inout JSONWriter) {
        let entity = entity
        writer.key(subject.member)
        writer.raw(entity.span)
    }

    /// The revision that a stored event of it made.
    func revision(of event: StoredEvent) -> UInt32? { subject.revision(of: event) }
}

extension JSONWriter {
    fileprivate mutating func whole(_ subject: PastSubject, of engine: borrowing Engine) {
        switch subject {
        case .activity(let reference):
            guard let record = engine.record(reference) else { return }
            activity(record, at: reference.slot, machine: record.machine, revision: record.revision, of: engine)
        case .control(let reference):
            guard let record = engine.controls.record(reference) else { return }
            control(record, machine: record.machine, revision: record.revision, of: engine)
        case .widget(let reference):
            guard let record = engine.widgets.record(reference) else { return }
            widget(record, machine: record.machine, revision: record.revision, of: engine)
        }
    }

    fileprivate mutating func short(_ subject: PastSubject, of engine: borrowing Engine) {
        switch subject {
        case .activity(let reference):
            guard let record = engine.record(reference) else { return }
            shortActivity(record, at: reference.slot, of: engine)
        case .control(let reference):
            guard let record = engine.controls.record(reference) else { return }
            shortControl(record)
        case .widget(let reference):
            guard let record = engine.widgets.record(reference) else { return }
            shortWidget(record)
        }
    }
}
