import IsletCore
import IsletJournal
import IsletProtocol

/// One command: decode, apply, encode the events and the answer.
extension Partition {
    /// - Parameter receivedAt: when it was received, in monotonic milliseconds; its `ttl` runs from then.
    func execute(_ frame: Span<UInt8>, isTooLong: Bool, isIngest: Bool, receivedAt: Milliseconds) -> FrameResult {
        statistics.commands += 1
        if isTooLong {
            if !isIngest, let answer = CommandDecoder.answer(in: frame) { refused(answer, frame) }
            return refuseTooLong(frame)
        }
        do throws(RefusedCommand) {
            try decoder.decode(frame, into: &command)
        } catch {
            let answer = decoder.refusedAnswer
            return decoder.withText(of: frame) { text in
                if let answer, !isIngest { refused(answer, text) }
                return misunderstood(error, text, isIngest: isIngest)
            }
        }
        let name = decoder.name
        return decoder.withText(of: frame) {
            execute(name, $0, original: frame, isIngest: isIngest, receivedAt: receivedAt)
        }
    }

    /// The command in ``command``.
    private func execute(
        _ name: OperationName, _ frame: Span<UInt8>, original: Span<UInt8>, isIngest: Bool, receivedAt: Milliseconds
    ) -> FrameResult {
        let result: FrameResult
        if log.tellsMessages { presentID = logID(command.envelope, frame) }
        if isIngest, name.isOfProvider || name.registersProvider {
            // A plain publisher has no connection on which it could be called.
            return .silent
        }
        if flights.isDiskFull, !name.needsNoJournal {
            result = withoutRoom(name, frame, original: original)
        } else {
            isExpired = command.envelope.ttl.map { now.monotonic - receivedAt > $0 } ?? false
            // What a provider says goes the way of reads, and takes effect: it is not refused afterwards.
            if name.isOfProvider || name.registersProvider { hasChange = true }
            result = name.isChange ? change(name, frame, original: original) : read(command, frame, original: original)
        }
        if log.tellsCommands {
            tell(result, command.envelope, frame)
            presentID = nil
        }
        return isIngest || !command.envelope.wantsAnswer ? .silent : result
    }

    /// Refuses a frame that is too long, by the `req` in its first bytes where that stands there.
    func refuseTooLong(_ beginning: Span<UInt8>) -> FrameResult {
        let envelope = CommandDecoder.envelope(in: beginning)
        let result = refuse(envelope, beginning, .badMessage(.frameTooLong, offset: 0))
        return envelope.wantsAnswer ? result : .silent
    }

    private func misunderstood(_ refused: RefusedCommand, _ frame: Span<UInt8>, isIngest: Bool) -> FrameResult {
        let result = refuse(refused.envelope, frame, refused.refusal)
        if log.tellsCommands { tell(result, refused.envelope, frame) }
        return isIngest || !refused.envelope.wantsAnswer ? .silent : result
    }

    /// A command that changes something: once, however often it is sent.
    private func change(_ name: OperationName, _ frame: Span<UInt8>, original: Span<UInt8>) -> FrameResult {
        hasChange = true
        switch firstTime(command.envelope, frame, original: original) {
        case .settled(let result): return result
        case .first where isExpired: return refuse(command.envelope, frame, .expired)
        case .first(let claim):
            let ignored = statistics.ignored
            let result = applied(name, frame)
            if wasAccepted, statistics.ignored == ignored { statistics.applied += 1 }
            if let claim, let req = command.envelope.req {
                remember(result, claim, req: frame.extracting(req.indices))
            }
            return result
        }
    }

    /// A command while the disk is full: refused, unless it was executed before.
    private func withoutRoom(_ name: OperationName, _ frame: Span<UInt8>, original: Span<UInt8>) -> FrameResult {
        let isRemembered = if case .clockAdvance = name { clock.isManual } else { name.isChange }
        if isRemembered, case .settled(let result) = firstTime(command.envelope, frame, original: original) {
            hasChange = true
            return result
        }
        return refuse(command.envelope, frame, .unavailable(.diskFull))
    }

    private func applied(_ name: OperationName, _ frame: Span<UInt8>) -> FrameResult {
        let id =
            name.makesEntity
            ? EntityID(version7At: now.domain, random: (random.next(), random.next())) : EntityID(high: 0, low: 0)
        switch name.family {
        case .activity: return changeActivity(frame, freshID: id)
        case .control: return changeControl(command, frame, freshID: id)
        case .widget:
            guard case .widget(let operation) = command.operation else { preconditionFailure("no change of a widget") }
            return changeWidget(operation, command.envelope, frame, freshID: id)
        case .group:
            guard case .group(let operation) = command.operation else { preconditionFailure("no change of a group") }
            return changeGroup(operation, command.envelope, frame)
        }
    }

