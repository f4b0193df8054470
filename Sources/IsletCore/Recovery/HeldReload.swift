/// How many requests the held reload of a widget stands for, as a note: a request that is merged makes no event.
package struct HeldReload: Equatable, Sendable {
    /// Where it is; empty: the note is of a release that did not say so.
    fileprivate var app: [UInt8]
    fileprivate var id: EntityID
    /// When the widget was placed: another life of the id is not meant.
    fileprivate var addedAt: Instant
    /// Of which revision this is; a later event says more.
    fileprivate var revision: UInt32
    fileprivate var merged: UInt16

    /// What is held of the widget in a slot; nil where nothing is.
    package init?(of slot: Slot, in engine: borrowing Engine) {
        guard let record = engine.widgets.record(at: slot), let hold = record.machine.hold else { return nil }
        app = engine.apps[engine.widgets.kinds.app(of: record.kind)].name
        (id, addedAt, revision, merged) = (record.id, record.addedAt, record.revision, hold.merged)
    }

    /// Reads what ``write(to:)`` wrote, or what releases wrote that left out the app.
    package init(_ reader: inout ImageReader, hasApp: Bool) throws(ImageError) {
        app = hasApp ? try reader.bytesOfRun() : []
        id = try reader.entityID()
        addedAt = try reader.instant()
        revision = try reader.integer()
        merged = try reader.integer()
    }

    package func write(to writer: inout ImageWriter) {
        writer.write(run: app)
        writer.write(id)
        writer.write(addedAt)
        writer.write(revision)
        writer.write(merged)
    }
}

extension Engine {
    /// A request that was merged into a held reload, and made no event. After the events of its batch.
    package mutating func restore(_ held: HeldReload) {
        let found = widgets.byID.find(held.id.keyedHash) { slot in
            let record = widgets.slab[slot]
            return record.id == held.id && record.addedAt == held.addedAt && record.revision == held.revision
                && (held.app.isEmpty || held.app == apps[widgets.kinds.app(of: record.kind)].name)
        }
        guard let slot = found, let hold = widgets.slab[slot].machine.hold else { return }
        // What a snapshot holds already may be ahead of the note.
        widgets.slab[slot].machine.hold?.merged = max(hold.merged, held.merged)
        widgets.changedSlots.insert(slot)
    }
}
