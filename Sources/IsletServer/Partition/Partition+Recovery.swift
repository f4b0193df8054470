import IsletCore
import IsletJournal
import IsletProtocol

/// The way back from a journal: the snapshot, then the batches behind it, then the answers that retries may ask for.
extension Partition {
    /// The fact that says when the snapshot's last round began: answers are read from there.
    static let roundKey = [UInt8(ascii: "z")]

    func recover(from source: any RecoverySource) throws {
        // Without a round, no trace of a forgotten answer was written.
        var roundBegan = Instant(0)
        try source.forEachFact { key, value in
            try located("a fact of the snapshot") {
                if try self.engine.restoreFact(key, value, isInSnapshot: true) { return }
                if try self.retries.restoreTrace(key, value) { return }
                guard key.count == 1, key[0] == Self.roundKey[0] else { throw ImageError.unknownValue }
                roundBegan = try ImageReader.read(value) { reader throws(ImageError) in try reader.instant() }
            }
        }
        var bytes: [UInt8] = []
        try source.forEachEntity { entity in try self.restore(entity, &bytes) }
        engine.finishSnapshot()
        try source.forEachBatch(after: source.summary.snapshotHoldsThrough, self)
        restoreSigns()
        try located("the state after batch \(source.summary.lastBatch)") {
            try self.engine.finishRestoring(isProven: !source.summary.mayHaveLostCommits)
        }
        let since = min(roundBegan, now.domain) + -RetryWindow.Limits.standard.span
        try source.forEachAnswer(since: since.milliseconds) { number, at, answer in
            try located("an answer of batch \(number)") {
                try self.retries.restoreAnswer(answer, batch: number, at: Instant(at))
            }
            recovery.answers += 1
        }
        // Bounded by what was restored; what is too old now leaves its trace before anybody asks.
        while retries.forgetExpired(at: now.domain) {}
        batch = JournalBatch(number: source.summary.lastBatch + 1)
        flights.begin(after: source.summary.lastBatch)
        sweeping.holdsThrough = source.summary.snapshotHoldsThrough
        // What clients have seen of time must not be seen again.
        if now.domain > Instant(source.summary.clock) { noteClock() }
        for app in engine.apps.apps.indices { watermarks.changed(AppID(app), at: now.monotonic) }
        report()
    }

    private func restore(_ entity: RecoveredEntity, _ bytes: inout [UInt8]) throws {
        try located("the activity in slot \(entity.slot)") {
            guard let slot = Slot(exactly: entity.slot) else { throw ImageError.unknownValue }
            // The engine takes all parts from one piece of memory.
            bytes.removeAll(keepingCapacity: true)
            var ranges: [FrameRange] = []
            ranges.reserveCapacity(7)
            for part in [
                entity.app, entity.kind, entity.key, entity.device, entity.attributes, entity.content, entity.id,
            ] {
                ranges.append(FrameRange(offset: bytes.count, count: part.count))
                bytes.append(contentsOf: part)
            }
            let span = bytes.span
            guard let id = EntityID(text: span, at: ranges[6]) else { throw ImageError.unknownValue }
            let image = try ActivityImage(entity.image.bindMemory(to: UInt8.self).span)
            try self.engine.restore(
                id, at: slot, seq: entity.seq, image,
                Engine.RestoredParts(
                    app: ranges[0], kind: ranges[1], key: ranges[2].count > 0 ? ranges[2] : nil,
                    device: ranges[3].count > 0 ? ranges[3] : nil, attributes: ranges[4], content: ranges[5]),
                of: span)
        }
    }

    /// The events of a batch are back: its notes about activities hold.
    fileprivate func restoreSigns() {
        for (id, image) in recoveringSigns { engine.restoreSign(id, image) }
        recoveringSigns.removeAll(keepingCapacity: true)
    }

    private func report() {
        recovery.activities = engine.entityCount
        for slot in 0..<engine.slotCount {
            guard let record = engine.record(at: slot) else { continue }
            let due = engine.next(of: record.machine)?.at ?? .never
            guard due <= now.domain else { continue }
            recovery.overdue += 1
            recovery.oldestLateBy = max(recovery.oldestLateBy, now.domain - due)
        }
    }

    private func located(_ place: @autoclosure () -> String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ImageError {
            throw RecoveryError(reason: error.sentence, place: place())
        } catch let error as ScanError {
            throw RecoveryError(reason: "an event that is no JSON: \(error)", place: place())
        }
    }
}

extension Partition: RecoveryVisitor {
    package func begin(batch number: UInt64, at: Int64) throws {
        restoreSigns()
        recoveringBatch = number
    }

    package func fact(_ content: Span<UInt8>) throws {
        try located("a note of batch \(recoveringBatch)") { try self.restoreNote(content) }
    }

    package func event(
        app: Span<UInt8>, seq: UInt64, previous: UInt64, topic: Span<UInt8>, json: Span<UInt8>, image: Span<UInt8>
    ) throws {
        try located("seq \(seq) of batch \(recoveringBatch)") {
            guard let topic = ActivityTopic(topic) else { throw ImageError.contradiction("a topic of no activity") }
            let after = try ActivityImage(image)
            recovery.events += 1
            guard after.isWhole || after.contentChanged else {
                return self.engine.restoreChange(topic.id, seq: seq, after, content: nil, of: json)
            }
            let parts = try EventParts(of: json)
            guard after.isWhole else {
                return self.engine.restoreChange(topic.id, seq: seq, after, content: parts.contentState, of: json)
            }
            // Names and payloads stand in two pieces of memory.
            var bytes = Array(json)
            let offset = bytes.count
            topic.append(to: &bytes)
            let empty = FrameRange(offset: 0, count: 0)
            try self.engine.restoreStart(
                topic.id, seq: seq, after,
                Engine.RestoredParts(
                    app: FrameRange(offset: offset, count: topic.app.count),
                    kind: FrameRange(offset: offset + topic.app.count, count: topic.type.count), key: parts.key,
                    device: parts.device, attributes: parts.attributes ?? empty, content: parts.contentState ?? empty),
                of: bytes.span)
        }
    }

    package func endStream(app: Span<UInt8>, seq: UInt64, entities: Int, digest: UInt64) throws {
        try located("the stream of batch \(recoveringBatch)") {
            guard let app = self.engine.restoredApp(app) else {
                throw ImageError.contradiction("more apps than there may be")
            }
            self.engine.restoreStreamEnd(app, seq: seq, entities: entities, digest: digest)
        }
    }
}

extension ImageError {
    /// What is wrong, for a person.
    var sentence: String {
        switch self {
        case .truncated: "it ends too early"
        case .tooLong: "it goes on behind its end"
        case .unknownVersion(let version): "it was written in layout \(version), by a later release"
        case .unknownValue: "it holds a value that no release has written"
        case .contradiction(let what): what
        }
    }
}