    /// A change of an activity, of settings or of a device.
    private func changeActivity(_ frame: Span<UInt8>, freshID id: EntityID) -> FrameResult {
        let outcome = engine.apply(command, of: frame, at: now.domain, dating: dating, freshID: id)
        let envelope = command.envelope
        encodeEvents(frame, envelope)
        switch outcome {
        case .applied(let activity):
            // The command reached the activity in its own app; only where it names none, the app is looked up again.
            var app = activity.flatMap { engine.app(of: $0) }
            if app == nil { app = command.operation.app.flatMap { engine.apps.find($0, of: frame) } }
            let seq = app.map { engine.apps.seq(of: $0) }
            if case .settingsSet(let set) = command.operation {
                let settings = engine.settings(at: set.address, of: frame)
                return answer { writer in
                    writer.beginAnswer(envelope, frame, ok: true)
                    writer.field("outcome", name: "applied")
                    if let seq { writer.field("seq", seq) }
                    writer.settings(settings)
                    writer.endObject()
                }
            }
            return answerFromEngine { writer, engine in
                writer.applied(envelope, frame, seq: seq, activity: activity, of: engine)
            }
        case .ignored(let activity, let reason):
            statistics.ignored += 1
            return answerFromEngine { writer, engine in
                let seq = engine.app(of: activity).map { engine.apps.seq(of: $0) } ?? 0
                writer.ignored(envelope, frame, reason, seq: seq, activity: activity, of: engine)
            }
        case .refused(let refusal):
            return refuse(envelope, frame, refusal)
        case .found:
            preconditionFailure("a change does not find")
        }
    }

    /// Writes an answer frame.
    func answer(_ write: (inout JSONWriter) -> Void) -> FrameResult {
        wasAccepted = true
        let start = outbound.beginFrame()
        write(&outbound.writer)
        return bounded(from: start)
    }

    /// Writes an answer frame that shows something of the engine.
    func answerFromEngine(_ write: (inout JSONWriter, borrowing Engine) -> Void) -> FrameResult {
        wasAccepted = true
        let start = outbound.beginFrame()
        write(&outbound.writer, engine)
        return bounded(from: start)
    }

    /// The answer that was written since `start`, or the refusal that stands in its place because it is too large.
    @inline(__always)
    private func bounded(from start: Int) -> FrameResult {
        if !outbound.boundAnswer(from: start, ofMessageFrom: messageStart) {
            statistics.refused += 1
            wasAccepted = false
        }
        return .answered(start..<outbound.writer.count)
    }

    func refuse(_ envelope: Envelope, _ frame: Span<UInt8>, _ refusal: Refusal) -> FrameResult {
        statistics.refused += 1
        let result = answer { $0.refused(envelope, frame, refusal) }
        wasAccepted = false
        return result
    }

    /// Encodes what the engine did since the last time: into the batch, for the journal, the streams and replays.
    ///
    /// - Parameters:
    ///   - frame: the frame of the present command.
    ///   - envelope: its envelope; nil where no command made the events.
    func encodeEvents(_ frame: Span<UInt8>, _ envelope: Envelope?) {
        encodeNotes()
        guard engine.hasEvents else { return }
        // All families of one app are one stream.
        var others = EventOrder()
        for index in engine.events.indices {
            encodeOthers(&others, before: index, frame, envelope)
            let event = engine.events[index]
            eventWriter.removeAll()
            eventWriter.topic(of: event.id, kind: event.kind, in: engine)
            let topicCount = eventWriter.count
            eventWriter.beginDocument()
            eventWriter.event(event, epoch: epoch, frame: frame, envelope: envelope, of: engine)
            image.removeAll()
            if isDurable { image.image(of: event, in: engine) }
            append(
                app: event.app, seq: event.seq, previous: event.previous, at: event.at, entity: event.id,
                revision: event.revision, topicCount: topicCount)
            countLateness(event.lateBy)
        }
        encodeOthers(&others, before: .max, frame, envelope)
        engine.releaseEvents()
    }

    /// How many events of the other families were encoded.
    private struct EventOrder {
        var controls = 0
        var widgets = 0
        var groups = 0

        /// How many events of all families come before the next activity's.
        func position(_ activities: Int) -> Int { activities + controls + widgets + groups }
    }

