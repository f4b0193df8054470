import IsletCore
import IsletProtocol

/// What a list asks for, and how its rows are written: one for each family of entities.
protocol ListFilter {
    /// The answer's member that holds the rows.
    static var member: StaticString { get }
    /// One past the highest slot of the family.
    static func slotCount(in engine: borrowing Engine) -> Slot
    /// Whether the entity in a slot is one of those that are asked for.
    func matches(_ slot: Slot, in engine: borrowing Engine) -> Bool
    /// Writes the entity in a slot that matches.
    func writeRow(_ slot: Slot, in engine: borrowing Engine, to writer: inout JSONWriter)
}

/// How much of a list is done at a time.
enum ListBounds {
    /// How many slots a turn looks at.
    static let slotsPerTurn: Slot = 16_384
    /// A list that needs no more slots than this is answered in its own turn.
    static let slotsAtOnce: Slot = 65_536
    /// How many slots all lists of a turn look at that are answered in it; those beyond take more than one.
    static let slotsOfTurn: Slot = 524_288
    /// Once a turn has put so many into the order of presentation, it does no more of that.
    static let presentedPerTurn = 65_536
    /// Rows stop before the answer grows beyond this, so that it fits into a frame of 1 MiB.
    static let maximumBytes = 1_000_000
}

/// Where pages of lists begin. An entity may have another slot after a restart, so a cursor is good for the process that
/// gave it: another one refuses it, instead of leaving entities out.
struct ListCursors {
    /// Which process this is.
    private let run: UInt32

    /// - Parameter run: Random.
    init(run: UInt32) { self.run = run }

    /// The cursor of a page that begins at a slot.
    func cursor(to slot: Slot) -> String { "\(String(run, radix: 36)).\(slot)" }

    /// Where the page of a cursor begins; nil where this process never gave it.
    func slot(of cursor: String) -> Slot? {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, UInt32(parts[0], radix: 36) == run else { return nil }
        return Slot(parts[1])
    }
}

/// A list on its way through a slab, in bounded turns.
///
/// The rows are those from the cursor on until the limit; the total counts all that match. Over several turns the
/// entities may change under it, and then the total is said to be inexact.
final class ListScan<Filter: ListFilter> {
    private let filter: Filter?
    private let firstRow: Slot
    private let limit: Int
    private let cursors: ListCursors
    private var rows = JSONWriter(capacity: 1 << 12)
    private var rowCount = 0
    private var total = 0
    private var nextSlot: Slot = 0
    private var turns = 0
    /// Where the next page begins.
    private var nextRow: Slot?

    /// - Parameter filter: nil where nothing matches.
    init(filter: Filter?, firstRow: Slot, limit: Int, cursors: ListCursors) {
        self.filter = filter
        self.firstRow = firstRow
        self.limit = limit
        self.cursors = cursors
    }

    /// Looks at some more slots; true when it is through.
    func advance(_ engine: borrowing Engine) -> Bool {
        var left = ListBounds.slotsPerTurn
        return advance(engine, left: &left)
    }

    /// - Parameter left: how many slots it may look at; what is left of them afterwards.
    func advance(_ engine: borrowing Engine, left: inout Slot) -> Bool {
        guard let filter else { return true }
        turns += 1
        let count = Filter.slotCount(in: engine)
        let end = Slot(min(UInt64(count), UInt64(nextSlot) + UInt64(left)))
        left -= end - min(end, nextSlot)
        while nextSlot < end {
            if filter.matches(nextSlot, in: engine) {
                total += 1
                if nextSlot >= firstRow { row(filter, engine) }
            }
            nextSlot += 1
        }
        return end == count
    }

    private func row(_ filter: Filter, _ engine: borrowing Engine) {
        guard nextRow == nil else { return }
        let start = rows.count
        if rowCount < limit {
            if rowCount > 0 {
                let comma = [UInt8(ascii: ",")]
                rows.plainBytes(comma.span)
            }
            rows.beginDocument()
            filter.writeRow(nextSlot, in: engine, to: &rows)
            // The first stands there whatever its size: a page without a row would have no end.
            if rowCount == 0 || rows.count <= ListBounds.maximumBytes {
                rowCount += 1
                return
            }
            rows.truncate(to: start)
        }
        nextRow = nextSlot
    }

    /// Writes the answer.
    ///
    /// - Parameter head: writes members before the rows.
    func write(
        to writer: inout JSONWriter, _ envelope: Envelope, _ frame: Span<UInt8>,
        head: (inout JSONWriter) -> Void = { _ in }
    ) {
        writer.beginAnswer(envelope, frame, ok: true)
        head(&writer)
        writer.key(Filter.member)
        writer.beginArray()
        rows.withSpan { rows in if rows.count > 0 { writer.raw(rows) } }
        writer.endArray()
        writer.field("total", total)
        writer.field("exact", turns <= 1)
        if let nextRow { writer.field("next", string: cursors.cursor(to: nextRow)) }
        writer.endObject()
    }
}

extension Partition {
    /// Lets a list look at as many slots at once as this turn still may; true when it is through.
    ///
    /// - Parameter advance: goes on with it, and takes from the count that it is lent.
    func isThroughAtOnce(_ advance: (inout Slot) -> Bool) -> Bool {
        let allowed = min(ListBounds.slotsAtOnce, ListBounds.slotsOfTurn - slotsLookedAt)
        guard allowed > 0 else { return false }
        var left = allowed
        let isThrough = advance(&left)
        slotsLookedAt += allowed - left
        return isThrough
    }
}

extension ActivityFilter: ListFilter {
    static var member: StaticString { "activities" }

    static func slotCount(in engine: borrowing Engine) -> Slot { engine.slotCount }

    func matches(_ slot: Slot, in engine: borrowing Engine) -> Bool { engine.matches(slot, self) }

    func writeRow(_ slot: Slot, in engine: borrowing Engine, to writer: inout JSONWriter) {
        guard let record = engine.record(at: slot) else { return }
        writer.activity(
            record, at: slot, machine: record.machine, revision: record.revision, stateAt: record.stateAt, of: engine)
    }
}
