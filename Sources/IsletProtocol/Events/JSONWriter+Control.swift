package import IsletCore

extension JSONWriter {
    /// The topic of a control: `<app>/control/<kind>/<id>`.
    package mutating func topic(ofControl id: EntityID, kind: ControlKindID, in engine: borrowing Engine) {
        let prefix = engine.controls.kinds[kind].topicPrefix
        appendTopic(prefix: prefix.span, id)
    }

    /// A whole control, as `get`, `list`, snapshots and the event of its adding show it; what is not set is absent.
    ///
    /// - Parameters:
    ///   - machine: the machine to show, which may be an earlier one than the record's.
    ///   - stateAt: since when it is in its state, which reads alone show; `never`: it is not shown.
    ///   - isOfStream: whether it is what the events up to this revision say, as in a snapshot. Else it is hidden from the
    ///     moment at which its device is locked, though the event that says so comes a little later on a crowded one.
    package mutating func control(
        _ record: ControlRecord, machine: ControlMachine, revision: UInt32, stateAt: Instant = .never,
        isOfStream: Bool = false, of engine: borrowing Engine
    ) {
        let kind = engine.controls.kinds[record.kind]
        let isRedacted = machine.isRedacted || !isOfStream && engine.hides(record)
        beginObject()
        field("id", record.id)
        field("app", plain: engine.apps[kind.app].name.span)
        field("kind", plain: kind.name.span)
        if let device = record.device { field("device", plain: engine.devices.name(device).span) }
        field("template", name: machine.template.wireName)
        field("state", name: machine.state.wireName)
        if stateAt.isSet { field("stateAt", stateAt) }
        field("revision", revision)
        if !isRedacted { content(record, machine, of: engine) }
        if machine.valueAt.isSet { field("valueAt", machine.valueAt) }
        field("isDisabled", machine.isDisabled)
        field("isRedacted", isRedacted)
        if machine.failure != .none { field("failure", name: machine.failure.wireName) }
        if !isRedacted { failureReason(record.failureReason, of: engine) }
        field("addedAt", record.addedAt)
        field("cause", name: machine.cause.wireName)
        next(of: machine)
        endObject()
    }

    /// What is hidden while the device is locked, where the kind is sensitive.
    private mutating func content(_ record: ControlRecord, _ machine: ControlMachine, of engine: borrowing Engine) {
        engine.withBytes(of: record.configuration) { bytes in
            if bytes.count > 0 { field("configuration", rawBytes: bytes, 0..<bytes.count) }
        }
        value(record, machine, of: engine)
        field("valueSource", name: machine.source.wireName)
        if let isActive = record.isActive { field("isActive", isActive) }
        engine.withBytes(of: record.texts) { bytes in
            for (name, range) in Self.texts(of: record) where !range.isEmpty { field(name, rawBytes: bytes, range) }
        }
    }

    /// What the provider of the control or widget at a place said of the call that it failed, as that shows it at present.
    package mutating func failureReason(of place: EntityPlace, in engine: borrowing Engine) {
        switch place.family {
        case .control:
            guard let record = engine.controls.record(at: place.slot) else { return }
            failureReason(engine.shownFailureReason(of: record), of: engine)
        case .widget:
            guard let record = engine.widgets.record(at: place.slot) else { return }
            failureReason(record.failureReason, of: engine)
        case .activity, .group: return
        }
    }

    /// What its provider said of the call that it failed, absent where it said nothing.
    mutating func failureReason(_ handle: PayloadHandle, of engine: borrowing Engine) {
        engine.withBytes(of: handle) { bytes in
            if bytes.count > 0 { field("failureReason", rawBytes: bytes, 0..<bytes.count) }
        }
    }

    /// The same as a patch tells it.
    mutating func changedFailureReason(_ handle: PayloadHandle, of engine: borrowing Engine) {
        if handle.count > 0 { failureReason(handle, of: engine) } else { cleared("failureReason") }
    }

    private static func texts(of record: ControlRecord) -> [(StaticString, Range<Int>)] {
        let counts = record.textCounts
        return [
            ("status", counts.statusRange), ("tint", counts.tintRange), ("actionHint", counts.actionHintRange),
        ]
    }

    /// A toggle's is what it shows. A button's is the provider's, or the preview that it was placed with; it may have
    /// none.
    private mutating func value(_ record: ControlRecord, _ machine: ControlMachine, of engine: borrowing Engine) {
        switch machine.template {
        case .toggle: field("value", machine.isOn)
        case .button:
            engine.withBytes(of: record.value) { bytes in
                if bytes.count > 0 { field("value", rawBytes: bytes, 0..<bytes.count) }
            }
        }
    }

    private mutating func next(of machine: ControlMachine) {
        let next = machine.next
        guard next.at.isSet else { return }
        key("next")
        beginObject()
        field("at", next.at)
        field("cause", name: next.cause.wireName)
        endObject()
    }

    /// The short form, as answers to changes show it.
    package mutating func shortControl(_ record: ControlRecord) {
        beginObject()
        field("id", record.id)
        field("revision", record.revision)
        field("state", name: record.machine.state.wireName)
        next(of: record.machine)
        endObject()
    }

    // MARK: Events