    /// Encodes what other families did before an activity's event, in order.
    private func encodeOthers(_ order: inout EventOrder, before index: Int, _ frame: Span<UInt8>, _ envelope: Envelope?) {
        while true {
            let position = order.position(min(index, engine.events.count))
            if order.controls < engine.controls.events.count,
                engine.controls.events[order.controls].position <= position
            {
                encode(engine.controls.events[order.controls], frame, envelope)
                order.controls += 1
            } else if order.widgets < engine.widgets.events.count,
                engine.widgets.events[order.widgets].position <= position
            {
                encode(engine.widgets.events[order.widgets], frame, envelope)
                order.widgets += 1
            } else if order.groups < engine.groups.events.count,
                engine.groups.events[order.groups].position <= position
            {
                encode(engine.groups.events[order.groups], frame, envelope)
                order.groups += 1
            } else {
                return
            }
        }
    }

    private func encode(_ event: ControlEvent, _ frame: Span<UInt8>, _ envelope: Envelope?) {
        eventWriter.removeAll()
        eventWriter.topic(ofControl: event.id, kind: event.kind, in: engine)
        let topicCount = eventWriter.count
        eventWriter.beginDocument()
        eventWriter.event(event, epoch: epoch, frame: frame, envelope: envelope, of: engine)
        image.removeAll()
        if isDurable { image.image(of: event, in: engine) }
        append(
            app: event.app, seq: event.seq, previous: event.previous, at: event.at, entity: event.id,
            revision: event.revision, topicCount: topicCount)
        countLateness(event.lateBy)
    }

    /// Counts how late a deadline took effect. Real time is what a service loses where it is slow; domain time may run
    /// faster, and lateness with it.
    @inline(__always)
    func countLateness(_ lateBy: Milliseconds?) {
        guard let lateBy else { return }
        statistics.lateness.record(Int(clock.realTime(of: lateBy)), at: now.monotonic)
    }

    /// Puts the event in the writer into the batch and the ring.
    @inline(__always)
    func append(
        app: AppID, seq: UInt64, previous: UInt64, at: Instant, entity: EntityID, revision: UInt32, topicCount: Int
    ) {
        // An app's name is told once in a batch. To hold it for each event cost 3 % of this thread's time: the atomic counts of
        // its holders wait until all stores before them are done.
        if !batch.hasRow(of: app) { batch.addRow(of: app, app: engine.apps.name(of: app).span, firstSeq: seq) }
        eventWriter.withSpan { bytes in
            let topic = bytes.extracting(0..<topicCount)
            let json = bytes.extracting(topicCount..<bytes.count)
            image.withSpan { image in
                batch.append(
                    stream: app, seq: seq, previous: previous, at: at.milliseconds, topic: topic, json: json, image: image)
            }
            // At once and not at the commit: a history in the same message shows what the commands before it did.
            // Like every other read, it leaves with the batch.
            ring.append(
                app: app, seq: seq, previous: previous, entity: entity, revision: revision, topic: topic, json: json)
        }
        watermarks.changed(app, at: now.monotonic)
        statistics.events += 1
        if log.tellsMessages {
            eventWriter.withSpan { tellEvent(topic: $0.extracting(0..<topicCount), seq: seq) }
        }
    }
}

extension Operation {
    /// The app whose stream it is about, where it has one.
    var app: FrameRange? {
        switch self {
        case .activityStart(let start): start.app
        case .activityUpdate(let update): update.address.app
        case .activityEnd(let end): end.address.app
        case .activityDismiss(let dismiss): dismiss.address.app
        case .activityRenew(let renew): renew.address.app
        case .activityTap(let tap): tap.address.app
        case .widget(let operation): operation.app
        case .group(let operation): operation.address.app
        case .activityHeartbeat(let address), .activityGet(let address), .activityHistory(let address),
            .activityExplain(let address):
            address.app
        case .activityList(let list): list.app
        case .controlAdd(let add): add.app
        case .controlConfigure(let configure): configure.address.app
        case .controlRemove(let address), .controlTap(let address), .controlHistory(let address),
            .controlExplain(let address):
            address.app
        case .controlSet(let set): set.address.app
        case .controlReload(.one(let address)): address.app
        case .controlReload(.kind(let kind)): kind.app
        case .controlReload(.all(let app)): app
        case .controlKinds(let list): list.app
        case .controlGet(let get): get.address.app
        case .controlList(let list): list.app
        case .controlPreview(let kind): kind.app
        case .controlOptions(let options): options.address.app
        case .providerRegister(let register): register.app
        case .settingsSet(let set): set.address.app
        case .settingsGet(let address): address.app
        case .bulkSnapshot(let snapshot): snapshot.app
        case .bulkReplay(let replay): replay.app
        case .bulkDigest(let digest): digest.app
        case .providerAnswer, .providerFail, .providerPong, .providerDrain, .providerLeave, .providerList, .deviceEvent,
            .clockAdvance, .serviceInfo, .servicePing, .serviceBackup, .inspection, .streamApplied, .bulkCredit,
            .bulkCancel:
            nil
        }
    }
}
