import IsletCore
import IsletProtocol

/// The bulk socket: snapshots and replays, pulled with credit, so that they never delay an answer.
extension Partition {
    /// How many chunks a turn sends, over all pulls.
    private static let chunksPerTurn = 8

    /// Takes the message in ``inbound``, which came to the bulk socket. What its commands answer is one message, as on the
    /// commands socket; chunks are messages of their own.
    /// The owner takes one only where ``takesBulk`` says so. What is beyond the turn's share goes on in the next.
    package func takeBulk() {
        precondition(bulkRest == nil, "a bulk message was taken while an earlier one was not through")
        beginResults()
        if inbound.hasTooManyFrames {
            bulkShare.didExecute(inbound.commands.reduce(0) { $0 + inbound[$1].range.count })
            return refuseTooMany(to: .bulk)
        }
        for index in inbound.commands {
            let made = bytesMade
            results.append(inbound.withFrame(index) { request($0, isTooLong: inbound[index].isTooLong) })
            bulkShare.didExecute(inbound[index].range.count + bytesMade - made)
            if bulkShare.isSpent || !hasRoomForAnswers, index + 1 < inbound.count { return restBulk(from: index + 1) }
        }
        answerResults(to: .bulk)
    }

    /// Whether bulk messages are taken now: not while one is not through, nor once the turn has done enough.
    package var takesBulk: Bool { !isStopping && bulkRest == nil && !bulkShare.isSpent && hasRoomForAnswers }

    /// The message in `inbound` goes on from a frame on in the next turn.
    private func restBulk(from first: Int) {
        let answer = PendingAnswer(destination: .bulk, route: routeFrames())
        for result in results { collect(result, into: answer) }
        answer.isClosed = false
        answer.hasChange = false
        var message = WaitingMessage(hasTooManyFrames: false, answer: answer, receivedAt: now.monotonic)
        message.frames = (first..<inbound.count).map {
            .command(inbound.frame($0), isTooLong: inbound[$0].isTooLong)
        }
        // It cannot be given back to its socket, and there is one.
        message.ticket = ledger.enter(.messages, for: answer.peer, bytes: message.bytes)
        bulkRest = message
    }

    /// Whether a message that went beyond its turn's share can go on.
    var executesBulkRest: Bool { bulkRest != nil && !isHeldBack }

    /// A turn begins: goes on with the message that went beyond the last one's share.
    func continueBulk() {
        bulkShare = BulkShare()
        guard !isStopping, var message = bulkRest.take() else { return }
        waited = WaitedMessage(answer: message.answer)
        defer { waited = nil }
        var done = 0
        while done < message.frames.count, !bulkShare.isSpent, hasRoomForAnswers {
            switch message.frames[done] {
            case .command(let bytes, let isTooLong):
                let made = bytesMade
                let result = request(bytes.span, isTooLong: isTooLong)
                bulkShare.didExecute(bytes.count + bytesMade - made)
                collect(result, into: message.answer)
            case .answered(let bytes, let shown): message.answer.add(bytes, shows: shown)
            }
            done += 1
        }
        message.frames.removeFirst(done)
        guard message.frames.isEmpty else { return bulkRest = message }
        ledger.giveBack(&message.ticket)
        message.answer.isClosed = true
        send(message.answer)
    }

    /// A client is gone: what is left of its message is for nobody.
    private func forgetBulkRest(of peer: Peer) {
        guard bulkRest?.answer.peer == peer, var message = bulkRest.take() else { return }
        ledger.giveBack(&message.ticket)
    }

