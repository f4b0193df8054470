import IsletCore
import IsletJournal
import IsletProtocol

/// `history` and `explain` of activities, controls and widgets: from memory as far as it goes, and from the journal's files behind
/// it.
extension Partition {
    /// Both show at most this many events or decisions, the newest.
    private static let pastRows = JSONWriter.maximumDecisions

    func past(
        _ question: StoredPast.Question, of subject: PastSubject, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        let shown = batch.isEmpty ? batch.number - 1 : batch.number
        guard let past = StoredPast(question, of: subject, in: engine, through: shown) else {
            return refuse(envelope, frame, .notFound)
        }
        switch past.sought {
        case .history:
            let recent = remembered(past.identity)
            // Where memory has as many as are shown, files have nothing to add.
            if !isDurable || recent?.isComplete ?? false || recent?.rows == Self.pastRows {
                return history(past, [], envelope, frame)
            }
        case .explain(let decisions):
            if !isDurable || decisions.isAll {
                return explain(past, decisions, [], reasons(past, decisions, []), envelope, frame)
            }
        }
        return later(.past(past), envelope, frame)
    }

    /// Goes on with a question whose answer stands in files; the answer once it is read.
    func advance(_ past: StoredPast, _ job: Job) -> FrameResult? {
        let req = job.req
        if let events = past.events {
            if let result = write(past, stored: events, job.envelope, req.span) { return result }
            // Memory gave up what the files did not have yet.
            past.events = nil
        }
        guard past.read == nil else { return nil }
        guard past.attempts < StoredPast.maximumAttempts else {
            return refuse(job.envelope, req.span, .busy(retryAfter: 100))
        }
        // Before memory is looked through: many may wait for their turn.
        guard mayReadPast(of: job.peer) else { return nil }
        let last =
            switch past.sought {
            // Where memory gives up its oldest events faster than files are read, the two meet only if files are read from
            // the newest on.
            case .history where past.attempts == 0: remembered(past.identity)?.previous ?? past.identity.lastSeq
            case .history: past.identity.lastSeq
            case .explain: past.identity.lastSeq
            }
        guard last > 0 else { return write(past, stored: [], job.envelope, req.span) }
        let app = engine.apps[past.identity.app].name
        // A chain is found from its last event on, and that is in no file before it is committed.
        guard flights.committedThrough >= past.batch else { return nil }
        past.read = readStored(
            app: app, .chain(last: last), maximumRows: Self.pastRows, maximumBytes: ListBounds.maximumBytes,
            for: .past(past, of: job.peer))
        if past.read != nil { past.attempts += 1 }
        return nil
    }

    /// What memory still has of an entity's events, without showing it.
    private func remembered(_ identity: StoredPast.Identity) -> ReplayRing.History? {
        forEachRemembered(identity) { _, _, _, _ in }
    }

    private func forEachRemembered(_ identity: StoredPast.Identity, _ visit: ReplayRing.Visit) -> ReplayRing.History? {
        ring.history(
            of: identity.id, app: identity.app, through: identity.lastSeq, maximumRows: Self.pastRows,
            maximumBytes: ListBounds.maximumBytes, visit)
    }

    /// The answer of what was read from files and of what memory has; nil where there is a hole between them.
    private func write(
        _ past: StoredPast, stored: [StoredEvent], _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult? {
        let last = past.identity.lastSeq
        switch past.sought {
        case .history:
            let newest = remembered(past.identity)?.previous ?? last
            let older = stored.drop { $0.seq > newest }
            guard newest == 0 || older.isEmpty || older.first?.seq == newest else { return nil }
            return history(past, older.reversed(), envelope, frame)
        case .explain(let decisions):
            var older = stored[...]
            if let first = decisions.first {
                older = stored.drop { $0.seq >= first.seq }
            } else if stored.first?.seq != last, !stored.isEmpty {
                return nil
            }
            let reasons = reasons(past, decisions, stored.reversed())
            return explain(past, decisions, older.reversed(), reasons, envelope, frame)
        }
    }

    /// What providers said of calls that they failed: of what is remembered to have been decided only the events tell it.
    ///
    /// - Parameter stored: its events, oldest first, where they were read; else those that memory has tell it.
    private func reasons(
        _ past: StoredPast, _ decisions: RememberedDecisions, _ stored: [StoredEvent]
    ) -> ToldReasons {
        var reasons = ToldReasons()
        guard !past.isRedacted, !stored.isEmpty || decisions.lacksReasons else { return reasons }
        for event in stored { reasons.add(event.json.span, seq: event.seq) }
        if stored.isEmpty {
            _ = forEachRemembered(past.identity) { seq, _, _, json in reasons.add(json, seq: seq) }
        }
        return reasons
    }

    private func explain(
        _ past: StoredPast, _ decisions: RememberedDecisions, _ stored: [StoredEvent], _ reasons: ToldReasons,
        _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            past.writeEntity(to: &writer)
            writer.decisions(decisions, before: stored.map { (json: $0.json, image: $0.image) }, reasons: reasons)
            writer.endObject()
        }
    }

    /// The events of an entity, as far back as they are kept.
    private func history(
        _ past: StoredPast, _ stored: [StoredEvent], _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        let recent = remembered(past.identity)
        let room = Self.pastRows - (recent?.rows ?? 0)
        var shown = stored.suffix(room)
        var bytes = shown.reduce(recent?.bytes ?? 0) { $0 + $1.json.count }
        while bytes > ListBounds.maximumBytes, shown.count + (recent?.rows ?? 0) > 1, let oldest = shown.popFirst() {
            bytes -= oldest.json.count
        }
        return answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            past.writeEntity(to: &writer)
            writer.key("events")
            writer.beginArray()
            for event in shown {
                if past.isRedacted { writer.redacted(event: event.json.span) } else { writer.raw(event.json.span) }
            }
            _ = forEachRemembered(past.identity) { _, _, _, json in
                if past.isRedacted { writer.redacted(event: json) } else { writer.raw(json) }
            }
            writer.endArray()
            let isComplete = shown.first.map { $0.previous == 0 } ?? recent?.isComplete ?? false
            writer.field("complete", isComplete)
            if !isComplete {
                let stored = shown.first.flatMap { past.revision(of: $0) }
                // Where none is kept any more, those to come are.
                let next = past.identity.revision + 1
                writer.field("sinceRevision", stored ?? recent?.sinceRevision ?? next)
            }
            writer.endObject()
        }
    }
}
