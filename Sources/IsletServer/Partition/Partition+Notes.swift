import IsletCore
import IsletJournal
import IsletProtocol

/// What changed without an event, on its way into the journal and back.
///
/// A note is a tag, then what the engine wrote: a fact with its key, a key that is not known any more, an activity's
/// image behind its id, how many requests a held reload stands for, what changed of a device's conditions, or the
/// clock, whose batch says where it stands.
extension Partition {
    private enum NoteTag: UInt8 {
        case fact = 1
        case forgotten
        case activity
        case clock
        /// Without its app, as releases wrote it.
        case heldReloadOfID
        case heldReload
        case conditions
    }

    /// Writes what the engine noted since the last time.
    func encodeNotes() {
        guard !engine.notes.isEmpty else { return }
        for note in engine.notes {
            switch note {
            case .app(let app): noteFact(.app(app))
            case .appOnDevice(let place): noteFact(.appOnDevice(place))
            case .controlKind(let kind): noteFact(.controlKind(kind))
            case .lock(let name): noteFact(.lock(name))
            case .group(let group):
                // It may be gone by now, which another note tells.
                if !engine.groups[group].isRemoved { noteFact(.group(group)) }
            case .formerGroup(let name):
                noteFact(.removedGroups)
                noteFact(.formerGroup(name))
            case .widgetKind(let kind): noteFact(.widgetKind(kind))
            case .conditions(let change): noteConditions(change)
            case .activity(let slot): noteActivity(slot)
            case .heldReload(let slot): noteHeldReload(of: slot)
            case .controlReload(let kinds): noteFact(.controlReload(kinds))
            case .widgetReload(let kinds): noteFact(.widgetReload(kinds))
            }
        }
        engine.releaseNotes()
    }

    /// The clock was moved: nothing else may tell.
    func noteClock() {
        guard isDurable else { return }
        batch.note([NoteTag.clock.rawValue].span)
    }

    /// Writes what is known of something under its key.
    func noteFact(_ fact: Fact) {
        guard isDurable else { return }
        let (key, isKnown) = write(fact)
        var note = ImageWriter()
        note.write(byte: isKnown ? NoteTag.fact.rawValue : NoteTag.forgotten.rawValue)
        note.write(run: key)
        if isKnown { note.write(run: image.bytes) }
        batch.note(note.bytes.span)
    }

    private func noteActivity(_ slot: Slot) {
        guard let record = engine.record(at: slot) else { return }
        image.removeAll()
        image.image(of: record, at: slot, in: engine)
        var note = ImageWriter()
        note.write(byte: NoteTag.activity.rawValue)
        note.write(record.id)
        note.write(run: image.bytes)
        batch.note(note.bytes.span)
    }

    private func noteConditions(_ change: ConditionsChange) {
        guard isDurable else { return }
        var note = ImageWriter()
        note.write(byte: NoteTag.conditions.rawValue)
        change.write(to: &note, of: engine)
        batch.note(note.bytes.span)
    }

    private func noteHeldReload(of slot: Slot) {
        // It ran since, or the widget is gone: the event of that says more.
        guard let held = HeldReload(of: slot, in: engine) else { return }
        var note = ImageWriter()
        note.write(byte: NoteTag.heldReload.rawValue)
        held.write(to: &note)
        batch.note(note.bytes.span)
    }

    /// Takes a note back.
    func restoreNote(_ content: Span<UInt8>) throws(ImageError) {
        let note = try ImageReader.read(content) { reader throws(ImageError) in try StoredNote(&reader) }
        switch note {
        case .fact(let key, let value):
            let (key, value) = (content.extracting(key), content.extracting(value))
            if try engine.restoreFact(key, value, isInSnapshot: false) { return }
            if try engine.restoreGroupFact(key, value, isInSnapshot: false) { return }
            if try restoreTravel(key, value) { return }
            if try restoreLease(key, value) { return }
            if try restoreRetryHold(key, value) { return }
            guard try restoreFamilyFact(key, value, isInSnapshot: false) else { throw .unknownValue }
        case .forgotten(let key):
            let key = content.extracting(key)
            if engine.restoreLock(key, isLocked: false, isInSnapshot: false) { return }
            if try restoreTravel(key, nil) { return }
            if try engine.restoreReload(key, nil, isInSnapshot: false) { return }
            if let name = engine.restoreGroupRemoval(key) { return recoveringRemovals.append(name) }
            guard engine.forgetFact(key) else { throw .unknownValue }
        case .activity(let id, let image):
            recoveringSigns.append((id, try ActivityImage(content.extracting(image))))
        case .heldReload(let held): recoveringHolds.append(held)
        case .conditions(let change): try engine.restore(change)
        case .clock: break
        }
    }

    /// A note's parts as ranges of its bytes.
    private enum StoredNote {
        case fact(key: Range<Int>, value: Range<Int>)
        case forgotten(key: Range<Int>)
        case activity(EntityID, image: Range<Int>)
        case clock
        case heldReload(HeldReload)
        case conditions(StoredConditionsChange)

        init(_ reader: inout ImageReader) throws(ImageError) {
            switch try reader.value(NoteTag.self) {
            case .fact:
                let key = try reader.run()
                self = .fact(key: key, value: try reader.run())
            case .forgotten: self = .forgotten(key: try reader.run())
            case .activity:
                let id = try reader.entityID()
                self = .activity(id, image: try reader.run())
            case .clock: self = .clock
            case .heldReloadOfID: self = .heldReload(try HeldReload(&reader, hasApp: false))
            case .heldReload: self = .heldReload(try HeldReload(&reader, hasApp: true))
            case .conditions: self = .conditions(try StoredConditionsChange(&reader))
            }
        }
    }
}
