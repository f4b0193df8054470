import IsletCore

/// What the server writes of groups, in memory: events with their images, notes, ends of streams and the snapshot.
struct GroupJournal {
    private enum Entry {
        /// nil: it is forgotten.
        case note(key: [UInt8], value: [UInt8]?)
        case event(Engine.RestoredKey, seq: UInt64, image: [UInt8], value: [UInt8])
        case end(app: [UInt8], seq: UInt64, entities: Int, digest: UInt64)
    }

    private struct Row {
        var key: Engine.RestoredKey
        var seq: UInt64
        var image: [UInt8]
        var value: [UInt8]
    }

    /// Its notes, then its events.
    private struct Batch {
        var notes: [Entry] = []
        var events: [Entry] = []
    }

    private var batches: [Batch] = []
    private var facts: [[UInt8]: [UInt8]] = [:]
    private var rows: [Slot: Row] = [:]
    private var holdsThrough = 0
    private var round: Int?

    /// - Parameter continues: whether the batch of the command before goes on, which no round of the snapshot holds yet.
    mutating func begin(_ engine: borrowing Engine, continues: Bool) {
        if !continues || batches.isEmpty || round == batches.count || holdsThrough == batches.count {
            batches.append(Batch())
        }
        for note in engine.notes {
            var writer = ImageWriter()
            switch note {
            case .group(let group):
                engine.writeFact(group: group, to: &writer)
                append(note: engine.factKey(group: group), writer.bytes)
            case .formerGroup(let name):
                engine.writeRemovedGroupsFact(to: &writer)
                append(note: Engine.removedGroupsKey, writer.bytes)
                append(note: engine.factKey(group: name), nil)
            case .app, .appOnDevice, .activity, .controlKind, .lock, .widgetKind, .conditions, .heldReload, .controlReload,
                .widgetReload:
                break
            }
        }
    }

    private mutating func append(note key: [UInt8], _ value: [UInt8]?) {
        batches[batches.count - 1].notes.append(.note(key: key, value: value))
    }

    mutating func record(_ event: GroupEvent, key: String, value: String, _ engine: borrowing Engine) {
        var writer = ImageWriter()
        writer.image(of: event, in: engine)
        let place = Engine.RestoredKey(
            owner: engine.apps[event.app].name, group: engine.groups[event.group].name, key: Array(key.utf8))
        batches[batches.count - 1].events.append(
            .event(place, seq: event.seq, image: writer.bytes, value: event.name == .set ? Array(value.utf8) : []))
    }

    mutating func end(_ engine: borrowing Engine) {
        for record in engine.apps.apps where record.seq > 0 {
            batches[batches.count - 1].events.append(
                .end(app: record.name, seq: record.seq, entities: record.entities, digest: record.digest.value))
        }
    }

    mutating func sweep(_ engine: inout Engine, rows count: Int) {
        if round == nil {
            round = batches.count
            engine.groups.changedSlots.rewind()
            var writer = ImageWriter()
            for app in engine.takeChangedApps(engine.changedApps.count) {
                writer.removeAll()
                engine.writeFact(app: app, to: &writer)
                facts[engine.factKey(app: app)] = writer.bytes
            }
            for group in engine.groups.takeChangedGroups(engine.groups.changedGroups.count) {
                writer.removeAll()
                engine.writeFact(group: group, to: &writer)
                facts[engine.factKey(group: group)] = writer.bytes
            }
            for name in engine.groups.takeFormerNames() {
                writer.removeAll()
                engine.writeRemovedGroupsFact(to: &writer)
                facts[Engine.removedGroupsKey] = writer.bytes
                facts[engine.factKey(group: name)] = nil
            }
        }
        var left = count
        while left > 0, let slot = engine.groups.changedSlots.popNext() {
            rows[slot] = Self.row(slot, engine)
            left -= 1
        }
        guard let began = round, engine.groups.changedSlots.isAtEnd else { return }
        holdsThrough = began
        round = nil
    }

    private static func row(_ slot: Slot, _ engine: borrowing Engine) -> Row? {
        guard let item = engine.groups.record(at: slot) else { return nil }
        var writer = ImageWriter()
        writer.image(of: item, in: engine)
        let group = engine.groups[item.group]
        return Row(
            key: Engine.RestoredKey(
                owner: engine.apps[group.owner].name, group: group.name,
                key: engine.withBytes(of: item.key) { [UInt8]($0) }),
            seq: item.lastSeq, image: writer.bytes, value: engine.withBytes(of: item.value) { [UInt8]($0) })
    }

    func restore(to engine: inout Engine) throws {
        // That about removed groups first, which those about groups must not depend on.
        for (key, value) in facts.sorted(by: { $1.key.lexicographicallyPrecedes($0.key) }) {
            if try engine.restoreFact(key.span, value.span, isInSnapshot: true) { continue }
            guard try engine.restoreGroupFact(key.span, value.span, isInSnapshot: true) else {
                throw ImageError.unknownValue
            }
        }
        for (slot, row) in rows.sorted(by: { $0.key < $1.key }) {
            try engine.restoreGroupItem(
                row.key, at: slot, seq: row.seq, try GroupImage(row.image.span), value: row.value.span)
        }
        engine.finishSnapshot()
        for batch in batches.dropFirst(holdsThrough) {
            for entry in batch.notes + batch.events { try Self.restore(entry, to: &engine) }
            for case .note(let key, nil) in batch.notes { engine.finishGroupRemoval(Array(key.dropFirst())) }
        }
        try engine.finishRestoring(isProven: true)
    }

    private static func restore(_ entry: Entry, to engine: inout Engine) throws {
        switch entry {
        case .note(let key, let value):
            guard let value else {
                guard engine.restoreGroupRemoval(key.span) != nil else { throw ImageError.unknownValue }
                return
            }
            guard try engine.restoreGroupFact(key.span, value.span, isInSnapshot: false) else {
                throw ImageError.unknownValue
            }
        case .event(let key, let seq, let image, let value):
            let range = value.isEmpty ? nil : FrameRange(0..<value.count)
            try engine.restoreGroupEvent(key, seq: seq, try GroupImage(image.span), value: range, of: value.span)
        case .end(let name, let seq, let entities, let digest):
            guard let app = engine.restoredApp(name.span) else { throw ImageError.unknownValue }
            engine.restoreStreamEnd(app, seq: seq, entities: entities, digest: digest)
        }
    }
}
