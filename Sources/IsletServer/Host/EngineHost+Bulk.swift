import IsletCore
import IsletProtocol
import ZeroMQ

/// The bulk socket: snapshots and replays, pulled with credit, so that they never delay an answer.
extension EngineHost {
    /// How many requests a turn takes.
    private static let requestsPerTurn = 64
    /// How many chunks a turn sends, over all pulls.
    private static let chunksPerTurn = 8
    /// How many slots a turn looks at for one snapshot.
    private static let slotsPerTurn: Slot = 16_384

    /// Takes requests; true where more may wait.
    func receiveBulk() -> Bool {
        for _ in 0..<Self.requestsPerTurn {
            guard inbound.receive(from: sockets.bulk, into: &received, isRouted: true) else { return false }
            noteDescriptor(.bulk)
            for index in inbound.commands {
                let frame = inbound.frames[index]
                let range = frame.range
                let isTooLong = frame.isTooLong || inbound.hasTooManyFrames
                request(inbound.bytes.span.extracting(range), isTooLong: isTooLong)
                if inbound.hasTooManyFrames { break }
            }
        }
        return true
    }

    private func request(_ frame: Span<UInt8>, isTooLong: Bool) {
        if isTooLong { return answerBulk(refuse(Envelope(), Span(), .badMessage(.frameTooLong, offset: 0))) }
        let result = decoder.withDecoded(frame) { outcome, frame -> FrameResult in
            switch outcome {
            case .success(let command): return request(command, frame)
            case .failure(let refused): return refuse(refused.envelope, frame, refused.refusal)
            }
        }
        answerBulk(result)
    }

    private func answerBulk(_ result: FrameResult) {
        switch result {
        case .silent: return
        case .answered, .later:
            let pending = PendingAnswer(destination: .bulk, route: routeFrames())
            collect(result, into: pending)
            send(pending)
        }
    }

    private func request(_ command: Command, _ frame: Span<UInt8>) -> FrameResult {
        let envelope = command.envelope
        let req = envelope.req.map { frame.bytes($0) } ?? []
        let peer = Peer(destination: .bulk, routingID: routeFrames()[0])
        switch command.operation {
        case .bulkSnapshot(let snapshot):
            let prefix = snapshot.prefix.map { frame.bytes($0) }
            return begin(
                BulkPull(
                    peer: peer, route: routeFrames(), req: req, app: frame.bytes(snapshot.app),
                    source: .snapshot(prefix: prefix, nextSlot: 0, digest: nil), credit: snapshot.credit,
                    at: now.monotonic),
                envelope, frame)
        case .bulkReplay(let replay):
            return begin(
                BulkPull(
                    peer: peer, route: routeFrames(), req: req, app: frame.bytes(replay.app),
                    source: .replay(after: replay.from), credit: replay.credit, at: now.monotonic),
                envelope, frame)
        case .bulkDigest(let digest): return beginDigest(digest, envelope, frame)
        case .bulkCredit(let credit):
            // A client gives credit before it sees the end: what comes late is no mistake.
            guard let pull = pulls.first(where: { $0.peer == peer && $0.req == req }) else { return .silent }
            pull.credit = min(BulkPull.maximumCredit, pull.credit + credit)
            pull.lastCreditAt = now.monotonic
            return .silent
        case .bulkCancel:
            removePulls { $0.peer == peer && $0.req == req }
            return .silent
        case .activityStart, .activityUpdate, .activityEnd, .activityDismiss, .activityRenew, .activityHeartbeat,
            .activityGet, .activityHistory, .activityExplain, .activityList, .settingsSet, .settingsGet, .deviceEvent,
            .clockAdvance, .serviceInfo, .servicePing, .streamApplied:
            return refuse(envelope, frame, .unavailable(.wrongEndpoint))
        }
    }

    private func begin(_ pull: BulkPull, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard !pulls.contains(where: { $0.peer == pull.peer && $0.req == pull.req }) else {
            return refuse(envelope, frame, .requestReused)
        }
        guard pulls.count(where: { $0.peer == pull.peer }) < BulkPull.maximumPerPeer else {
            return refuse(envelope, frame, .tooMany(limit: BulkPull.maximumPerPeer))
        }
        guard pulls.count < BulkPull.maximumPulls else { return refuse(envelope, frame, .busy(retryAfter: 1_000)) }
        pull.fromSeq = engine.apps.find(pull.app).map { engine.apps[$0].seq } ?? 0
        pulls.append(pull)
        return .silent
    }

