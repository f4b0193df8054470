import IsletJournal

/// Holds an open folder against what was handed over.
extension Ledger {
    /// What a folder must have.
    struct Promise {
        /// Batches up to this one.
        var batch: UInt64 = 0
        /// The snapshot, at least as of this piece.
        var piece = 0
    }

    /// Finds out which batches and which snapshot a folder has, that they are whole, and that nothing is missing.
    mutating func check(_ store: Store, _ promise: Promise) throws {
        let last = store.summary.lastBatch
        guard last >= promise.batch else { throw LifeFailure("it ends with batch \(last), \(promise.batch) was committed") }
        guard last <= lastBatch else { throw LifeFailure("it ends with batch \(last), \(lastBatch) was the last one") }
        let first = store.firstBatches.first ?? 1
        let piece = try checkSnapshot(of: store, promise)
        guard first <= store.summary.snapshotHoldsThrough + 1 else {
            throw LifeFailure("batches begin with \(first), the snapshot ends with \(store.summary.snapshotHoldsThrough)")
        }
        let told = Told()
        try store.forEachBatch(after: first - 1, told)
        guard told.batches.count == Int(last + 1 - first) else {
            throw LifeFailure("\(told.batches.count) batches from \(first) to \(last)")
        }
        for (index, found) in told.batches.enumerated() {
            let number = first + UInt64(index)
            guard let expected = batch(number), found.number == number, found.at == expected.at,
                found.told == expected.told
            else {
                throw LifeFailure("batch \(number) came back as \(found), not \(String(describing: batch(number)))")
            }
        }
        try checkAnswers(of: store, from: min(snapshots[piece].answersFrom, first), through: last)
        forget(batchesAfter: last)
        forget(snapshotsAfter: piece, lastBatch: last, isAhead: store.summary.snapshotMayBeAhead)
    }

    /// Those from a batch on are all there. Older ones are removed later, in steps: what is left of them is as it was written.
    private func checkAnswers(of store: Store, from kept: UInt64, through last: UInt64) throws {
        var found: [String] = []
        var older: [(batch: UInt64, answer: String)] = []
        try store.forEachAnswer(since: 0) { number, _, answer in
            if number < kept { older.append((number, text(answer))) } else { found.append("\(number): \(text(answer))") }
        }
        if let wrong = older.first(where: { batch($0.batch)?.answers.contains($0.answer) != true }) {
            throw LifeFailure("of batch \(wrong.batch) there is the answer \(wrong.answer), which it never had")
        }
        let expected = (kept..<(last + 1)).flatMap { number in (batch(number)?.answers ?? []).map { "\(number): \($0)" } }
        guard found == expected else {
            throw LifeFailure("the answers from batch \(kept) on came back as \(found), not \(expected)")
        }
    }

    private func checkSnapshot(of store: Store, _ promise: Promise) throws -> Int {
        var found = Snapshot()
        try store.forEachFact { key, value in found.facts[text(key)] = text(value) }
        try store.forEachEntity { entity in
            let places = entity.parts
            let parts = [places.id, places.app, places.content, places.image]
                .map { String(decoding: entity.copy($0), as: UTF8.self) }
            found.entities[entity.slot] =
                "\(parts[0])|\(parts[1])|\(entity.revision)|\(entity.seq)|\(parts[2])|\(parts[3])"
        }
        let piece = found.facts[Self.pieceKey].flatMap { Int($0) } ?? 0
        guard piece < snapshots.count, piece >= promise.piece else {
            throw LifeFailure(
                "the snapshot is that of piece \(piece) of \(snapshots.count - 1), \(promise.piece) was written for good")
        }
        let expected = snapshots[piece]
        guard found.entities == expected.entities, found.facts == expected.facts else {
            throw LifeFailure("the snapshot of piece \(piece) is \(found), not \(expected)")
        }
        let summary = store.summary
        guard summary.snapshotHoldsThrough == min(expected.holdsThrough, summary.lastBatch) else {
            throw LifeFailure("it holds through \(summary.snapshotHoldsThrough), not \(expected.holdsThrough)")
        }
        // Whatever was synced: an effect that outlives its answer is there a second time once the command is sent again.
        guard expected.committed <= summary.lastBatch else {
            throw LifeFailure("the snapshot is of batch \(expected.committed), the journal ends with \(summary.lastBatch)")
        }
        // Whoever opened it before may have been stopped after it wrote down a new epoch, and has told nobody of it.
        let isAhead = expected.isAhead || summary.mayHaveLostCommits || epochs.last.map { $0 != summary.epoch } ?? false
        guard summary.snapshotMayBeAhead == isAhead || epochs.isEmpty else {
            throw LifeFailure("whether the snapshot may be ahead: it says \(!isAhead), and it is \(isAhead)")
        }
        return piece
    }
}

/// Collects what recovery tells.
private final class Told: RecoveryVisitor {
    private(set) var batches: [(number: UInt64, at: Int64, told: [String])] = []

    func begin(batch number: UInt64, at: Int64) { batches.append((number, at, [])) }

    func fact(_ content: Span<UInt8>) { add("fact \(text(content))") }

    func event(
        app: Span<UInt8>, seq: UInt64, previous: UInt64, topic: Span<UInt8>, json: Span<UInt8>, image: Span<UInt8>
    ) {
        add("\(text(app)) \(seq)<\(previous) \(text(topic)) \(text(json)) \(text(image))")
    }

    func endStream(app: Span<UInt8>, seq: UInt64, entities: Int, digest: UInt64) {
        add("\(text(app)) ends at \(seq): \(entities), \(digest)")
    }

    private func add(_ line: String) {
        guard !batches.isEmpty else { return }
        batches[batches.count - 1].told.append(line)
    }
}

func text(_ span: Span<UInt8>) -> String {
    span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
}
