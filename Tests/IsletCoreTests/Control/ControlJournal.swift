import IsletCore
import Testing

/// A journal in memory: it writes down what the server writes (events with their images, notes, the ends of streams,
/// the snapshot round by round) and gives it all to a fresh engine.
final class ControlJournal: ControlRecorder {
    private enum Entry {
        case note(key: [UInt8], value: [UInt8]?)
        case control(EntityID, seq: UInt64, app: [UInt8], kind: [UInt8], image: [UInt8])
        case activity(EntityID, seq: UInt64, image: [UInt8], Parts)
        case end(app: [UInt8], seq: UInt64, entities: Int, digest: UInt64)
    }

    /// An activity's names and payloads.
    private struct Parts {
        var frame: [UInt8]
        var ranges: Engine.RestoredParts
    }

    private enum Row {
        case control(EntityID, seq: UInt64, app: [UInt8], kind: [UInt8], image: [UInt8])
        case activity(EntityID, seq: UInt64, image: [UInt8], Parts)
    }

    private var batches: [[Entry]] = []
    private var batch: [Entry] = []
    private var touched: Set<AppID> = []
    private var facts: [[UInt8]: [UInt8]] = [:]
    private var activityRows: [Slot: Row] = [:]
    private var controlRows: [Slot: Row] = [:]
    /// The snapshot holds everything through so many batches.
    private var holdsThrough = 0
    private var round: Int?
    /// The images of all events of controls.
    private(set) var controlImages: [[UInt8]] = []

    // MARK: Writing

    func stepBegins(_ engine: borrowing Engine, at now: Instant) {
        batch = []
        touched = []
        for note in engine.notes {
            var writer = ImageWriter()
            switch note {
            case .app(let app):
                engine.writeFact(app: app, to: &writer)
                batch.append(.note(key: engine.factKey(app: app), value: writer.bytes))
            case .appOnDevice(let place):
                let isKnown = engine.writeFact(place, to: &writer)
                batch.append(.note(key: engine.factKey(place), value: isKnown ? writer.bytes : nil))
            case .controlKind(let kind):
                engine.writeFact(controlKind: kind, to: &writer)
                batch.append(.note(key: engine.factKey(controlKind: kind), value: writer.bytes))
            case .lock(let name):
                let isKnown = engine.writeFact(lock: name, to: &writer)
                batch.append(.note(key: engine.factKey(lock: name), value: isKnown ? writer.bytes : nil))
            case .controlReload(let kinds):
                let isKnown = engine.writeFact(controlReload: kinds, to: &writer)
                batch.append(.note(key: engine.factKey(controlReload: kinds), value: isKnown ? writer.bytes : nil))
            case .activity, .group, .formerGroup, .widgetKind, .conditions, .heldReload, .widgetReload:
                complain("neither heartbeats nor settings, groups or widgets here")
            }
        }
    }

    func record(_ event: ControlEvent, _ engine: borrowing Engine) {
        var writer = ImageWriter()
        writer.image(of: event, in: engine)
        let kind = engine.controls.kinds[event.kind]
        touched.insert(kind.app)
        controlImages.append(writer.bytes)
        batch.append(
            .control(
                event.id, seq: event.seq, app: engine.apps[kind.app].name, kind: kind.name, image: writer.bytes))
    }

    func record(_ event: ActivityEvent, _ engine: borrowing Engine) {
        guard let record = engine.record(at: event.slot) else { return complain("\(event.line): no record") }
        var writer = ImageWriter()
        writer.image(of: event, in: engine)
        touched.insert(event.app)
        batch.append(.activity(event.id, seq: event.seq, image: writer.bytes, parts(of: record, engine)))
    }

    func stepEnds(_ engine: borrowing Engine) {
        for app in touched.sorted() {
            let record = engine.apps[app]
            batch.append(
                .end(app: record.name, seq: record.seq, entities: record.entities, digest: record.digest.value))
        }
        batches.append(batch)
    }

    private func parts(of record: ActivityRecord, _ engine: borrowing Engine) -> Parts {
        var frame = FrameBuilder()
        let kind = engine.apps.kinds[Int(record.kind)]
        let cold = engine.withBytes(of: record.cold) { [UInt8]($0) }
        let content = engine.withBytes(of: record.content) { String(decoding: $0, as: UTF8.self) }
        let ranges = Engine.RestoredParts(
            app: frame.run(String(decoding: engine.apps[kind.app].name, as: UTF8.self)),
            kind: frame.run(String(decoding: kind.type, as: UTF8.self)), key: nil,
            device: frame.run(record.device.map { String(decoding: engine.devices.name($0), as: UTF8.self) }),
            attributes: frame.run(String(decoding: cold[record.attributesRange], as: UTF8.self)),
            content: frame.run(content))
        return Parts(frame: frame.bytes, ranges: ranges)
    }

    // MARK: The snapshot

    /// Goes on with the snapshot's round by so many rows; facts come before all rows.
    func sweep(_ engine: inout Engine, rows: Int) {
        if round == nil {
            round = batches.count
            engine.changedSlots.rewind()
            engine.controls.changedSlots.rewind()
            sweepFacts(&engine)
        }
        var left = rows
        while left > 0, let slot = engine.changedSlots.popNext() {
            activityRows[slot] = row(activity: slot, engine)
            left -= 1
        }
        while left > 0, engine.changedSlots.isAtEnd, let slot = engine.controls.changedSlots.popNext() {
            controlRows[slot] = row(control: slot, engine)
            left -= 1
        }
        guard let began = round, engine.changedSlots.isAtEnd, engine.controls.changedSlots.isAtEnd else { return }
        holdsThrough = began
        round = nil
    }