    private func beginDigest(_ digest: BulkDigest, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let app = engine.apps.find(digest.app, of: frame) else {
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.position(epoch: epoch, seq: 0, entities: 0, digest: Digest())
                writer.endObject()
            }
        }
        guard let number = beginDigest(app, prefix: digest.prefix.map { frame.bytes($0) } ?? []) else {
            return refuse(envelope, frame, .busy(retryAfter: 100))
        }
        return later(.digest(number, app: app), envelope, frame)
    }

    private func beginDigest(_ app: AppID, prefix: [UInt8]) -> Int? {
        nextDigest += 1
        return engine.beginDigest(nextDigest, app: app, prefix: prefix) ? nextDigest : nil
    }

    /// The answer to `bulk.digest`.
    func digest(_ scan: DigestScan, app: AppID, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.position(
                epoch: epoch, seq: engine.apps[app].seq, entities: scan.entities, digest: scan.digest)
            writer.endObject()
        }
    }

    /// Sends chunks to pulls that have credit; true where one has work left.
    func continuePulls() -> Bool {
        guard !pulls.isEmpty else { return false }
        let patienceEnds = now.monotonic - BulkPull.patience
        removePulls { $0.credit == 0 && $0.lastCreditAt < patienceEnds }
        var hasWork = false
        var chunks = Self.chunksPerTurn
        for pull in pulls where pull.credit > 0 {
            guard chunks > 0 else { return true }
            chunks -= 1
            if advance(pull) {
                removePulls { $0 === pull }
            } else if pull.credit > 0 {
                hasWork = true
            }
        }
        return hasWork
    }

    /// Ends pulls, with the digests that they wait for.
    func removePulls(where isOver: (BulkPull) -> Bool) {
        for pull in pulls where isOver(pull) {
            if case .snapshot(_, _, let digest?) = pull.source { engine.cancelDigest(digest) }
        }
        pulls.removeAll(where: isOver)
    }

    /// Goes on with one; true when it is through.
    private func advance(_ pull: BulkPull) -> Bool {
        let app = engine.apps.find(pull.app)
        switch pull.source {
        case .snapshot(let prefix, let slot, let digest): return snapshot(pull, app, prefix, slot, digest)
        case .replay(let after): return replay(pull, app, after)
        }
    }

    private func snapshot(_ pull: BulkPull, _ app: AppID?, _ prefix: [UInt8]?, _ slot: Slot, _ digest: Int?) -> Bool {
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
        var next = slot
        let end = Slot(min(UInt64(engine.slotCount), UInt64(slot) + UInt64(Self.slotsPerTurn)))
        while next < end, rows.count < 2 * BulkPull.maximumRows, outbound.writer.count - start < BulkPull.maximumBytes - Self.longestRow {
            if let record = engine.record(at: next), record.state.isListed, engine.app(of: record) == app,
                prefix.map({ engine.topic(of: record, hasPrefix: $0) }) ?? true
            {
                writeRow(record, at: next, into: &rows)
            }
            next += 1
        }
        let isThrough = next == engine.slotCount
        if !isThrough {
            pull.source = .snapshot(prefix: prefix, nextSlot: next, digest: nil)
            if !rows.isEmpty { sendChunk(pull, rows: rows, isFirst: pull.chunk == 0, app: app, ending: nil) }
            return false
        }
        if let prefix {
            guard let number = beginDigest(app, prefix: prefix) else {
                sendChunk(pull, rows: rows, isFirst: pull.chunk == 0, app: app, ending: .refused(.busy(retryAfter: 100)))
                return true
            }
            pull.source = .snapshot(prefix: prefix, nextSlot: next, digest: number)
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

    private func writeRow(_ record: ActivityRecord, at slot: Slot, into rows: inout [Range<Int>]) {
        let topic = outbound.beginFrame()
        outbound.writer.topic(of: record.id, kind: record.kind, in: engine)
        rows.append(topic..<outbound.writer.count)
        let row = outbound.beginFrame()
        outbound.writer.beginObject()
        outbound.writer.key("activity")
        outbound.writer.activity(
            record, at: slot, machine: record.machine, revision: record.revision, of: engine)
        outbound.writer.endObject()
        rows.append(row..<outbound.writer.count)
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
        // The newest events may not be committed yet; they follow once they are.
        guard !rows.isEmpty else { return false }
        pull.source = .replay(after: last)
        let record = engine.apps[app]
        let isThrough = last == record.seq
        sendChunk(
            pull, rows: rows, isFirst: false, app: app,
            ending: isThrough ? .at(record.seq, entities: record.entities, record.digest) : nil)
        return isThrough
    }

    private enum ChunkEnding {
        case at(UInt64, entities: Int, Digest)
        case refused(Refusal)
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
