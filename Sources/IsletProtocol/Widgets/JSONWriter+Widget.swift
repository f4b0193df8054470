package import IsletCore

extension JSONWriter {
    /// The topic of a widget: `<app>/widget/<kind>/<id>`.
    package mutating func topic(ofWidget id: EntityID, kind: DeclaredKindID, in engine: borrowing Engine) {
        let prefix = engine.widgets.kinds[kind].topicPrefix
        appendTopic(prefix: prefix.span, id)
    }

    /// A whole widget, as `get`, `list`, snapshots and the event of its adding show it; what is not set is absent.
    ///
    /// - Parameters:
    ///   - machine: the machine to show, which may be an earlier one than the record's.
    ///   - stateAt: since when it is in its state, which reads alone show; `never`: it is not shown.
    package mutating func widget(
        _ record: WidgetRecord, machine: WidgetMachine, revision: UInt32, stateAt: Instant = .never,
        of engine: borrowing Engine
    ) {
        let kind = engine.widgets.kinds[record.kind]
        beginObject()
        field("id", record.id)
        field("app", plain: engine.apps[kind.app].name.span)
        field("kind", plain: kind.name.span)
        field("family", name: record.family.wireName)
        if let device = record.device { field("device", plain: engine.devices.name(device).span) }
        field("state", name: machine.state.wireName)
        if stateAt.isSet { field("stateAt", stateAt) }
        field("revision", revision)
        object("configuration", record.configuration, of: engine)
        object("rendering", record.rendering, of: engine)
        if machine.hasEntry { entry(record, of: engine) }
        if let index = machine.entryIndex { field("entryIndex", index) }
        if machine.timelineAt.isSet {
            field("entries", machine.entryCount)
            policy(machine.policy)
            field("timelineAt", machine.timelineAt)
        }
        if machine.needsLogin { field("needsLogin", true) }
        if machine.isInvalidated { field("isInvalidated", true) }
        if machine.isOnTop { field("isOnTop", true) }
        if machine.failure != .none { field("failure", name: machine.failure.wireName) }
        failureReason(record.failureReason, of: engine)
        if let hold = machine.hold { held(hold) }
        field("addedAt", record.addedAt)
        field("cause", name: machine.cause.wireName)
        next(of: machine)
        endObject()
    }

    /// The short form, as answers to changes show it.
    package mutating func shortWidget(_ record: WidgetRecord) {
        beginObject()
        field("id", record.id)
        field("revision", record.revision)
        field("state", name: record.machine.state.wireName)
        if let hold = record.machine.hold { held(hold) }
        next(of: record.machine)
        endObject()
    }

    // MARK: Members

    /// A member that is a JSON object of somebody else's, absent where it has no bytes.
    mutating func object(_ name: StaticString, _ handle: PayloadHandle, of engine: borrowing Engine) {
        engine.withBytes(of: handle) { bytes in
            if bytes.count > 0 { field(name, rawBytes: bytes, 0..<bytes.count) }
        }
    }

    /// The entry that it shows, or that it showed with an event.
    mutating func entry(_ record: WidgetRecord, of engine: borrowing Engine) {
        engine.withEntry(of: record) { entry($0) }
    }

    mutating func entry(of event: WidgetEvent, in engine: borrowing Engine) {
        engine.withEntry(of: event) { entry($0) }
    }

    private mutating func entry(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count > 0 { field("entry", rawBytes: bytes, 0..<bytes.count) }
    }

    mutating func policy(_ policy: TimelineReloadPolicy) {
        switch policy {
        case .atEnd: field("policy", name: "atEnd")
        case .never: field("policy", name: "never")
        case .after(let date):
            key("policy")
            beginObject()
            field("after", date)
            endObject()
        }
    }

    /// - Parameter isWhole: whether it also says how many requests it stands for. A request that becomes one with it makes
    ///   no event, so entities, which replicas hold as well, do not show that.
    mutating func held(_ hold: WidgetMachine.Hold, isWhole: Bool = false) {
        key("held")
        beginObject()
        field("until", hold.until)
        field("reason", name: hold.reason.wireName)
        field("cause", name: hold.cause.wireName)
        if isWhole { field("merged", hold.merged) }
        endObject()
    }

    mutating func next(of machine: WidgetMachine) {
        let next = machine.next
        guard next.at.isSet else { return }
        key("next")
        beginObject()
        field("at", next.at)
        field("cause", name: next.cause.wireName)
        endObject()
    }
}