    private func sweepFacts(_ engine: inout Engine) {
        var writer = ImageWriter()
        for app in engine.takeChangedApps(engine.changedApps.count) {
            writer.removeAll()
            engine.writeFact(app: app, to: &writer)
            facts[engine.factKey(app: app)] = writer.bytes
        }
        for place in engine.changedAppsOnDevices {
            writer.removeAll()
            let isKnown = engine.writeFact(place, to: &writer)
            facts[engine.factKey(place)] = isKnown ? writer.bytes : nil
        }
        engine.changedAppsOnDevices.removeAll()
        for kind in engine.controls.takeChangedKinds(engine.controls.changedKinds.count) {
            writer.removeAll()
            engine.writeFact(controlKind: kind, to: &writer)
            facts[engine.factKey(controlKind: kind)] = writer.bytes
        }
        engine.controls.lockedDevices.rewind()
        while let name = engine.controls.lockedDevices.popNext() {
            writer.removeAll()
            let isKnown = engine.writeFact(lock: name, to: &writer)
            facts[engine.factKey(lock: name)] = isKnown ? writer.bytes : nil
        }
        for kinds in engine.controls.changedReloads {
            writer.removeAll()
            let isKnown = engine.writeFact(controlReload: kinds, to: &writer)
            facts[engine.factKey(controlReload: kinds)] = isKnown ? writer.bytes : nil
        }
        engine.controls.changedReloads.removeAll()
    }

    private func row(activity slot: Slot, _ engine: borrowing Engine) -> Row? {
        guard let record = engine.record(at: slot) else { return nil }
        var writer = ImageWriter()
        writer.image(of: record, at: slot, in: engine)
        return .activity(record.id, seq: record.lastSeq, image: writer.bytes, parts(of: record, engine))
    }

    private func row(control slot: Slot, _ engine: borrowing Engine) -> Row? {
        guard let record = engine.controls.record(at: slot) else { return nil }
        var writer = ImageWriter()
        writer.image(of: record, in: engine)
        let kind = engine.controls.kinds[record.kind]
        return .control(
            record.id, seq: record.lastSeq, app: engine.apps[kind.app].name, kind: kind.name, image: writer.bytes)
    }

    // MARK: Reading

    /// Everything in a fresh engine: the snapshot's facts and rows, then the batches behind it.
    func restore(
        to engine: inout Engine, declarations: [[UInt8]: ControlKindDeclaration]
    ) throws {
        for (key, value) in facts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            try restore(key, value, to: &engine, declarations, isInSnapshot: true)
        }
        for (slot, row) in activityRows.sorted(by: { $0.key < $1.key }) {
            guard case .activity(let id, let seq, let image, let parts) = row else { continue }
            try engine.restore(
                id, at: slot, seq: seq, try ActivityImage(image.span), parts.ranges, of: parts.frame.span)
        }
        for (slot, row) in controlRows.sorted(by: { $0.key < $1.key }) {
            guard case .control(let id, let seq, let app, let kind, let image) = row else { continue }
            try engine.restoreControl(id, at: slot, seq: seq, try ControlImage(image.span), app: app, kind: kind)
        }
        engine.finishSnapshot()
        for batch in batches.dropFirst(holdsThrough) {
            for entry in batch { try restore(entry, to: &engine, declarations) }
        }
        try engine.finishRestoring(isProven: true)
    }

    private func restore(
        _ entry: Entry, to engine: inout Engine, _ declarations: [[UInt8]: ControlKindDeclaration]
    ) throws {
        switch entry {
        case .note(let key, let value):
            if let value {
                try restore(key, value, to: &engine, declarations, isInSnapshot: false)
            } else if try !engine.restoreLock(key.span, isLocked: false, isInSnapshot: false)
                && !engine.restoreReload(key.span, nil, isInSnapshot: false)
            {
                let isOurs = engine.forgetFact(key.span)
                #expect(isOurs)
            }
        case .control(let id, let seq, let app, let kind, let image):
            try engine.restoreControl(id, seq: seq, try ControlImage(image.span), app: app, kind: kind)
        case .activity(let id, let seq, let bytes, let parts):
            let image = try ActivityImage(bytes.span)
            if image.isWhole {
                try engine.restoreStart(id, seq: seq, image, parts.ranges, of: parts.frame.span)
            } else {
                engine.restoreChange(
                    id, seq: seq, image, content: image.contentChanged ? parts.ranges.content : nil,
                    of: parts.frame.span)
            }
        case .end(let app, let seq, let entities, let digest):
            guard let app = engine.restoredApp(app.span) else { return complain("no room for an app") }
            engine.restoreStreamEnd(app, seq: seq, entities: entities, digest: digest)
        }
    }

    private func restore(
        _ key: [UInt8], _ value: [UInt8], to engine: inout Engine, _ declarations: [[UInt8]: ControlKindDeclaration],
        isInSnapshot: Bool
    ) throws {
        if try engine.restoreFact(key.span, value.span, isInSnapshot: isInSnapshot) { return }
        if engine.restoreLock(key.span, isLocked: true, isInSnapshot: isInSnapshot) { return }
        if try engine.restoreReload(key.span, value.span, isInSnapshot: isInSnapshot) { return }
        guard let fact = try Engine.controlKindFact(key.span, value.span),
            let declaration = declarations[fact.declaration]
        else { return complain("a fact that nobody knows: \(key)") }
        try engine.restoreControlKind(declaration, fact, isInSnapshot: isInSnapshot)
    }
}
