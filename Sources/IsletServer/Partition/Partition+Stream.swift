import IsletCore
import IsletProtocol

/// The events socket beside its events: joins and watermarks.
extension Partition {
    /// A join that names no app is answered for at most this many.
    static let maximumJoinedApps = 1_000
    /// A turn answers no more joins once their answers have as many bytes.
    package static let joinBytesPerTurn = 1 << 20

    /// A topic was subscribed to; a join is answered on its own topic, with the present batch. One that is too many is not
    /// answered, and its client asks again.
    ///
    /// - Parameter peer: whose connection it is; nil: nobody knows.
    package func subscribed(to topic: Span<UInt8>, by peer: Peer? = nil) {
        guard var join = join(named: topic) else { return }
        let peer = peer ?? .unknownSubscriber
        do throws(WorkShortage) {
            join.ticket = try ledger.admit(.joins, for: peer, bytes: join.topic.count)
        } catch {
            return
        }
        joins.append(join, of: peer, at: now.monotonic)
    }

    /// A topic is subscribed to no more; a join's is only ever one subscriber's, who is gone or has given up.
    package func unsubscribed(from topic: Span<UInt8>, by peer: Peer? = nil) {
        guard let join = join(named: topic) else { return }
        forgetReport(of: join.nonce)
        guard var waiting = joins.withdraw(join.topic, of: peer ?? .unknownSubscriber) else { return }
        ledger.giveBack(&waiting.ticket)
    }

    private func join(named topic: Span<UInt8>) -> JoinTopic? {
        topic.withUnsafeBytes { JoinTopic.isJoin($0) ? JoinTopic(Array($0)) : nil }
    }

    private func forgetReport(of nonce: [UInt8]) {
        var ticket = subscribers.forget(nonce: nonce)
        ledger.giveBack(&ticket)
    }

    /// Joins and watermarks, behind the events that leave before them: what they say of the streams is what is
    /// published by then.
    func writeStreamMessages() {
        let start = outbound.writer.count
        while outbound.writer.count - start < Self.joinBytesPerTurn, var next = joins.next(at: now.monotonic) {
            let before = outbound.writer.count
            answer(next.join)
            joins.gave(outbound.writer.count - before, to: next.peer)
            ledger.giveBack(&next.join.ticket)
        }
        for app in watermarks.due(at: now.monotonic) { publishWatermark(app, isClosing: false) }
    }

    /// The subscription is active already, so from here on the joiner misses nothing: its answer leaves behind the events
    /// up to the sequence numbers that it names.
    private func answer(_ join: JoinTopic) {
        statistics.joins += 1
        outbound.add(copying: join.topic, to: .events, more: true)
        let start = outbound.beginFrame()
        outbound.writer.beginObject()
        if join.app == nil, engine.apps.apps.count > Self.maximumJoinedApps {
            outbound.writer.field("error", name: "tooMany")
        } else {
            outbound.writer.field("at", now.domain)
            outbound.writer.key("apps")
            outbound.writer.beginObject()
            for index in joined(by: join) {
                let app = AppID(index)
                outbound.writer.key(plain: engine.apps[app].name)
                outbound.writer.beginObject()
                outbound.writer.field("epoch", plain: epoch)
                outbound.writer.field("seq", mark(of: app).seq)
                outbound.writer.endObject()
            }
            outbound.writer.endObject()
            outbound.writer.field("epoch", plain: epoch)
        }
        outbound.writer.endObject()
        outbound.endFrame(from: start, to: .events, more: false)
    }

    /// The apps that a join asks for.
    private func joined(by join: JoinTopic) -> Range<Int> {
        guard let name = join.app else { return engine.apps.apps.indices }
        guard let app = engine.apps.find(name) else { return 0..<0 }
        return Int(app)..<Int(app) + 1
    }

    /// Where an app's stream stands by what is published together with what is written now. While the disk is full that is
    /// what is committed: what was filled by then waits, and what is written now does not. So it is where a stop gave it up.
    private func mark(of app: AppID) -> StreamMark {
        if flights.isDiskFull || hasGivenUp { return flights.mark(of: app) }
        let record = engine.apps[app]
        return StreamMark(seq: record.seq, entities: record.entities, digest: record.digest)
    }

    /// A subscriber says how far it is; one that is too far behind is told so on its nonce's topic, before it loses
    /// events.
    func subscriberApplied(nonce: [UInt8], _ positions: [AppliedPosition]) {
        for silent in subscribers.silent(at: now.monotonic) { forgetReport(of: silent) }
        // The sender's own makes room for the next one. Another peer's stays where the sender may not have one more.
        if subscribers.reports[nonce]?.ticket?.peer == asker { forgetReport(of: nonce) }
        var report = SubscriberTable.Report(positions: positions, at: now.monotonic)
        report.backlogThen = report.backlog(in: engine)
        remember(report, of: nonce)
        var behind = positions.filter { $0.lag(in: engine) ?? 0 > SubscriberTable.maximumLag }
        if behind.isEmpty, report.backlogThen > SubscriberTable.maximumLag {
            // In none of them alone: the furthest are told.
            let lags = positions.map { (position: $0, lag: $0.lag(in: engine) ?? 0) }.sorted { $0.lag > $1.lag }
            behind = lags.prefix(SubscriberTable.maximumToldApps).map(\.position)
        }
        guard !behind.isEmpty else { return }
        // It listens on the topic that it joined with, which may name an app.
        tellLagging(JoinTopic.start + nonce)
        for position in behind.prefix(SubscriberTable.maximumToldApps) {
            tellLagging(JoinTopic.start + nonce + [UInt8(ascii: "/")] + position.app)
        }
    }

    /// Remembers a report, if its sender may have another.
    private func remember(_ report: SubscriberTable.Report, of nonce: [UInt8]) {
        var report = report
        do throws(WorkShortage) {
            report.ticket = try ledger.admit(.reports, for: asker, bytes: nonce.count + report.bytes)
        } catch {
            return
        }
        var former = subscribers.remember(report, of: nonce)
        ledger.giveBack(&former)
    }

    private func tellLagging(_ topic: [UInt8]) {
        outbound.add(copying: topic, to: .events, more: true)
        let start = outbound.beginFrame()
        outbound.writer.beginObject()
        outbound.writer.field("at", now.domain)
        outbound.writer.field("lagging", true)
        outbound.writer.endObject()
        outbound.endFrame(from: start, to: .events, more: false)
    }

    /// The last word on every stream.
    func publishGoodbye() {
        for index in engine.apps.apps.indices { publishWatermark(AppID(index), isClosing: true) }
    }

    private func publishWatermark(_ app: AppID, isClosing: Bool) {
        let mark = mark(of: app)
        let topic = outbound.beginFrame()
        outbound.writer.watermarkTopic(engine.apps[app].name)
        outbound.endFrame(from: topic, to: .events, more: true)
        let start = outbound.beginFrame()
        outbound.writer.watermark(
            epoch: epoch, seq: mark.seq, entities: mark.entities, digest: mark.digest, at: now.domain,
            isClosing: isClosing)
        outbound.endFrame(from: start, to: .events, more: false)
    }
}