    /// The JSON of an event.
    ///
    /// - Parameters:
    ///   - epoch: the epoch of the app's stream.
    ///   - frame: the frame of the command that made it, whose `req` it may carry.
    ///   - envelope: that command's; nil for what no command made.
    package mutating func event(
        _ event: ControlEvent, epoch: [UInt8], frame: Span<UInt8>, envelope: Envelope?, of engine: borrowing Engine
    ) {
        guard let record = engine.controls.record(at: event.slot) else {
            preconditionFailure("an event of a freed slot")
        }
        beginObject()
        eventHead(
            epoch: epoch, seq: event.seq, at: event.at, name: event.name.wireName,
            from: event.before?.state.wireName, to: event.after.state.wireName, cause: event.after.cause.wireName)
        if event.isByCommand, let envelope { by(envelope, frame) }
        if let lateBy = event.lateBy { field("lateBy", lateBy) }
        // A locked device does not tell what is opened, as it tells nothing else that is sensitive.
        if let url = event.url, !event.after.isRedacted {
            let kind = engine.controls.kinds[event.kind].name
            key("interaction")
            beginObject()
            field("kind", plain: kind.span)
            field("url", raw: engine.controls.interactionBytes.span.extracting(url.indices))
            endObject()
        }
        key("control")
        if let before = event.before {
            patch(event, before, record, of: engine)
        } else {
            control(record, machine: event.after, revision: event.revision, isOfStream: true, of: engine)
        }
        endObject()
    }

    /// The merge patch from the control before to the control after.
    private mutating func patch(
        _ event: ControlEvent, _ before: ControlMachine, _ record: ControlRecord, of engine: borrowing Engine
    ) {
        let after = event.after
        let isHidden = after.isRedacted
        beginObject()
        field("id", event.id)
        if before.state != after.state { field("state", name: after.state.wireName) }
        field("revision", event.revision)
        if before.isRedacted != isHidden {
            if isHidden { hidden() } else { content(record, after, of: engine) }
            field("isRedacted", isHidden)
        } else if !isHidden {
            contentPatch(event, before, record, of: engine)
        }
        if before.valueAt != after.valueAt {
            if after.valueAt.isSet { field("valueAt", after.valueAt) } else { cleared("valueAt") }
        }
        if before.isDisabled != after.isDisabled { field("isDisabled", after.isDisabled) }
        if before.failure != after.failure {
            if after.failure == .none { cleared("failure") } else { field("failure", name: after.failure.wireName) }
        }
        if !isHidden, before.isRedacted {
            failureReason(event.failureReason, of: engine)
        } else if !isHidden, event.changes.failureReason {
            changedFailureReason(event.failureReason, of: engine)
        }
        if before.cause != after.cause { field("cause", name: after.cause.wireName) }
        if before.next != after.next {
            if after.next.at.isSet { next(of: after) } else if before.next.at.isSet { cleared("next") }
        }
        endObject()
    }

    private mutating func contentPatch(
        _ event: ControlEvent, _ before: ControlMachine, _ record: ControlRecord, of engine: borrowing Engine
    ) {
        let after = event.after
        if event.changes.configuration {
            engine.withBytes(of: record.configuration) { bytes in
                field("configuration", rawBytes: bytes, 0..<bytes.count)
            }
        }
        let isKnownAnew = before.isValueKnown != after.isValueKnown
        switch after.template {
        case .toggle: if before.isOn != after.isOn { value(record, after, of: engine) }
        case .button:
            if event.changes.value || isKnownAnew {
                let start = count
                value(record, after, of: engine)
                if count == start { cleared("value") }
            }
        }
        if before.source != after.source { field("valueSource", name: after.source.wireName) }
        guard event.changes.look else { return }
        if let isActive = record.isActive { field("isActive", isActive) } else { cleared("isActive") }
        engine.withBytes(of: record.texts) { bytes in
            for (name, range) in Self.texts(of: record) {
                if range.isEmpty { cleared(name) } else { field(name, rawBytes: bytes, range) }
            }
        }
    }

    /// What a locked device does not show.
    private mutating func hidden() {
        for name in Self.contentMembers { cleared(name) }
    }

    private static let contentMembers: [StaticString] = [
        "configuration", "value", "valueSource", "isActive", "status", "tint", "actionHint", "failureReason",
    ]

    /// A member that is not the first of its object: with the comma and the quote before its name.
    private static func withComma(_ member: JSONField) -> Range<Int> {
        Int(member.name.range.offset) - 2..<member.value.range.indices.upperBound
    }

    /// An event of a control's past as `control.history` shows it while the control is redacted: without what it told of
    /// the content.
    package mutating func redacted(event json: Span<UInt8>) {
        var hidden: [Range<Int>] = []
        do {
            // What an action opens stands before the control, as it is written.
            try JSONScanner.scanObject(json) { member in
                if member.name.equals("interaction", in: json) { hidden.append(Self.withComma(member)) }
            }
            try JSONScanner.scanObject(json, under: "control") { member in
                guard member.value.kind != .null,
                    Self.contentMembers.contains(where: { member.name.equals($0, in: json) })
                else { return }
                hidden.append(Self.withComma(member))
            }
        } catch {
            // Damaged where it is stored: what it tells of the content cannot be told apart.
            return
        }
        var kept: [UInt8] = []
        kept.reserveCapacity(json.count)
        var place = 0
        for range in hidden {
            kept.append(contentsOf: json.bytes(FrameRange(place..<range.lowerBound)))
            place = range.upperBound
        }
        kept.append(contentsOf: json.bytes(FrameRange(place..<json.count)))
        raw(kept.span)
    }
}
