import IsletCore
import Testing

/// A journal in memory: it writes down what the server writes of widgets (events with their images, notes, the ends of
/// streams, the snapshot round by round) and gives it all to a fresh engine.
final class WidgetJournal {
    private enum Entry {
        case note(key: [UInt8], value: [UInt8]?)
        case widget(EntityID, seq: UInt64, app: [UInt8], kind: [UInt8], image: [UInt8])
        case held([UInt8])
        case conditions([UInt8])
        case end(app: [UInt8], seq: UInt64, entities: Int, digest: UInt64)
    }

    private struct Row {
        var id: EntityID
        var seq: UInt64
        var app: [UInt8]
        var kind: [UInt8]
        var image: [UInt8]
    }

    private var batches: [[Entry]] = []
    private var batch: [Entry] = []
    private var touched: Set<AppID> = []
    private var facts: [[UInt8]: [UInt8]] = [:]
    private var rows: [Slot: Row] = [:]
    /// The snapshot holds everything through so many batches.
    private var holdsThrough = 0
    private var round: Int?
    /// The images of all events.
    private(set) var images: [[UInt8]] = []
    /// Those of whole widgets, and how many bytes all have.
    private(set) var wholeImages = 0

    /// How many batches there are.
    var count: Int { batches.count }

    init() {}

    // MARK: Writing

    func stepBegins(_ engine: borrowing Engine) {
        batch = []
        touched = []
        for note in engine.notes {
            switch note {
            case .app(let app):
                var writer = ImageWriter()
                engine.writeFact(app: app, to: &writer)
                batch.append(.note(key: engine.factKey(app: app), value: writer.bytes))
            case .appOnDevice(let place):
                var writer = ImageWriter()
                let isKnown = engine.writeFact(place, to: &writer)
                batch.append(.note(key: engine.factKey(place), value: isKnown ? writer.bytes : nil))
            case .widgetKind(let kind):
                batch.append(.note(key: engine.factKey(widgetKind: kind), value: fact(widgetKind: kind, engine)))
            case .conditions(let change):
                var writer = ImageWriter()
                change.write(to: &writer, of: engine)
                batch.append(.conditions(writer.bytes))
            case .heldReload(let slot):
                guard let held = HeldReload(of: slot, in: engine) else { continue }
                var writer = ImageWriter()
                held.write(to: &writer)
                batch.append(.held(writer.bytes))
            case .widgetReload(let kinds):
                batch.append(.note(key: engine.factKey(widgetReload: kinds), value: fact(widgetReload: kinds, engine)))
            case .controlKind, .lock, .group, .formerGroup, .activity, .controlReload: complain("only widgets here")
            }
        }
    }

    private func fact(widgetKind kind: DeclaredKindID, _ engine: borrowing Engine) -> [UInt8] {
        var writer = ImageWriter()
        engine.writeFact(widgetKind: kind, to: &writer)
        return writer.bytes
    }

    private func fact(widgetReload kinds: SweptKinds, _ engine: borrowing Engine) -> [UInt8]? {
        var writer = ImageWriter()
        return engine.writeFact(widgetReload: kinds, to: &writer) ? writer.bytes : nil
    }

    private func fact(conditions name: [UInt8], _ engine: borrowing Engine) -> [UInt8]? {
        var writer = ImageWriter()
        return engine.writeFact(conditions: name, to: &writer) ? writer.bytes : nil
    }

    func record(_ event: WidgetEvent, _ engine: borrowing Engine) {
        var writer = ImageWriter()
        writer.image(of: event, in: engine)
        let kind = engine.widgets.kinds[event.kind]
        touched.insert(kind.app)
        images.append(writer.bytes)
        batch.append(
            .widget(
                event.id, seq: event.seq, app: engine.apps[kind.app].name, kind: kind.name, image: writer.bytes))
    }

    func stepEnds(_ engine: borrowing Engine) {
        for app in touched.sorted() {
            let record = engine.apps[app]
            batch.append(
                .end(app: record.name, seq: record.seq, entities: record.entities, digest: record.digest.value))
        }
        batches.append(batch)
    }

    // MARK: The snapshot

    /// Goes on with the snapshot's round by so many rows; facts come before all rows.
    func sweep(_ engine: inout Engine, rows limit: Int) {
        if round == nil {
            round = batches.count
            engine.widgets.changedSlots.rewind()
            sweepFacts(&engine)
        }
        var left = limit
        while left > 0, let slot = engine.widgets.changedSlots.popNext() {
            rows[slot] = row(slot, engine)
            left -= 1
        }
        guard let began = round, engine.widgets.changedSlots.isAtEnd else { return }
        holdsThrough = began
        round = nil
    }

