import IsletCore
import IsletJournal
import IsletProtocol

/// `history` and `explain` of activities, controls and widgets: from memory as far as it goes, and from the journal's files behind
/// it.
extension Partition {
    /// Both show at most this many events or decisions, the newest.
    private static let pastRows = JSONWriter.maximumDecisions

    private typealias Identity = (id: EntityID, app: AppID, lastSeq: UInt64)

    func past(
        _ question: StoredPast.Question, of subject: PastSubject, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        guard let identity = subject.identity(in: engine) else { return refuse(envelope, frame, .notFound) }
        switch question {
        case .history:
            if !isDurable || remembered(identity)?.isComplete ?? false {
                return history(of: subject, identity, [], envelope, frame)
            }
        case .explain:
            let decisions = decisions(about: subject, identity)
            if !isDurable || decisions.isAll { return explain(subject, decisions, [], envelope, frame) }
        }
        return later(.past(StoredPast(question, subject)), envelope, frame)
    }

    /// Goes on with a question whose answer stands in files; the answer once it is read.
    func advance(_ past: StoredPast, _ job: Job) -> FrameResult? {
        let req = job.req
        guard let identity = past.subject.identity(in: engine) else {
            return refuse(job.envelope, req.span, .notFound)
        }
        if let events = past.events {
            if let result = write(past.question, of: past.subject, identity, stored: events, job.envelope, req.span) {
                return result
            }
            // It grew while it was read.
            past.events = nil
        }
        guard past.read == nil else { return nil }
        guard past.attempts < StoredPast.maximumAttempts else {
            return refuse(job.envelope, req.span, .busy(retryAfter: 100))
        }
        let last =
            switch past.question {
            case .history: remembered(identity)?.previous ?? identity.lastSeq
            case .explain: newestBeforeDecisions(about: past.subject, identity)
            }
        guard last > 0 else {
            return write(past.question, of: past.subject, identity, stored: [], job.envelope, req.span)
        }
        let app = engine.apps[identity.app].name
        // Nothing is found of what is not committed yet: the ring has that, or the next attempt will.
        guard flights.areLanded else { return nil }
        past.read = readStored(
            app: app, .chain(last: last), maximumRows: Self.pastRows, maximumBytes: ListBounds.maximumBytes,
            for: .past(past))
        if past.read != nil { past.attempts += 1 }
        return nil
    }

    /// The newest event that is older than the decisions that memory has. Their own may not be committed yet, and nothing
    /// would be found behind them.
    private func newestBeforeDecisions(about subject: PastSubject, _ identity: Identity) -> UInt64 {
        guard let first = decisions(about: subject, identity).first, let memory = remembered(identity),
            memory.sinceRevision >= first.revision
        else { return identity.lastSeq }
        return memory.previous
    }

    /// What memory still has of an entity's events, without showing it.
    private func remembered(_ identity: Identity) -> ReplayRing.History? {
        ring.history(
            of: identity.id, app: identity.app, maximumRows: Self.pastRows, maximumBytes: ListBounds.maximumBytes
        ) { _, _, _, _ in }
    }

    /// What memory has of an entity's decisions; no more than are shown. It looks through all that are remembered.
    private func decisions(about subject: PastSubject, _ identity: Identity) -> RememberedDecisions {
        switch subject {
        case .activity: RememberedDecisions(aboutActivity: identity.id, of: identity.app, in: engine)
        case .control: RememberedDecisions(aboutControl: identity.id, of: identity.app, in: engine)
        case .widget: RememberedDecisions(aboutWidget: identity.id, of: identity.app, in: engine)
        }
    }

    /// The answer of what was read from files and of what memory has; nil where there is a hole between them.
    private func write(
        _ question: StoredPast.Question, of subject: PastSubject, _ identity: Identity, stored: [StoredEvent],
        _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult? {
        switch question {
        case .history:
            let newest = remembered(identity)?.previous ?? identity.lastSeq
            let older = stored.drop { $0.seq > newest }
            guard newest == 0 || older.isEmpty || older.first?.seq == newest else { return nil }
            return history(of: subject, identity, older.reversed(), envelope, frame)
        case .explain:
            let decisions = decisions(about: subject, identity)
            var older = stored[...]
            if let first = decisions.first {
                older = stored.drop { $0.seq >= first.seq }
            } else if stored.first?.seq != identity.lastSeq, !stored.isEmpty {
                return nil
            }
            return explain(subject, decisions, older.reversed(), envelope, frame)
        }
    }

    private func explain(
        _ subject: PastSubject, _ decisions: RememberedDecisions, _ stored: [StoredEvent], _ envelope: Envelope,
        _ frame: Span<UInt8>
    ) -> FrameResult {
        answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.whole(subject, of: engine)
            writer.decisions(decisions, before: stored.map { (json: $0.json, image: $0.image) })
            writer.endObject()
        }
    }

