import IsletJournal

/// Random batches, with what must come back.
extension Ledger {
    private static let apps = ["com.a", "com.bee", "org.example.c", "d"]

    /// The next batch: events of several apps, facts and answers, or fewer of them.
    ///
    /// - Parameter filler: Bytes of one more fact; 0: there is none.
    mutating func makeBatch(_ dice: inout Dice, filler: Int = 0) -> JournalBatch {
        let number = lastBatch + 1
        var batch = JournalBatch(number: number)
        var entry = Batch(at: Int64(1_000 * number), told: [], answers: [], seqs: seqs)
        for index in 0..<dice.below(4) {
            let fact = dice.padded("fact \(number).\(index) ", to: dice.below(120))
            batch.note(Array(fact.utf8).span)
            entry.told.append("fact \(fact)")
        }
        if filler > 0 {
            let fact = "filler \(number) " + String(repeating: "x", count: filler)
            batch.note(Array(fact.utf8).span)
            entry.told.append("fact \(fact)")
        }
        for index in 0..<dice.below(4) {
            let answer = dice.padded("answer \(number).\(index) ", to: dice.below(200))
            batch.remember(Array(answer.utf8).span)
            entry.answers.append(answer)
        }
        var lines: [(app: String, lines: [String])] = []
        // Some batches are larger than many others together, and a few have more of an app than one row.
        let size = dice.oneIn(60) ? 90_000 : dice.oneIn(12) ? 6_000 : 300
        for _ in 0..<(dice.oneIn(6) ? 0 : 1 + dice.below(6)) {
            let index = dice.below(Self.apps.count)
            let app = Self.apps[index]
            let seq = (entry.seqs[app] ?? 0) + 1
            entry.seqs[app] = seq
            let previous = seq > 3 ? seq - 3 : 0
            let json = "{\"seq\":\(seq),\"text\":\"\(dice.padded("", to: dice.below(size)))\"}"
            let topic = "\(app)/activity/a-\(seq % 3)"
            let image = dice.padded("image \(seq)", to: dice.below(60))
            batch.append(
                stream: UInt32(index), app: Array(app.utf8).span, seq: seq, previous: previous, at: entry.at,
                topic: Array(topic.utf8).span, json: Array(json.utf8).span, image: Array(image.utf8).span)
            let line = "\(app) \(seq)<\(previous) \(topic) \(json) \(image)"
            if let known = lines.firstIndex(where: { $0.app == app }) {
                lines[known].lines.append(line)
            } else {
                lines.append((app, [line]))
            }
        }
        batch.close(at: entry.at) { stream in (entities: Int(stream) + 1, digest: number &* 0x9E37_79B9) }
        for (app, events) in lines {
            entry.told += events
            let index = Self.apps.firstIndex(of: app) ?? 0
            entry.told.append(
                "\(app) ends at \(entry.seqs[app] ?? 0): \(index + 1), \(number &* 0x9E37_79B9)")
        }
        add(entry)
        return batch
    }

    /// The next piece of the snapshot.
    ///
    /// - Parameters:
    ///   - committed: The last batch that is committed.
    ///   - endsRound: Whether it is the last one of a round; nil: as the dice say.
    mutating func makePiece(
        _ dice: inout Dice, committed: UInt64, isLarge: Bool, endsRound: Bool? = nil
    ) -> StateChunk {
        var piece = StateChunk()
        var snapshot = snapshots[snapshots.count - 1]
        snapshot.committed = committed
        snapshot.isDurable = false
        piece.at = Int64(1_000 * committed)
        var used: Set<UInt64> = []
        for _ in 0..<(isLarge ? 12 : dice.below(8)) {
            let slot = UInt64(dice.below(40))
            guard used.insert(slot).inserted else { continue }
            if dice.oneIn(4), !isLarge {
                piece.free(slot)
                snapshot.entities[slot] = nil
                continue
            }
            var entity = StateChunk.Entity(slot: slot)
            let revision = UInt64(snapshots.count)
            let content = dice.padded("{\"n\":\(revision)", to: isLarge ? 60_000 : dice.below(600))
            entity.id = piece.keep("a-\(slot)")
            entity.app = piece.keep("com.a")
            entity.revision = revision
            entity.seq = committed
            entity.content = piece.keep(content)
            entity.image = piece.keep("image \(slot) \(revision)")
            piece.append(entity)
            snapshot.entities[slot] = "a-\(slot)|com.a|\(revision)|\(committed)|\(content)|image \(slot) \(revision)"
        }
        for _ in 0..<dice.below(4) {
            let key = "key \(dice.below(12))"
            if dice.oneIn(4) {
                piece.forget(Array(key.utf8).span)
                snapshot.facts[key] = nil
            } else {
                let value = dice.padded("value \(snapshots.count)", to: dice.below(100))
                piece.set(Array(key.utf8).span, to: Array(value.utf8).span)
                snapshot.facts[key] = value
            }
        }
        let index = String(snapshots.count)
        piece.set(Array(Self.pieceKey.utf8).span, to: Array(index.utf8).span)
        snapshot.facts[Self.pieceKey] = index
        if endsRound ?? dice.oneIn(3) {
            piece.holdsThrough = committed
            snapshot.holdsThrough = committed
            // So that some segments are trimmed whose answers are all kept, some of them, or none.
            snapshot.answersFrom = max(snapshot.answersFrom, committed - min(committed, committed % 13))
            piece.answersFrom = snapshot.answersFrom
            snapshot.isDurable = true
            snapshot.isAhead = false
        }
        add(snapshot)
        return piece
    }
}

extension StateChunk {
    fileprivate mutating func keep(_ text: String) -> Slice { store(Array(text.utf8).span) }
}