    private func sweepFacts(_ engine: inout Engine) {
        for app in engine.takeChangedApps(engine.changedApps.count) {
            var writer = ImageWriter()
            engine.writeFact(app: app, to: &writer)
            facts[engine.factKey(app: app)] = writer.bytes
        }
        for place in engine.changedAppsOnDevices {
            var writer = ImageWriter()
            let isKnown = engine.writeFact(place, to: &writer)
            facts[engine.factKey(place)] = isKnown ? writer.bytes : nil
        }
        engine.changedAppsOnDevices.removeAll()
        for kind in engine.widgets.takeChangedKinds(engine.widgets.changedKinds.count) {
            facts[engine.factKey(widgetKind: kind)] = fact(widgetKind: kind, engine)
        }
        engine.widgets.conditions.rewind()
        while let name = engine.widgets.conditions.popNext() {
            facts[engine.factKey(conditions: name)] = fact(conditions: name, engine)
        }
        for kinds in engine.widgets.changedReloads {
            facts[engine.factKey(widgetReload: kinds)] = fact(widgetReload: kinds, engine)
        }
        engine.widgets.changedReloads.removeAll()
    }

    private func row(_ slot: Slot, _ engine: borrowing Engine) -> Row? {
        guard let record = engine.widgets.record(at: slot) else { return nil }
        var writer = ImageWriter()
        writer.image(of: record, in: engine)
        let kind = engine.widgets.kinds[record.kind]
        return Row(
            id: record.id, seq: record.lastSeq, app: engine.apps[kind.app].name, kind: kind.name, image: writer.bytes)
    }

    // MARK: Reading

    /// Everything in a fresh engine: the snapshot's facts and rows, then the batches behind it, or some of them.
    func restore(
        to engine: inout Engine, declarations: [[UInt8]: WidgetKindDeclaration], through count: Int? = nil
    ) throws {
        for (key, value) in facts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            try restore(key, value, to: &engine, declarations, isInSnapshot: true)
        }
        for (slot, row) in rows.sorted(by: { $0.key < $1.key }) {
            try engine.restoreWidget(
                row.id, at: slot, seq: row.seq, try WidgetImage(row.image.span), app: row.app, kind: row.kind)
        }
        engine.finishSnapshot()
        for batch in batches[holdsThrough..<max(holdsThrough, count ?? batches.count)] {
            for entry in batch { try restore(entry, to: &engine, declarations) }
            for case .held(let note) in batch {
                engine.restore(
                    try ImageReader.read(note.span) { reader throws(ImageError) in
                        try HeldReload(&reader, hasApp: true)
                    })
            }
        }
        try engine.finishRestoring(isProven: true)
    }

    private func restore(
        _ entry: Entry, to engine: inout Engine, _ declarations: [[UInt8]: WidgetKindDeclaration]
    ) throws {
        switch entry {
        case .note(let key, let value):
            if let value { return try restore(key, value, to: &engine, declarations, isInSnapshot: false) }
            if try engine.restoreReload(key.span, nil, isInSnapshot: false) { return }
            let isOurs = engine.forgetFact(key.span)
            #expect(isOurs)
        case .widget(let id, let seq, let app, let kind, let image):
            try engine.restoreWidget(id, seq: seq, try WidgetImage(image.span), app: app, kind: kind)
        case .held: break  // Behind the events of its batch.
        case .conditions(let note):
            try engine.restore(
                try ImageReader.read(note.span) { reader throws(ImageError) in try StoredConditionsChange(&reader) })
        case .end(let app, let seq, let entities, let digest):
            guard let app = engine.restoredApp(app.span) else { return complain("no room for an app") }
            engine.restoreStreamEnd(app, seq: seq, entities: entities, digest: digest)
        }
    }

    private func restore(
        _ key: [UInt8], _ value: [UInt8], to engine: inout Engine, _ declarations: [[UInt8]: WidgetKindDeclaration],
        isInSnapshot: Bool
    ) throws {
        if try engine.restoreFact(key.span, value.span, isInSnapshot: isInSnapshot) { return }
        if try engine.restoreReload(key.span, value.span, isInSnapshot: isInSnapshot) { return }
        guard let fact = try Engine.widgetKindFact(key.span, value.span),
            let declaration = declarations[fact.declaration]
        else { return complain("a fact that nobody knows: \(key)") }
        try engine.restoreWidgetKind(declaration, fact, isInSnapshot: isInSnapshot)
    }
}