    private func request(_ frame: Span<UInt8>, isTooLong: Bool) -> FrameResult {
        if isTooLong { return refuseTooLong(frame) }
        return decoder.withDecoded(frame) { outcome, frame -> FrameResult in
            switch outcome {
            case .success(let command):
                let result = request(command, frame)
                return command.envelope.wantsAnswer ? result : .silent
            case .failure(let refused):
                let result = refuse(refused.envelope, frame, refused.refusal)
                return refused.envelope.wantsAnswer ? result : .silent
            }
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
                    source: .snapshot(prefix: prefix, next: EntityPlace(.activity, 0), digest: nil), credit: snapshot.credit,
                    at: now.monotonic),
                envelope, frame)
        case .bulkReplay(let replay):
            return begin(
                BulkPull(
                    peer: peer, route: routeFrames(), req: req, app: frame.bytes(replay.app),
                    source: .replay(after: replay.from), credit: replay.credit, at: now.monotonic),
                envelope, frame)
        // Nobody would hear what it comes to.
        case .bulkDigest where !envelope.wantsAnswer: return .silent
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
        case .inspection, .widget, .group, .activityTap, .activityStart, .activityUpdate, .activityEnd, .activityDismiss, .activityRenew, .activityHeartbeat,
            .activityGet, .activityHistory, .activityExplain, .activityList, .controlAdd, .controlConfigure,
            .controlRemove, .controlTap, .controlSet, .controlReload, .controlGet, .controlHistory, .controlExplain,
            .controlList, .controlPreview, .controlKinds, .controlOptions, .providerRegister, .providerAnswer,
            .providerFail, .providerPong, .providerDrain, .providerLeave, .providerList, .settingsSet, .settingsGet,
            .deviceEvent, .clockAdvance, .serviceInfo, .servicePing, .serviceBackup, .streamApplied:
            return refuse(envelope, frame, .unavailable(.wrongEndpoint))
        }
    }

    /// Ends all pulls: the service stops, or the disk is full, and what they go on with would show what is not committed.
    func endPulls(_ reason: Refusal.Unavailable) {
        for pull in pulls {
            // What was sent of it last may wait for room, also beside a change that it does not show, and its end comes
            // behind that.
            let waitsForRoom = flights.isDiskFull && flights.carryMessages(to: pull.peer)
            if waitsForRoom { leaveNow() }
            sendChunk(pull, ending: .unavailable(reason))
            if waitsForRoom { flights.hold(flights.board(&outbound)) }
        }
        removePulls { _ in true }
    }

    private func begin(_ pull: BulkPull, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        if flights.isDiskFull { return refuse(envelope, frame, .unavailable(.diskFull)) }
        guard !pulls.contains(where: { $0.peer == pull.peer && $0.req == pull.req }) else {
            return refuse(envelope, frame, .requestReused)
        }
        if ledger.shortage(of: .pulls, for: pull.peer, bytes: pull.bytes) == .inAll { giveWay() }
        do throws(WorkShortage) {
            pull.ticket = try ledger.admit(.pulls, for: pull.peer, bytes: pull.bytes)
        } catch {
            switch error {
            case .ofPeer: return refuse(envelope, frame, .tooMany(limit: WaitingWork.pulls.limits.countOfPeer))
            case .inAll:
                let isSoon = pulls.allSatisfy { $0.credit > 0 }
                return refuse(
                    envelope, frame, .busy(retryAfter: isSoon ? BulkPull.askAgainSoon : BulkPull.askAgain))
            }
        }
        pull.fromSeq = engine.apps.find(pull.app).map { engine.apps[$0].seq } ?? 0
        pulls.append(pull)
        return .silent
    }

    private func beginDigest(_ digest: BulkDigest, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        if flights.isDiskFull { return refuse(envelope, frame, .unavailable(.diskFull)) }
        guard let app = engine.apps.find(digest.app, of: frame) else {
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.position(epoch: epoch, seq: 0, entities: 0, digest: Digest())
                writer.endObject()
            }
        }
        nextDigest += 1
        let number = nextDigest
        let peer = Peer(destination: .bulk, routingID: routeFrames()[0])
        let result = later(.digest(number, app: app), envelope, frame, from: peer)
        if case .later = result { beginScan(number, app, prefix: digest.prefix.map { frame.bytes($0) } ?? []) }
        return result
    }

    /// Begins the digest at the end of a filtered snapshot; nil where its peer, or all, have as many as they may.
    func beginDigest(_ app: AppID, prefix: [UInt8], for pull: BulkPull) -> Int? {
        do throws(WorkShortage) {
            pull.digestTicket = try ledger.admit(.digests, for: pull.peer, bytes: 0)
        } catch {
            return nil
        }
        nextDigest += 1
        beginScan(nextDigest, app, prefix: prefix)
        return nextDigest
    }

    /// Begins a scan that was admitted.
    private func beginScan(_ number: Int, _ app: AppID, prefix: [UInt8]) {
        let isBegun = engine.beginDigest(number, app: app, prefix: prefix)
        precondition(isBegun, "the ledger admits as many digests as the engine computes")
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
        endIdlePulls(since: now.monotonic - BulkPull.patience)
        var hasWork = false
        var chunks = Self.chunksPerTurn
        for pull in pulls where pull.credit > 0 && pull.read == nil {
            guard hasRoomForAnswers else { return !isHeldBack }
            guard chunks > 0 else {
                // The next turn begins here, so that none waits behind the same ones again and again.
                if let first = pulls.firstIndex(where: { $0 === pull }) {
                    pulls = Array(pulls[first...] + pulls[..<first])
                }
                return true
            }
            pull.waitsForReader = false
            pull.waitsForCommit = false
            pull.waitsForDigest = false
            if advance(pull) {
                chunks -= 1
                removePulls { $0 === pull }
                // The digest that it waited for makes room for another one's, which may have been asked before.
                if pulls.contains(where: \.waitsForDigest) { hasWork = true }
            } else if pull.read == nil, !pull.waitsForReader, !pull.waitsForCommit, !pull.waitsForDigest {
                chunks -= 1
                if pull.credit > 0 { hasWork = true }
            }
        }
        // The next free read is for the one that has waited longest for it.
        if let first = pulls.firstIndex(where: \.waitsForReader) { pulls = Array(pulls[first...] + pulls[..<first]) }
        return hasWork
    }

    /// Ends the pull that has waited longest for credit, if it has for long enough, in favour of a new one.
    private func giveWay() {
        guard let longest = pulls.filter({ $0.credit == 0 }).min(by: { $0.lastCreditAt < $1.lastCreditAt }),
            longest.lastCreditAt < now.monotonic - BulkPull.patienceOfOthers
        else { return }
        end(longest)
    }

    private func endIdlePulls(since time: Milliseconds) {
        for pull in pulls where pull.credit == 0 && pull.lastCreditAt < time { end(pull) }
    }

    /// Ends a pull whose client gives no credit, and says so, in case it is there after all.
    private func end(_ pull: BulkPull) {
        sendChunk(pull, ending: .busy(retryAfter: BulkPull.askAgain))
        removePulls { $0 === pull }
    }

    /// Whether something waits for peers whose connections are not known.
    package var hasUnlocatedPeers: Bool { ledger.hasUnlocated }

    /// Whether something waits for a peer, and its connection is not known.
    package func isUnlocated(_ peer: Peer) -> Bool { ledger.isUnlocated(peer) }

    /// The connection of a peer is known: its end will be told with ``clientIsGone(_:)``.
    package func located(_ peer: Peer) { ledger.located(peer) }

    /// A client has no connection any more: what it pulled and waited for ends.
    package func clientIsGone(_ peer: Peer) {
        let work = ledger.peerIsGone(peer)
        if work.contains(.pulls) { removePulls { $0.peer == peer } }
        if work.contains(where: \.isJob) { dropJobs(of: peer) }
        joins.forget(peer)
        if work.contains(.reports) { subscribers.forget(reportedBy: peer) }
        forgetBulkRest(of: peer)
    }

    /// A client was cut because it did not read: what it pulled ends.
    package func clientWasCut(_ peer: Peer) {
        statistics.cutClients += 1
        clientIsGone(peer)
    }

    /// Ends pulls, with the digests that they wait for.
    func removePulls(where isOver: (BulkPull) -> Bool) {
        for pull in pulls where isOver(pull) {
            ledger.giveBack(&pull.ticket)
            ledger.giveBack(&pull.digestTicket)
            if case .snapshot(_, _, let digest?) = pull.source { engine.cancelDigest(digest) }
        }
        pulls.removeAll(where: isOver)
    }
}
