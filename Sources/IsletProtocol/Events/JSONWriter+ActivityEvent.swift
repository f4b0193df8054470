package import IsletCore

extension JSONWriter {
    /// The topic of an activity: `<app>/activity/<type>/<id>`.
    package mutating func topic(of id: EntityID, kind: KindID, in engine: borrowing Engine) {
        let prefix = engine.apps.kinds[Int(kind)].topicPrefix
        appendTopic(prefix: prefix.span, id)
    }

    /// The JSON of an event.
    ///
    /// - Parameters:
    ///   - epoch: the epoch of the app's stream.
    ///   - frame: the frame of the command that made it, whose alert and `req` it may carry.
    ///   - envelope: that command's; nil for what no command made.
    package mutating func event(
        _ event: ActivityEvent, epoch: [UInt8], frame: Span<UInt8>, envelope: Envelope?, of engine: borrowing Engine
    ) {
        guard let record = engine.record(at: event.slot) else { preconditionFailure("an event of a freed slot") }
        beginObject()
        eventHead(
            epoch: epoch, seq: event.seq, at: event.at, name: event.name.wireName,
            from: event.before?.state.wireName, to: event.after.state.wireName, cause: event.cause.wireName)
        if event.isByCommand, let envelope { by(envelope, frame) }
        if let lateBy = event.lateBy { field("lateBy", lateBy) }
        switch event.alert {
        case .none: break
        case .inFrame(let range): field("alert", raw: frame.extracting(range.indices))
        case .stored: engine.withBytes(of: record.cold) { field("alert", rawBytes: $0, record.alertRange) }
        }
        switch event.name {
        case .tapped: interaction(event, of: engine)
        case .started, .scheduled, .updated, .stale, .ended, .dismissed: break
        }
        key("activity")
        if let before = event.before {
            patch(event, before, record, of: engine)
        } else {
            activity(record, at: event.slot, machine: event.after, revision: event.revision, of: engine)
        }
        endObject()
    }

    /// What a tap opens, so that it can be counted without the entity.
    private mutating func interaction(_ event: ActivityEvent, of engine: borrowing Engine) {
        let type = engine.apps.kinds[Int(event.kind)].type
        key("interaction")
        beginObject()
        field("type", plain: type.span)
        if let url = event.url { field("url", raw: engine.interactionBytes.span.extracting(url.indices)) }
        endObject()
    }

    /// The members that every event begins with.
    @inline(__always)
    mutating func eventHead(
        epoch: [UInt8], seq: UInt64, at: Instant, name: StaticString, from: StaticString?, to: StaticString,
        cause: StaticString
    ) {
        field("epoch", plain: epoch.span)
        field("seq", seq)
        field("at", at)
        field("event", name: name)
        if let from { field("from", name: from) }
        field("to", name: to)
        field("cause", name: cause)
    }

    mutating func by(_ envelope: Envelope, _ frame: Span<UInt8>) {
        guard envelope.client != nil || envelope.req != nil else { return }
        key("by")
        beginObject()
        if let client = envelope.client { field("client", client) }
        if let req = envelope.req { field("req", plain: frame.extracting(req.indices)) }
        endObject()
    }

    /// The merge patch from the entity before to the entity after: changed members only, `null` where one was cleared.
    private mutating func patch(
        _ event: ActivityEvent, _ before: ActivityMachine, _ record: ActivityRecord, of engine: borrowing Engine
    ) {
        let after = event.after
        beginObject()
        field("id", event.id)
        if before.state != after.state { field("state", name: after.state.wireName) }
        field("revision", event.revision)
        if event.contentChanged { contentState(record, of: engine) }
        changed("staleDate", from: before.staleDate, to: after.staleDate)
        if event.relevanceChanged { field("relevanceScore", engine.relevanceScore(of: event.slot, record)) }
        changed("startedAt", from: before.shownStartedAt, to: after.shownStartedAt)
        changed("endedAt", from: before.endedAt, to: after.endedAt)
        changed("dismissAt", from: before.dismissAt, to: after.dismissAt)
        // They follow from the rules, and who follows may have those of the rules before this start.
        let hasRulesOfThisRun = event.previous > engine.apps.seqAtStart(of: event.app)
        let expiry = engine.expiry(of: after)
        if !hasRulesOfThisRun, expiry.isSet {
            field("expiresAt", expiry)
        } else {
            changed("expiresAt", from: engine.expiry(of: before), to: expiry)
        }
        changed("timestamp", from: before.timestamp, to: after.timestamp)
        if before.cause != after.cause { field("cause", name: after.cause.wireName) }
        // A sign of life moves the next deadline without an event, so who follows may have an older one.
        let hearsSigns = engine.rules.heartbeatStaleAfter != nil || engine.rules.heartbeatEndAfter != nil
        patchNext(engine.next(of: before), engine.next(of: after), isSurelyKnown: !hearsSigns && hasRulesOfThisRun)
        if event.renewalChanged, let renewedBy = engine.renewal(of: event.slot, record).renewedBy {
            field("renewedBy", renewedBy)
        }
        endObject()
    }

    private mutating func changed(_ name: StaticString, from before: Instant, to after: Instant) {
        guard before != after else { return }
        if after.isSet {
            field(name, after)
        } else {
            key(name)
            null()
        }
    }

    private mutating func patchNext(
        _ before: (at: Instant, cause: Cause)?, _ after: (at: Instant, cause: Cause)?, isSurelyKnown: Bool
    ) {
        if let after {
            if isSurelyKnown, let before, before == after { return }
            next(after)
        } else if before != nil {
            key("next")
            null()
        }
    }
}
