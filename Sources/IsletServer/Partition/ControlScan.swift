import IsletCore
import IsletProtocol

/// Which controls `control.list` asks for, with its names resolved.
struct ControlFilter {
    var app: AppID
    var kind: ControlKindID?
    var device: DeviceID?
    var state: ControlState?

    /// nil where a name is unknown, so that nothing matches.
    init?(_ list: ControlList, _ frame: Span<UInt8>, _ engine: borrowing Engine) {
        guard let app = engine.apps.find(list.app, of: frame) else { return nil }
        self.app = app
        state = list.state
        if let name = list.kind {
            guard let kind = engine.controls.kinds.find(app, frame.bytes(name)) else { return nil }
            self.kind = kind
        }
        if let name = list.device {
            guard let device = engine.devices.find(name, of: frame) else { return nil }
            self.device = device
        }
    }

    func matches(_ record: ControlRecord, _ engine: borrowing Engine) -> Bool {
        guard record.machine.state != .removed, engine.controls.kinds[record.kind].app == app else { return false }
        if let kind, record.kind != kind { return false }
        if let device, record.device != device { return false }
        if let state, record.machine.state != state { return false }
        return true
    }
}

/// A `control.list` on its way through the slab, in bounded turns; as ``ListScan`` for activities.
final class ControlScan {
    /// How many slots a turn looks at.
    static let slotsPerTurn: Slot = 16_384
    /// A list that needs no more slots than this is answered in its own turn.
    static let slotsAtOnce: Slot = 65_536

    private let filter: ControlFilter?
    private let firstRow: Slot
    private let limit: Int
    private var rows = JSONWriter(capacity: 1 << 12)
    private var rowCount = 0
    private var total = 0
    private var nextSlot: Slot = 0
    private var turns = 0
    /// Where the next page begins.
    private var nextRow: Slot?

    init(filter: ControlFilter?, firstRow: Slot, limit: Int) {
        self.filter = filter
        self.firstRow = firstRow
        self.limit = limit
    }

    /// Looks at some more slots; true when it is through.
    func advance(_ engine: borrowing Engine, slots: Slot = ControlScan.slotsPerTurn) -> Bool {
        guard let filter else { return true }
        turns += 1
        let end = Slot(min(UInt64(engine.controls.slotCount), UInt64(nextSlot) + UInt64(slots)))
        while nextSlot < end {
            if let record = engine.controls.record(at: nextSlot), filter.matches(record, engine) {
                total += 1
                if nextSlot >= firstRow { row(record, engine) }
            }
            nextSlot += 1
        }
        return end == engine.controls.slotCount
    }

    private func row(_ record: ControlRecord, _ engine: borrowing Engine) {
        guard nextRow == nil else { return }
        let start = rows.count
        if rowCount < limit {
            if rowCount > 0 { rows.plainBytes(Self.comma.span) }
            rows.beginDocument()
            rows.control(record, machine: record.machine, revision: record.revision, of: engine)
            if rows.count <= ListScan.maximumBytes {
                rowCount += 1
                return
            }
            rows.truncate(to: start)
        }
        nextRow = nextSlot
    }

    private static let comma = [UInt8(ascii: ",")]

    /// Writes the answer.
    func write(to writer: inout JSONWriter, _ envelope: Envelope, _ frame: Span<UInt8>) {
        writer.beginAnswer(envelope, frame, ok: true)
        writer.key("controls")
        writer.beginArray()
        rows.withSpan { rows in if rows.count > 0 { writer.raw(rows) } }
        writer.endArray()
        writer.field("total", total)
        writer.field("exact", turns <= 1)
        if let nextRow { writer.field("next", string: String(nextRow)) }
        writer.endObject()
    }
}
