import IsletJournal

/// A journal in memory that keeps what it is given, and gives it back: as it was after any of its batches.
final class KeptJournal: Journal {
    fileprivate struct Row {
        var header: StateChunk.Entity
        var parts: [[UInt8]]
    }

    /// What a process finds that starts after a batch.
    struct State {
        fileprivate var batches: [JournalBatch] = []
        fileprivate var rows: [UInt64: Row] = [:]
        fileprivate var facts: [[UInt8]: [UInt8]] = [:]
        fileprivate var holdsThrough: UInt64 = 0
        fileprivate var at: Int64 = 0

        var batchCount: Int { batches.count }
        var lastBatch: UInt64 { batches.last?.number ?? 0 }
        var hasRows: Bool { !rows.isEmpty }
        /// Whether the snapshot holds everything.
        var isWhole: Bool { holdsThrough == lastBatch }
    }

    private(set) var state: State
    /// The state after each batch and each piece of the snapshot.
    private(set) var states: [State] = []
    /// The first batch with an answer that is still wanted, as the last whole snapshot says.
    private(set) var answersFrom: UInt64 = 0
    /// The backups that were asked for; the test says when one is made.
    private(set) var backups: [BackupRequest] = []
    /// The reads of stored events that were asked for; the test says what one finds.
    private(set) var reads: [JournalRead] = []

    init(_ state: State = State()) {
        self.state = state
    }

    var guarantee: JournalGuarantee { .powerLoss }

    func append(_ batch: JournalBatch) -> JournalReceipt {
        state.batches.append(batch)
        states.append(state)
        return .pending
    }

    func sweep(_ chunk: StateChunk) {
        for entity in chunk.entities {
            let slices = [
                entity.id, entity.app, entity.kind, entity.key, entity.device, entity.attributes, entity.content,
                entity.image,
            ]
            state.rows[entity.slot] = Row(header: entity, parts: slices.map { $0.count > 0 ? chunk.bytes($0) : [] })
        }
        for slot in chunk.freed { state.rows[slot] = nil }
        for fact in chunk.facts { state.facts[chunk.bytes(fact.key)] = fact.value.map { chunk.bytes($0) } }
        state.at = max(state.at, chunk.at)
        if let through = chunk.holdsThrough {
            state.holdsThrough = through
            answersFrom = chunk.answersFrom
        }
        states.append(state)
    }

    func read(_ request: JournalRead) { reads.append(request) }
    func timePassed(to time: Int64) {}

    func backUp(_ request: BackupRequest) { backups.append(request) }
    func close() async {}
}

/// A state, as recovery reads it.
final class KeptRecovery: RecoverySource {
    private let state: KeptJournal.State
    private var order: SeededGenerator?

    /// - Parameter order: draws in which order each batch has its apps; nil: all of its events as they happened.
    init(_ state: KeptJournal.State, order: SeededGenerator? = nil) {
        self.state = state
        self.order = order
    }

    /// A batch's events as they are read: those of an app in their order, app after app.
    private func events(of batch: JournalBatch) -> [JournalBatch.Event] {
        guard var order else { return batch.events }
        let rows = batch.rows.indices.shuffled(using: &order)
        self.order = order
        return rows.flatMap { row in batch.events.filter { $0.row == row } }
    }

    var summary: RecoverySummary {
        var summary = RecoverySummary()
        summary.isNew = state.batches.isEmpty
        summary.epoch = "e1"
        summary.snapshotHoldsThrough = state.holdsThrough
        summary.lastBatch = state.batches.last?.number ?? 0
        summary.clock = max(state.at, state.batches.last?.at ?? 0)
        return summary
    }

    func forEachFact(_ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws {
        for (key, value) in state.facts { try visit(key.span, value.span) }
    }

    func forEachEntity(_ visit: (RecoveredEntity) throws -> Void) throws {
        for (slot, row) in state.rows.sorted(by: { $0.key < $1.key }) {
            let bytes = row.parts.flatMap(\.self)
            try bytes.withUnsafeBytes { bytes in
                var start = 0
                let parts = row.parts.map { part in
                    defer { start += part.count }
                    return start..<start + part.count
                }
                try visit(
                    RecoveredEntity(
                        slot: slot, revision: row.header.revision, seq: row.header.seq, bytes: bytes,
                        parts: RecoveredEntity.Parts(
                            id: parts[0], app: parts[1], kind: parts[2], key: parts[3], device: parts[4],
                            attributes: parts[5], content: parts[6], image: parts[7])))
            }
        }
    }

    func forEachBatch(after number: UInt64, _ visitor: any RecoveryVisitor) throws {
        for batch in state.batches where batch.number > number {
            try visitor.begin(batch: batch.number, at: batch.at)
            for fact in batch.facts { try batch.withBytes(of: fact) { try visitor.fact($0) } }
            for event in events(of: batch) {
                let (app, topic) = (batch.copy(batch.rows[event.row].name), batch.copy(event.topic))
                let (json, image) = (batch.copy(event.json), batch.copy(event.image))
                try visitor.event(
                    app: app.span, seq: event.seq, previous: event.previous, topic: topic.span, json: json.span,
                    image: image.span)
            }
            for row in batch.rows {
                let app = batch.copy(row.name)
                try visitor.endStream(app: app.span, seq: row.lastSeq, entities: row.entities, digest: row.digest)
            }
        }
    }

    func forEachAnswer(
        since: Int64, _ visit: (_ batch: UInt64, _ at: Int64, _ answer: Span<UInt8>) throws -> Void
    ) throws {
        for batch in state.batches where batch.at >= since {
            for answer in batch.answers { try batch.withBytes(of: answer) { try visit(batch.number, batch.at, $0) } }
        }
    }
}

extension StateChunk {
    fileprivate func bytes(_ slice: Slice) -> [UInt8] {
        withBytes(of: slice) { span in span.withUnsafeBytes { Array($0) } }
    }
}

extension JournalBatch {
    /// A copy of some of its bytes.
    func copy(_ slice: Slice) -> [UInt8] {
        withBytes(of: slice) { span in span.withUnsafeBytes { Array($0) } }
    }
}