    /// The events of an entity, as far back as they are kept.
    private func history(
        of subject: PastSubject, _ identity: Identity, _ stored: [StoredEvent], _ envelope: Envelope,
        _ frame: Span<UInt8>
    ) -> FrameResult {
        let recent = remembered(identity)
        let room = Self.pastRows - (recent?.rows ?? 0)
        var shown = stored.suffix(room)
        var bytes = shown.reduce(recent?.bytes ?? 0) { $0 + $1.json.count }
        while bytes > ListBounds.maximumBytes, shown.count + (recent?.rows ?? 0) > 1, let oldest = shown.popFirst() {
            bytes -= oldest.json.count
        }
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.short(subject, of: engine)
            writer.key("events")
            writer.beginArray()
            let isRedacted = subject.isRedacted(in: engine)
            for event in shown {
                if isRedacted { writer.redacted(event: event.json.span) } else { writer.raw(event.json.span) }
            }
            _ = ring.history(
                of: identity.id, app: identity.app, maximumRows: Self.pastRows, maximumBytes: ListBounds.maximumBytes
            ) { _, _, _, json in
                if isRedacted { writer.redacted(event: json) } else { writer.raw(json) }
            }
            writer.endArray()
            let isComplete = shown.first.map { $0.previous == 0 } ?? recent?.isComplete ?? false
            writer.field("complete", isComplete)
            if !isComplete {
                let stored = shown.first.flatMap { subject.revision(of: $0) }
                // Where none is kept any more, those to come are.
                let next = subject.revision(in: engine) + 1
                writer.field("sinceRevision", stored ?? recent?.sinceRevision ?? next)
            }
            writer.endObject()
        }
    }
}

extension PastSubject {
    /// Whether its content is hidden at present, and with it what its past tells of it.
    fileprivate func isRedacted(in engine: borrowing Engine) -> Bool {
        switch self {
        case .activity, .widget: false
        case .control(let reference):
            engine.controls.record(reference).map { $0.machine.isRedacted || engine.hides($0) } ?? false
        }
    }

    /// The revision that the entity has; 0 where it is gone.
    fileprivate func revision(in engine: borrowing Engine) -> UInt32 {
        switch self {
        case .activity(let reference): engine.record(reference)?.revision ?? 0
        case .control(let reference): engine.controls.record(reference)?.revision ?? 0
        case .widget(let reference): engine.widgets.record(reference)?.revision ?? 0
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

extension JSONWriter {
    /// The member that shows the whole entity.
    fileprivate mutating func whole(_ subject: PastSubject, of engine: borrowing Engine) {
        switch subject {
        case .activity(let reference):
            guard let record = engine.record(reference) else { return }
            key("activity")
            activity(record, at: reference.slot, machine: record.machine, revision: record.revision, of: engine)
        case .control(let reference):
            guard let record = engine.controls.record(reference) else { return }
            key("control")
            control(record, machine: record.machine, revision: record.revision, of: engine)
        case .widget(let reference):
            guard let record = engine.widgets.record(reference) else { return }
            key("widget")
            widget(record, machine: record.machine, revision: record.revision, of: engine)
        }
    }

    /// The member that shows it in short.
    fileprivate mutating func short(_ subject: PastSubject, of engine: borrowing Engine) {
        switch subject {
        case .activity(let reference):
            guard let record = engine.record(reference) else { return }
            key("activity")
            shortActivity(record, at: reference.slot, of: engine)
        case .control(let reference):
            guard let record = engine.controls.record(reference) else { return }
            key("control")
            shortControl(record)
        case .widget(let reference):
            guard let record = engine.widgets.record(reference) else { return }
            key("widget")
            shortWidget(record)
        }
    }
}
