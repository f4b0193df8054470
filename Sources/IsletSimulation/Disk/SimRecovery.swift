import IsletJournal

/// What a restarted service finds on the simulated disk.
final class SimRecovery: RecoverySource {
    private let disk: SimDisk

    init(_ disk: SimDisk) {
        self.disk = disk
    }

    var summary: RecoverySummary {
        var summary = RecoverySummary()
        summary.isNew = disk.batches.isEmpty && disk.snapshot.isEmpty && disk.lastNumber == 0
        summary.epoch = disk.epoch
        summary.snapshotHoldsThrough = disk.snapshot.holdsThrough
        summary.lastBatch = disk.lastNumber
        summary.clock = disk.keptTime
        summary.wasClosed = disk.wasClosed
        return summary
    }

    func forEachFact(_ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws {
        // In no order, but in the same one in each run.
        for (key, value) in disk.snapshot.facts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            try visit(key.span, value.span)
        }
    }

    func forEachEntity(_ visit: (RecoveredEntity) throws -> Void) throws {
        for (slot, entity) in disk.snapshot.entities.sorted(by: { $0.key < $1.key }) {
            try entity.bytes.withUnsafeBytes { bytes in
                try visit(
                    RecoveredEntity(
                        slot: slot, revision: entity.header.revision, seq: entity.header.seq, bytes: bytes,
                        parts: RecoveredEntity.Parts(entity.parts)))
            }
        }
    }

    func forEachBatch(after number: UInt64, _ visitor: any RecoveryVisitor) throws {
        for stored in disk.batches where stored.batch.number > number {
            let batch = stored.batch
            try visitor.begin(batch: batch.number, at: batch.at)
            for fact in batch.facts { try batch.withBytes(of: fact) { try visitor.fact($0) } }
            for (index, row) in batch.rows.enumerated() {
                let app = batch.bytes(row.name)
                var failure: (any Error)?
                batch.forEachEvent(ofRow: index) { event in
                    guard failure == nil else { return }
                    do { try Self.visit(event, of: batch, app, visitor) } catch { failure = error }
                }
                if let failure { throw failure }
                try visitor.endStream(app: app.span, seq: row.lastSeq, entities: row.entities, digest: row.digest)
            }
        }
    }

    private static func visit(
        _ event: JournalBatch.Event, of batch: JournalBatch, _ app: [UInt8], _ visitor: any RecoveryVisitor
    ) throws {
        let topic = batch.bytes(event.topic)
        let json = batch.bytes(event.json)
        let image = batch.bytes(event.image)
        try visitor.event(
            app: app.span, seq: event.seq, previous: event.previous, topic: topic.span, json: json.span,
            image: image.span)
    }

    func forEachAnswer(
        since: Int64, _ visit: (_ batch: UInt64, _ at: Int64, _ answer: Span<UInt8>) throws -> Void
    ) throws {
        for stored in disk.batches where stored.batch.at >= since {
            for answer in stored.batch.answers {
                try stored.batch.withBytes(of: answer) { try visit(stored.batch.number, stored.batch.at, $0) }
            }
        }
    }
}

extension RecoveredEntity.Parts {
    /// As ``SimSnapshot`` keeps them.
    fileprivate init(_ parts: [Range<Int>]) {
        self.init(
            id: parts[0], app: parts[1], kind: parts[2], key: parts[3], device: parts[4], attributes: parts[5],
            content: parts[6], image: parts[7])
    }
}
