import IsletCore
import IsletJournal
import IsletProtocol

/// The chunks of snapshots and replays. Each costs one credit, and leaves with the batch of its turn.
extension Partition {
    /// How many slots a turn looks at for one snapshot.
    private static let slotsPerTurn = 16_384

    /// Goes on with one; true when it is through.
    func advance(_ pull: BulkPull) -> Bool {
        let app = engine.apps.find(pull.app)
        switch pull.source {
        case .snapshot(let prefix, let next, let digest): return snapshot(pull, app, prefix, next, digest)
        case .replay(let after): return replay(pull, app, after)
        }
    }

    private func snapshot(_ pull: BulkPull, _ app: AppID?, _ prefix: [UInt8]?, _ place: EntityPlace, _ digest: Int?) -> Bool {
        guard let app else {
            sendChunk(pull, rows: [], isFirst: pull.chunk == 0, app: nil, ending: .at(0, entities: 0, Digest()))
            return true
        }
        if let digest {
            guard let scan = engine.continueDigest(digest) else { return false }
            sendChunk(
                pull, rows: [], isFirst: pull.chunk == 0, app: app,
                ending: .at(engine.apps[app].seq, entities: scan.entities, scan.digest))
            return true
        }
        var rows: [Range<Int>] = []
        let start = outbound.writer.count
        var next = place
        var budget = Self.slotsPerTurn
        while let here = engine.place(from: next), budget > 0, rows.count < 2 * BulkPull.maximumRows,
            outbound.writer.count - start < BulkPull.maximumBytes - Self.longestRow
        {
            writeRow(at: here, app, prefix, into: &rows)
            next = EntityPlace(here.family, here.slot + 1)
            budget -= 1
        }
        let isThrough = engine.place(from: next) == nil
        if !isThrough {
            pull.source = .snapshot(prefix: prefix, next: next, digest: nil)
            if !rows.isEmpty { sendChunk(pull, rows: rows, isFirst: pull.chunk == 0, app: app, ending: nil) }
            return false
        }
        if let prefix {
            // Where as many digests are computed as may be, it waits for one of them to end: its rows are sent.
            let number = beginDigest(app, prefix: prefix, for: pull)
            pull.waitsForDigest = number == nil
            pull.source = .snapshot(prefix: prefix, next: next, digest: number)
            if !rows.isEmpty { sendChunk(pull, rows: rows, isFirst: pull.chunk == 0, app: app, ending: nil) }
            return false
        }
        let record = engine.apps[app]
        sendChunk(
            pull, rows: rows, isFirst: pull.chunk == 0, app: app,
            ending: .at(record.seq, entities: record.entities, record.digest))
        return true
    }

    /// A row has at most this many bytes: an entity of 64 KiB and its members.
    private static let longestRow = 72 << 10

    /// The row of what is in a place, if it is listed and of the app and the prefix.
    private func writeRow(at place: EntityPlace, _ app: AppID, _ prefix: [UInt8]?, into rows: inout [Range<Int>]) {
        guard engine.isListed(at: place, app: app, prefix: prefix ?? []) else { return }
        let topic = outbound.beginFrame()
        outbound.writer.topic(at: place, in: engine)
        rows.append(topic..<outbound.writer.count)
        let row = outbound.beginFrame()
        outbound.writer.beginObject()
        writeMember(at: place)
        outbound.writer.endObject()
        rows.append(row..<outbound.writer.count)
    }

    /// The member that shows the whole entity.
    private func writeMember(at place: EntityPlace) {
        switch place.family {
        case .activity:
            guard let record = engine.record(at: place.slot) else { return }
            outbound.writer.key("activity")
            outbound.writer.activity(
                record, at: place.slot, machine: record.machine, revision: record.revision, of: engine)
        case .control:
            guard let record = engine.controls.record(at: place.slot) else { return }
            outbound.writer.key("control")
            outbound.writer.control(
                record, machine: record.machine, revision: record.revision, isOfStream: true, of: engine)
        case .group:
            guard let record = engine.groups.record(at: place.slot) else { return }
            outbound.writer.key("group")
            outbound.writer.groupItem(record, of: engine)
        case .widget:
            guard let record = engine.widgets.record(at: place.slot) else { return }
            outbound.writer.key("widget")
            outbound.writer.widget(record, machine: record.machine, revision: record.revision, of: engine)
        }
    }

