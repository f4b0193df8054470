import IsletCore
import IsletProtocol

/// An `activity.list` on its way through the slab, in bounded turns.
///
/// The rows are those from the cursor on until the limit; the total counts all that match. Over several turns the
/// entities may change under it, and then the total is said to be inexact.
final class ListScan {
    /// How many slots a turn looks at.
    static let slotsPerTurn: Slot = 16_384
    /// A list that needs no more slots than this is answered in its own turn.
    static let slotsAtOnce: Slot = 65_536
    /// Rows stop before the answer grows beyond this, so that it fits into a frame of 1 MiB.
    static let maximumBytes = 1_000_000

    private let filter: ActivityFilter?
    private let firstRow: Slot
    private let limit: Int
    private var rows = JSONWriter(capacity: 1 << 12)
    private var rowCount = 0
    private var total = 0
    private var nextSlot: Slot = 0
    private var turns = 0
    /// Where the next page begins.
    private var nextRow: Slot?

    init(filter: ActivityFilter?, firstRow: Slot, limit: Int) {
        self.filter = filter
        self.firstRow = firstRow
        self.limit = limit
    }

    /// Looks at some more slots; true when it is through.
    func advance(_ engine: borrowing Engine, slots: Slot = ListScan.slotsPerTurn) -> Bool {
        guard let filter else { return true }
        turns += 1
        let end = Slot(min(UInt64(engine.slotCount), UInt64(nextSlot) + UInt64(slots)))
        while nextSlot < end {
            if engine.matches(nextSlot, filter), let record = engine.record(at: nextSlot) {
                total += 1
                if nextSlot >= firstRow { row(record, engine) }
            }
            nextSlot += 1
        }
        return end == engine.slotCount
    }

    private func row(_ record: ActivityRecord, _ engine: borrowing Engine) {
        guard nextRow == nil else { return }
        let start = rows.count
        if rowCount < limit {
            if rowCount > 0 { rows.plainBytes(Self.comma.span) }
            rows.beginDocument()
            rows.activity(record, at: nextSlot, machine: record.machine, revision: record.revision, of: engine)
            if rows.count <= Self.maximumBytes {
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
        writer.key("activities")
        writer.beginArray()
        rows.withSpan { rows in if rows.count > 0 { writer.raw(rows) } }
        writer.endArray()
        writer.field("total", total)
        writer.field("exact", turns <= 1)
        if let nextRow { writer.field("next", string: String(nextRow)) }
        writer.endObject()
    }
}
