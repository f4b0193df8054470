package import IsletCore

extension GroupEvent.Name {
    package var wireName: StaticString {
        switch self {
        case .set: "group.set"
        case .deleted: "group.deleted"
        case .notified: "group.notified"
        }
    }
}

extension JSONWriter {
    private static var present: StaticString { "present" }
    private static var removed: StaticString { "removed" }

    // MARK: Topics

    /// The topic of a key: `<owner>/group/<name>/<key>`.
    package mutating func topic(of record: GroupItem, in engine: borrowing Engine) {
        let prefix = engine.groups[record.group].topicPrefix
        plainBytes(prefix.span)
        engine.withBytes(of: record.key) { append($0) }
    }

    /// The topic of an event; a notification's ends in `~`, which no key is.
    package mutating func topic(of event: GroupEvent, in engine: borrowing Engine) {
        if let slot = event.slot, let record = engine.groups.record(at: slot) { return topic(of: record, in: engine) }
        let prefix = engine.groups[event.group].topicPrefix
        plainBytes(prefix.span)
        append(UInt8(ascii: "~"))
    }

    // MARK: Keys and groups

    /// A key with its value, as `group.get`, `group.list`, snapshots and events show it. What was deleted has no value
    /// any more.
    package mutating func groupItem(_ record: GroupItem, of engine: borrowing Engine) {
        beginObject()
        field("group", plain: engine.groups[record.group].name)
        engine.withBytes(of: record.key) { field("key", plainBytes: $0, 0..<$0.count) }
        field("state", name: record.isRemoved ? Self.removed : Self.present)
        field("revision", record.revision)
        if record.isRemoved {
            key("value")
            null()
        } else {
            engine.withBytes(of: record.value) { field("value", rawBytes: $0, 0..<$0.count) }
        }
        field("by", plain: engine.apps[record.by].name)
        field("updatedAt", record.updatedAt)
        endObject()
    }

    /// The short form, as answers to changes show it: of a key, or of a group where the change was about none.
    package mutating func shortGroup(_ group: GroupID, _ record: GroupItem?, of engine: borrowing Engine) {
        beginObject()
        field("group", plain: engine.groups[group].name)
        if let record {
            engine.withBytes(of: record.key) { field("key", plainBytes: $0, 0..<$0.count) }
            field("state", name: record.isRemoved ? Self.removed : Self.present)
            field("revision", record.revision)
        }
        endObject()
    }

    /// A group, its members and its size, as `group.info` shows it.
    package mutating func groupInfo(_ group: GroupID, of engine: borrowing Engine) {
        let record = engine.groups[group]
        beginObject()
        field("group", plain: record.name)
        field("owner", plain: engine.apps[record.owner].name)
        key("members")
        beginArray()
        for member in record.members { plain(engine.apps[member].name.span) }
        endArray()
        field("keys", record.keys.count)
        field("bytes", record.bytes)
        endObject()
    }

    // MARK: Events

    /// The JSON of an event.
    ///
    /// - Parameters:
    ///   - epoch: the epoch of the stream of the group's owner.
    ///   - frame: the frame of the command that made it, where a notification's name and the `req` stand.
    ///   - envelope: that command's.
    package mutating func event(
        _ event: GroupEvent, epoch: [UInt8], frame: Span<UInt8>, envelope: Envelope?, of engine: borrowing Engine
    ) {
        beginObject()
        field("epoch", plain: epoch)
        field("seq", event.seq)
        field("at", event.at)
        field("event", name: event.name.wireName)
        switch event.name {
        case .set:
            if !event.isFirst { field("from", name: Self.present) }
            field("to", name: Self.present)
        case .deleted:
            field("from", name: Self.present)
            field("to", name: Self.removed)
        case .notified: break
        }
        field("cause", name: "command")
        if let envelope { by(envelope, frame) }
        if let slot = event.slot {
            guard let record = engine.groups.record(at: slot) else { preconditionFailure("an event of a freed slot") }
            key("group")
            groupItem(record, of: engine)
        } else {
            key("notification")
            beginObject()
            field("group", plain: engine.groups[event.group].name)
            if let signal = event.signal { field("name", plain: frame.extracting(signal.indices)) }
            field("by", plain: engine.apps[event.by].name)
            endObject()
        }
        endObject()
    }
}
