package import IsletCore

extension JSONWriter {
    /// A whole activity, as `get`, `list`, snapshots and the event of a start show it; what is not set is absent.
    ///
    /// - Parameters:
    ///   - machine: the machine to show, which may be an earlier one than the record's.
    ///   - stateAt: since when it is in its state, which reads alone show; `never`: it is not shown.
    ///   - presentation: how its device shows it, for a list in the order of presentation.
    package mutating func activity(
        _ record: ActivityRecord, at slot: Slot, machine: ActivityMachine, revision: UInt32,
        stateAt: Instant = .never, presentation: Presentation? = nil, of engine: borrowing Engine
    ) {
        let kind = engine.apps.kinds[Int(record.kind)]
        let links = engine.renewal(of: slot, record)
        beginObject()
        field("id", record.id)
        field("app", plain: engine.apps.name(of: kind.app))
        field("type", plain: kind.type.span)
        engine.withBytes(of: record.cold) { cold in
            if record.keyCount > 0 { field("key", plainBytes: cold, record.keyRange) }
        }
        if let device = record.device { field("device", plain: engine.devices.name(device).span) }
        field("state", name: machine.state.wireName)
        date("stateAt", stateAt)
        field("revision", revision)
        engine.withBytes(of: record.cold) { cold in
            if record.attributesCount > 0 { field("attributes", rawBytes: cold, record.attributesRange) }
        }
        contentState(record, of: engine)
        date("staleDate", machine.staleDate)
        field("relevanceScore", engine.relevanceScore(of: slot, record))
        field("style", name: machine.style.wireName)
        engine.withBytes(of: record.cold) { cold in
            if !record.pushTypeRange.isEmpty { field("pushType", rawBytes: cold, record.pushTypeRange) }
        }
        date("startDate", machine.shownStartDate)
        date("startedAt", machine.shownStartedAt)
        date("endedAt", machine.endedAt)
        date("dismissAt", machine.dismissAt)
        date("expiresAt", engine.expiry(of: machine))
        field("timestamp", machine.timestamp)
        field("cause", name: machine.cause.wireName)
        if let next = engine.next(of: machine) { self.next(next) }
        if let renews = links.renews { field("renews", renews) }
        if let renewedBy = links.renewedBy { field("renewedBy", renewedBy) }
        if let presentation { self.presentation(presentation) }
        endObject()
    }

    /// The short form, as answers to changes show it.
    package mutating func shortActivity(_ record: ActivityRecord, at slot: Slot, of engine: borrowing Engine) {
        beginObject()
        field("id", record.id)
        field("revision", record.revision)
        field("state", name: record.state.wireName)
        if let next = engine.next(of: record.machine) { self.next(next) }
        if let renews = engine.renewal(of: slot, record).renews { field("renews", renews) }
        endObject()
    }

    /// A date that is absent where it is not set.
    private mutating func date(_ name: StaticString, _ date: Instant) {
        if date.isSet { field(name, date) }
    }

    mutating func contentState(_ record: ActivityRecord, of engine: borrowing Engine) {
        engine.withBytes(of: record.content) { content in
            if content.count > 0 { field("contentState", rawBytes: content, 0..<content.count) }
        }
    }

    mutating func next(_ next: (at: Instant, cause: Cause)) {
        key("next")
        beginObject()
        field("at", next.at)
        field("cause", name: next.cause.wireName)
        endObject()
    }

    private mutating func presentation(_ presentation: Presentation) {
        key("presentation")
        beginObject()
        if let place = presentation.lockScreen { field("lockScreen", place) }
        if let island = presentation.dynamicIsland { field("dynamicIsland", name: island.wireName) }
        endObject()
    }

    mutating func field(_ name: StaticString, rawBytes bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        field(name, raw: UnsafeRawBufferPointer(rebasing: bytes[range]).assumingMemoryBound(to: UInt8.self).span)
    }

    mutating func field(_ name: StaticString, plainBytes bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        field(name, plain: UnsafeRawBufferPointer(rebasing: bytes[range]).assumingMemoryBound(to: UInt8.self).span)
    }
}

extension ActivityMachine {
    /// `startDate` of the contract: only a scheduled one has it.
    var shownStartDate: Instant { isScheduled ? startedAt : .never }
    /// `startedAt` of the contract: absent before the start.
    var shownStartedAt: Instant {
        state == .pending || state == .dismissed && !endedAt.isSet ? .never : startedAt
    }
}