    private func replay(_ pull: BulkPull, _ app: AppID?, _ after: UInt64) -> Bool {
        let seq = app.map { engine.apps[$0].seq } ?? 0
        guard let app, after < seq else {
            let ending: ChunkEnding =
                after > seq
                ? .refused(.badField(.from, .outOfRange))
                : .at(
                    seq, entities: app.map { engine.apps[$0].entities } ?? 0,
                    app.map { engine.apps[$0].digest } ?? Digest())
            sendChunk(pull, rows: [], isFirst: false, app: app, ending: ending)
            return true
        }
        // What memory does not hold any more stands in the journal's files.
        if isDurable, ring.oldest(app).map({ after + 1 < $0 }) ?? true { return storedReplay(pull, app, after) }
        var rows: [Range<Int>] = []
        let replay = ring.forEach(
            app: app, after: after, maximumRows: BulkPull.maximumRows, maximumBytes: BulkPull.maximumBytes
        ) { _, _, topicBytes, json in
            let topic = outbound.beginFrame()
            outbound.writer.plainBytes(topicBytes)
            rows.append(topic..<outbound.writer.count)
            let row = outbound.beginFrame()
            outbound.writer.plainBytes(json)
            rows.append(row..<outbound.writer.count)
        }
        let last: UInt64
        switch replay {
        case .tooOld(let oldest):
            sendChunk(pull, rows: [], isFirst: false, app: app, ending: .refused(.tooOld(oldest: oldest)))
            return true
        case .rows(_, let lastRow, _): last = lastRow
        }
        // All events are in the ring, committed or not: a chunk leaves with the batch of its turn.
        guard !rows.isEmpty else { return false }
        pull.source = .replay(after: last)
        let record = engine.apps[app]
        let isThrough = last == record.seq
        sendChunk(
            pull, rows: rows, isFirst: false, app: app,
            ending: isThrough ? .at(record.seq, entities: record.entities, record.digest) : nil)
        return isThrough
    }

    private func storedReplay(_ pull: BulkPull, _ app: AppID, _ after: UInt64) -> Bool {
        guard pull.read == nil else { return false }
        guard let stored = pull.stored else {
            // What follows is in no file yet: it is once it is committed, and may be in memory then.
            guard flights.mark(of: app).seq > after else {
                pull.waitsForCommit = true
                return false
            }
            pull.read = readStored(
                app: pull.app, .stream(after: after), maximumRows: BulkPull.maximumRows,
                maximumBytes: BulkPull.maximumBytes, for: .pull(pull))
            pull.waitsForReader = pull.read == nil
            return false
        }
        pull.stored = nil
        if case .notNow = stored {
            sendChunk(pull, ending: .busy(retryAfter: 1_000))
            return true
        }
        guard case .events(let events) = stored, let last = events.last else {
            var oldest = ring.oldest(app) ?? engine.apps[app].seq + 1
            if case .tooOld(let kept) = stored { oldest = min(oldest, kept) }
            sendChunk(pull, rows: [], isFirst: false, app: app, ending: .refused(.tooOld(oldest: oldest)))
            return true
        }
        var rows: [Range<Int>] = []
        for event in events {
            for bytes in [event.topic, event.json] {
                let start = outbound.beginFrame()
                outbound.writer.plainBytes(bytes.span)
                rows.append(start..<outbound.writer.count)
            }
        }
        pull.source = .replay(after: last.seq)
        let record = engine.apps[app]
        let isThrough = last.seq == record.seq
        sendChunk(
            pull, rows: rows, isFirst: false, app: app,
            ending: isThrough ? .at(record.seq, entities: record.entities, record.digest) : nil)
        return isThrough
    }

    private enum ChunkEnding {
        case at(UInt64, entities: Int, Digest)
        case refused(Refusal)
    }

    /// Ends a pull with an error.
    func sendChunk(_ pull: BulkPull, ending refusal: Refusal) {
        sendChunk(pull, rows: [], isFirst: false, app: nil, ending: .refused(refusal))
    }

    /// Sends a chunk: its header, then the rows, whose bytes stand in the buffer. It costs one credit.
    private func sendChunk(
        _ pull: BulkPull, rows: [Range<Int>], isFirst: Bool, app: AppID?, ending: ChunkEnding?
    ) {
        for frame in pull.route { outbound.add(copying: frame, to: .bulk, more: true) }
        let start = outbound.beginFrame()
        outbound.writer.beginObject()
        outbound.writer.field("req", plain: pull.req)
        outbound.writer.field("chunk", pull.chunk)
        outbound.writer.field("rows", rows.count / 2)
        switch ending {
        case nil:
            outbound.writer.field("epoch", plain: epoch)
            if isFirst { outbound.writer.field("fromSeq", pull.fromSeq) }
        case .at(let seq, let entities, let digest):
            if isFirst { outbound.writer.field("fromSeq", pull.fromSeq) }
            outbound.writer.field("end", true)
            outbound.writer.position(epoch: epoch, seq: seq, entities: entities, digest: digest)
        case .refused(let refusal):
            outbound.writer.field("epoch", plain: epoch)
            outbound.writer.field("end", true)
            outbound.writer.error(refusal, Span())
        }
        outbound.writer.endObject()
        outbound.endFrame(from: start, to: .bulk, more: true)
        for row in rows { outbound.add(row, to: .bulk, more: true) }
        outbound.endMessage()
        pull.chunk += 1
        pull.credit -= 1
    }
}

extension JSONWriter {
    /// The topic of the entity in a place; nothing where there is none.
    mutating func topic(at place: EntityPlace, in engine: borrowing Engine) {
        switch place.family {
        case .activity:
            guard let record = engine.record(at: place.slot) else { return }
            topic(of: record.id, kind: record.kind, in: engine)
        case .control:
            guard let record = engine.controls.record(at: place.slot) else { return }
            topic(ofControl: record.id, kind: record.kind, in: engine)
        case .group:
            guard let record = engine.groups.record(at: place.slot) else { return }
            topic(of: record, in: engine)
        case .widget:
            guard let record = engine.widgets.record(at: place.slot) else { return }
            topic(ofWidget: record.id, kind: record.kind, in: engine)
        }
    }
}
