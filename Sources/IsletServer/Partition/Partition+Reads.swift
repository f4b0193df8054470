import IsletCore
import IsletProtocol

/// Commands that only look. Their answers leave with the batch of their turn, so they never show what is not durable.
extension Partition {
    /// How long a read with `minSeq` waits where it names no `ttl`, in milliseconds of real time.
    static let minSeqWait: Int64 = 5_000
    /// How long it waits at most, whatever its `ttl`: it takes a place that others may want, and its peer may have gone.
    static let longestMinSeqWait: Int64 = 60_000
    /// When to ask again for what did not fit into the answers to one message.
    static var fullAnswerRetry: Milliseconds { OutboundMessages.fullAnswerRetry }

    /// Answers a read. One that has to wait is decoded again later, so its `original` bytes are kept: in `frame` the
    /// command's own strings stand without their escapes, which is no JSON any more.
    func read(_ command: Command, _ frame: Span<UInt8>, original: Span<UInt8>) -> FrameResult {
        if !isExpired, let seq = command.envelope.minSeq, let app = stream(of: command.operation, frame),
            engine.apps.find(app).map({ engine.apps.seq(of: $0) }) ?? 0 < seq
        {
            let deadline = now.monotonic + min(command.envelope.ttl ?? Self.minSeqWait, Self.longestMinSeqWait)
            return later(
                .waitForSeq(seq, app: app, frame: Array(original), deadline: deadline),
                command.envelope, frame)
        }
        let envelope = command.envelope
        switch command.operation {
        case .clockAdvance(let advance): return advanceClock(advance, envelope, frame, original: original)
        case .serviceBackup(let path): return backUp(to: path, envelope, frame, original: original)
        case _ where isExpired: return refuse(envelope, frame, .expired)
        case .activityHistory where isAnswerFull, .activityExplain where isAnswerFull, .activityList where isAnswerFull:
            return refuse(envelope, frame, .busy(retryAfter: Self.fullAnswerRetry))
        case .activityGet, .activityHistory, .activityExplain: return readActivity(command, frame)
        case .activityList(let list): return self.list(list, envelope, frame)
        case .settingsGet(let address):
            let settings = engine.settings(at: address, of: frame)
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.settings(settings)
                writer.endObject()
            }
        case .serviceInfo: return info(envelope, frame)
        case .servicePing: return answerNow(envelope, frame)
        case .streamApplied(let applied):
            subscriberApplied(
                nonce: frame.bytes(applied.nonce), AppliedPosition.all(in: applied.apps, of: frame))
            return .silent
        case .controlHistory where isAnswerFull, .controlExplain where isAnswerFull, .controlList where isAnswerFull,
            .inspection where isAnswerFull, .controlKinds where isAnswerFull, .providerList where isAnswerFull:
            return refuse(envelope, frame, .busy(retryAfter: Self.fullAnswerRetry))
        case .controlGet(let get): return getControl(get, envelope, frame)
        case .controlHistory(let address), .controlExplain(let address):
            guard let control = engine.readControl(address, frame, at: now.domain, dating) else {
                return refuse(envelope, frame, .notFound)
            }
            encodeEvents(frame, nil)
            if case .controlHistory = command.operation {
                return past(.history, of: .control(control), envelope, frame)
            }
            return past(.explain, of: .control(control), envelope, frame)
        case .controlList(let list): return self.list(list, envelope, frame)
        case .controlPreview(let address): return previewControl(address, envelope, frame)
        case .controlKinds(let list): return self.list(list, envelope, frame)
        case .controlOptions(let options): return listOptions(options, envelope, frame)
        case .providerRegister(let register): return self.register(register, envelope, frame)
        case .providerAnswer(let answer): return answered(answer, envelope, frame)
        case .providerFail(let fail): return failed(fail, envelope, frame)
        case .providerPong(let provider): return pong(provider, envelope, frame)
        case .providerDrain(let provider): return rest(provider, leaves: false, envelope, frame)
        case .providerLeave(let provider): return rest(provider, leaves: true, envelope, frame)
        case .providerList(let list): return self.list(list, envelope, frame)
        case .widget(let operation): return readWidget(operation, envelope, frame)
        case .group(let operation): return readGroup(operation, envelope, frame)
        case .inspection(let operation): return inspect(operation, envelope, frame)
        case .bulkSnapshot, .bulkReplay, .bulkDigest, .bulkCredit, .bulkCancel:
            return refuse(envelope, frame, .unavailable(.wrongEndpoint))
        case .activityStart, .activityUpdate, .activityEnd, .activityDismiss, .activityRenew, .activityHeartbeat,
            .activityTap, .controlAdd, .controlConfigure, .controlRemove, .controlTap, .controlSet, .controlReload, .settingsSet,
            .deviceEvent:
            preconditionFailure("a change is no read")
        }
    }

    /// `{"ok":true,"now":…}`: a sign of life, and where a clock has arrived.
    func answerNow(_ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("now", now.domain)
            writer.endObject()
        }
    }

    private func info(_ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let lateness = statistics.lateness.reading(at: now.monotonic).all
        let journal = isDurable ? journalReading() : nil
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            card.write(
                to: &writer, now: now, heldBack: clock.heldBack, engine: engine, statistics: statistics,
                lateness: lateness, providers: providers.providerCount)
            if let journal { writer.journal(journal) }
            writer.field("epoch", plain: epoch)
            writer.endObject()
            writer.endObject()
        }
    }

    private func readActivity(_ command: Command, _ frame: Span<UInt8>) -> FrameResult {
        let id = EntityID(high: 0, low: 0)
        let outcome = engine.apply(command, of: frame, at: now.domain, dating: dating, freshID: id)
        encodeEvents(frame, nil)
        let envelope = command.envelope
        guard case .found(let reference) = outcome, let record = engine.record(reference) else {
            return refuse(envelope, frame, .notFound)
        }
        switch command.operation {
        case .activityHistory: return past(.history, of: .activity(reference), envelope, frame)
        case .activityExplain: return past(.explain, of: .activity(reference), envelope, frame)
        default:
            return answerFromEngine { writer, engine in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("seq", engine.apps[engine.app(of: record)].seq)
                writer.key("activity")
                writer.activity(
                    record, at: reference.slot, machine: record.machine, revision: record.revision,
                    stateAt: record.stateAt, of: engine)
                writer.endObject()
            }
        }
    }

    private func list(_ list: ActivityList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let filter = engine.filter(of: list, frame)
        let cursor = list.cursor.map { frame.text($0) }
        if list.order == .presentation {
            // Its order is the same in every process, and a cursor is a place in it.
            guard let first = cursor.map({ Slot($0) }) ?? 0 else {
                return refuse(envelope, frame, .badField(.cursor, .badCursor))
            }
            return presentation(list, filter, first: Int(first), envelope, frame)
        }
        guard let start = cursor.map({ cursors.slot(of: $0) }) ?? 0 else {
            return refuse(envelope, frame, .badField(.cursor, .badCursor))
        }
        let scan = ListScan(filter: filter, firstRow: start, limit: list.limit, cursors: cursors)
        if isThroughAtOnce({ scan.advance(engine, left: &$0) }) {
            return answer { scan.write(to: &$0, envelope, frame) }
        }
        return later(.list(scan), envelope, frame)
    }

    /// A device's Lock Screen and Dynamic Island. The ranks are over the whole device, whatever is filtered.
    ///
    /// - Parameter first: how many were on the pages before, which is what a cursor of this order says.
    private func presentation(
        _ list: ActivityList, _ filter: ActivityFilter?, first: Int, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        var order: [Presentation] = []
        if let device = filter?.device {
            // All that is listed there is sorted: hours of ended ones.
            guard presented < ListBounds.presentedPerTurn else {
                return refuse(envelope, frame, .busy(retryAfter: Self.fullAnswerRetry))
            }
            order = engine.presentation(on: device, at: now.domain, dating: dating)
            presented += order.count
            encodeEvents(frame, nil)
        }
        return answerFromEngine { writer, engine in
            let shown = filter.map { filter in order.filter { engine.matches($0.slot, filter) } } ?? []
            writer.beginAnswer(envelope, frame, ok: true)
            writer.key("activities")
            writer.beginArray()
            let (begin, page) = (writer.count, shown.dropFirst(first).prefix(list.limit))
            var next = first + page.count
            for (place, presentation) in zip(page.indices, page) {
                guard let record = engine.record(at: presentation.slot) else { continue }
                let start = writer.count
                writer.activity(
                    record, at: presentation.slot, machine: record.machine, revision: record.revision,
                    stateAt: record.stateAt, presentation: presentation, of: engine)
                if writer.count - begin > ListBounds.maximumBytes, place > first {
                    writer.truncate(to: start)
                    next = place
                    break
                }
            }
            writer.endArray()
            writer.field("total", shown.count)
            writer.field("exact", true)
            if next < shown.count { writer.field("next", string: String(next)) }
            writer.endObject()
        }
    }
}
