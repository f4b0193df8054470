package import IsletCore

extension JSONWriter {
    /// The JSON of an event.
    ///
    /// - Parameters:
    ///   - epoch: the epoch of the app's stream.
    ///   - frame: the frame of the command that made it, whose `req` it may carry.
    ///   - envelope: that command's; nil for what no command made.
    package mutating func event(
        _ event: WidgetEvent, epoch: [UInt8], frame: Span<UInt8>, envelope: Envelope?, of engine: borrowing Engine
    ) {
        guard let record = engine.widgets.record(at: event.slot) else {
            preconditionFailure("an event of a freed slot")
        }
        beginObject()
        eventHead(
            epoch: epoch, seq: event.seq, at: event.at, name: event.name.wireName,
            from: event.before?.state.wireName, to: event.after.state.wireName, cause: event.after.cause.wireName)
        if event.isByCommand, let envelope { by(envelope, frame) }
        if let lateBy = event.lateBy { field("lateBy", lateBy) }
        if let exemption = event.exemption { field("exempt", name: exemption.wireName) }
        rules(event.changes)
        if let interaction = event.interaction { self.interaction(interaction, record, of: engine) }
        key("widget")
        if let before = event.before {
            patch(event, before, record, of: engine)
        } else {
            widget(record, machine: event.after, revision: event.revision, of: engine)
        }
        endObject()
    }

    /// What was done to the entries of a timeline that came, by the rules' names.
    private mutating func rules(_ changes: WidgetEvent.Changes) {
        guard changes.pastEntriesDropped || changes.entriesCoalesced else { return }
        key("rules")
        beginArray()
        if changes.pastEntriesDropped { string("pastEntriesDropped") }
        if changes.entriesCoalesced { string("entriesCoalesced") }
        endArray()
    }

    /// What a person did, so that it can be counted without the entity.
    private mutating func interaction(
        _ interaction: WidgetEvent.Interaction, _ record: WidgetRecord, of engine: borrowing Engine
    ) {
        let kind = engine.widgets.kinds[record.kind].name
        let bytes = engine.widgets.interactionBytes
        key("interaction")
        beginObject()
        field("kind", plain: kind.span)
        field("family", name: record.family.wireName)
        object("configuration", record.configuration, of: engine)
        if let url = interaction.url { field("url", raw: bytes.span.extracting(url.indices)) }
        if let link = interaction.link { field("link", plain: bytes.span.extracting(link.indices)) }
        if let action = interaction.action { field("action", plain: bytes.span.extracting(action.indices)) }
        if let parameters = interaction.parameters {
            field("parameters", raw: bytes.span.extracting(parameters.indices))
        }
        endObject()
    }

    /// The merge patch from the widget before to the widget after: changed members only, `null` where one was cleared.
    private mutating func patch(
        _ event: WidgetEvent, _ before: WidgetMachine, _ record: WidgetRecord, of engine: borrowing Engine
    ) {
        let after = event.after
        beginObject()
        field("id", event.id)
        if before.state != after.state { field("state", name: after.state.wireName) }
        field("revision", event.revision)
        if event.changes.configuration { changed("configuration", record.configuration, of: engine) }
        if event.changes.rendering { changed("rendering", record.rendering, of: engine) }
        timelinePatch(event, before, record, of: engine)
        flag("needsLogin", from: before.needsLogin, to: after.needsLogin)
        flag("isInvalidated", from: before.isInvalidated, to: after.isInvalidated)
        flag("isOnTop", from: before.isOnTop, to: after.isOnTop)
        if before.failure != after.failure {
            if after.failure == .none { cleared("failure") } else { field("failure", name: after.failure.wireName) }
        }
        if event.changes.failureReason { changedFailureReason(event.failureReason, of: engine) }
        if let hold = after.hold {
            if before.hold != hold { held(hold) }
        } else if before.hold != nil {
            cleared("held")
        }
        if before.cause != after.cause { field("cause", name: after.cause.wireName) }
        if before.next != after.next {
            if after.next.at.isSet { next(of: after) } else if before.next.at.isSet { cleared("next") }
        }
        endObject()
    }

    private mutating func timelinePatch(
        _ event: WidgetEvent, _ before: WidgetMachine, _ record: WidgetRecord, of engine: borrowing Engine
    ) {
        let after = event.after
        if after.hasEntry {
            // Another entry may be shown by now.
            if event.changes.entry || !before.hasEntry { entry(of: event, in: engine) }
        } else if before.hasEntry {
            cleared("entry")
        }
        if before.entryIndex != after.entryIndex {
            if let index = after.entryIndex { field("entryIndex", index) } else { cleared("entryIndex") }
        }
        guard after.timelineAt.isSet else {
            if before.timelineAt.isSet {
                for name: StaticString in ["entries", "policy", "timelineAt"] { cleared(name) }
            }
            return
        }
        let isFirst = !before.timelineAt.isSet
        if isFirst || before.entryCount != after.entryCount { field("entries", after.entryCount) }
        if isFirst || before.policy != after.policy { policy(after.policy) }
        if before.timelineAt != after.timelineAt { field("timelineAt", after.timelineAt) }
    }

    private mutating func changed(_ name: StaticString, _ handle: PayloadHandle, of engine: borrowing Engine) {
        let start = count
        object(name, handle, of: engine)
        if count == start { cleared(name) }
    }

    /// A member that stands only where it is true.
    private mutating func flag(_ name: StaticString, from before: Bool, to after: Bool) {
        guard before != after else { return }
        if after { field(name, true) } else { cleared(name) }
    }
}
