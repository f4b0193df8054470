import IsletCore
import IsletJournal
import IsletProtocol

/// `activity.history` and `activity.explain`: from memory as far as it goes, and from the journal's files behind it.
extension Partition {
    /// Both show at most this many events or decisions, the newest.
    private static let pastRows = 1_000

    func past(
        _ question: StoredPast.Question, of record: ActivityRecord, _ reference: SlotRef, _ envelope: Envelope,
        _ frame: Span<UInt8>
    ) -> FrameResult {
        let isInMemory =
            switch question {
            case .history: remembered(record)?.isComplete ?? false
            case .explain: firstDecision(about: record.id).map { $0.revision == 1 } ?? false
            }
        if isInMemory || !isDurable {
            return write(question, of: record, reference, stored: [], envelope, frame)
        }
        return later(.past(StoredPast(question, reference)), envelope, frame)
    }

    /// Goes on with a question whose answer stands in files; the answer once it is read.
    func advance(_ past: StoredPast, _ job: Job) -> FrameResult? {
        let req = job.req
        guard let record = engine.record(past.reference) else {
            return refuse(job.envelope, req.span, .notFound)
        }
        if let events = past.events {
            let stored = missing(events, before: past.question, of: record)
            if let stored {
                return write(past.question, of: record, past.reference, stored: stored, job.envelope, req.span)
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
            case .history: remembered(record)?.previous ?? record.lastSeq
            case .explain: record.lastSeq
            }
        guard last > 0 else {
            return write(past.question, of: record, past.reference, stored: [], job.envelope, req.span)
        }
        let app = engine.apps[engine.app(of: record)].name
        // Nothing is found of what is not committed yet: the ring has that, or the next attempt will.
        guard flights.areLanded else { return nil }
        past.read = readStored(
            app: app, .chain(last: last), maximumRows: Self.pastRows, maximumBytes: ListScan.maximumBytes,
            for: .past(past))
        if past.read != nil { past.attempts += 1 }
        return nil
    }

    /// What memory still has of an activity's events, without showing it.
    private func remembered(_ record: ActivityRecord) -> ReplayRing.History? {
        ring.history(
            of: record.id, app: engine.app(of: record), maximumRows: Self.pastRows,
            maximumBytes: ListScan.maximumBytes
        ) { _, _, _, _ in }
    }

    /// The oldest transition of an activity whose decision is remembered.
    private func firstDecision(about id: EntityID) -> (seq: UInt64, revision: UInt32)? {
        var first: (UInt64, UInt32)?
        engine.forEachDecision(about: id) { decision in
            if first == nil, case .applied(_, let seq, let revision) = decision.outcome { first = (seq, revision) }
        }
        return first
    }

    /// The stored events that memory has not, oldest first; nil where there is a hole between them and memory.
    private func missing(
        _ stored: [StoredEvent], before question: StoredPast.Question, of record: ActivityRecord
    ) -> [StoredEvent]? {
        switch question {
        case .history:
            let newest = remembered(record)?.previous ?? record.lastSeq
            let older = stored.drop { $0.seq > newest }
            guard newest == 0 || older.isEmpty || older.first?.seq == newest else { return nil }
            return older.reversed()
        case .explain:
            guard let first = firstDecision(about: record.id) else {
                return stored.first?.seq == record.lastSeq || stored.isEmpty ? stored.reversed() : nil
            }
            return stored.drop { $0.seq >= first.seq }.reversed()
        }
    }

    private func write(
        _ question: StoredPast.Question, of record: ActivityRecord, _ reference: SlotRef, stored: [StoredEvent],
        _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        switch question {
        case .history: return history(of: record, reference, stored, envelope, frame)
        case .explain:
            return answerFromEngine { writer, engine in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.key("activity")
                writer.activity(
                    record, at: reference.slot, machine: record.machine, revision: record.revision, of: engine)
                writer.decisions(
                    about: record.id, before: stored.map { (json: $0.json, image: $0.image) }, of: engine)
                writer.endObject()
            }
        }
    }

    /// The events of an activity, as far back as they are kept.
    private func history(
        of record: ActivityRecord, _ reference: SlotRef, _ stored: [StoredEvent], _ envelope: Envelope,
        _ frame: Span<UInt8>
    ) -> FrameResult {
        let recent = remembered(record)
        let room = Self.pastRows - (recent?.rows ?? 0)
        let shown = stored.suffix(room)
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.key("activity")
            writer.shortActivity(record, at: reference.slot, of: engine)
            writer.key("events")
            writer.beginArray()
            for event in shown { writer.raw(event.json.span) }
            _ = ring.history(
                of: record.id, app: engine.app(of: record), maximumRows: Self.pastRows,
                maximumBytes: ListScan.maximumBytes
            ) { _, _, _, json in writer.raw(json) }
            writer.endArray()
            let isComplete = shown.first.map { $0.previous == 0 } ?? recent?.isComplete ?? false
            writer.field("complete", isComplete)
            if !isComplete {
                let stored = shown.first.flatMap { try? ActivityImage($0.image.span).revision }
                if let since = stored ?? recent?.sinceRevision { writer.field("sinceRevision", since) }
            }
            writer.endObject()
        }
    }
}
