import IsletCore
import IsletProtocol

/// The calls to providers of `timer.list`, in bounded turns: those that are in flight or wait, and behind them the reads
/// that are held back until a provider has room.
///
/// It counts all that match, and keeps those whose time is over first. Over several turns calls may end and be asked for
/// under it: rows that are over by then are left out.
struct CallScan {
    private let filter: TimerFilter
    private let limit: Int
    private var nextPlace: UInt32 = 0
    /// Whose reads are yet to be looked for, and from which slot on.
    private var families: [EntityFamily] = [.control, .widget]
    private var nextSlot: Slot = 0
    private var total = 0
    /// Those whose time is over first; more than `limit` of them until they are sorted out.
    private var soonest: [Row] = []
    /// One that comes behind this is none of them.
    private var last: Row?

    private struct Row {
        /// In the table of calls; nil of a read that is held back.
        var place: UInt32?
        var call: OpenCall
        /// How many were found before it.
        var number: Int

        /// Those whose time has not begun come last.
        private var left: Milliseconds { call.left ?? .max }

        func isBefore(_ other: Row) -> Bool { (left, number) < (other.left, other.number) }
    }

    init(_ filter: TimerFilter, limit: Int) {
        self.filter = filter
        self.limit = limit
    }

    /// Looks at some more places; true when it is through.
    ///
    /// - Parameter left: how many places it may look at; what is left of them afterwards.
    mutating func advance(_ partition: Partition, left: inout Slot) -> Bool {
        let count = partition.providers.callPlaces
        let end = UInt32(min(UInt64(count), UInt64(nextPlace) + UInt64(left)))
        left -= end - min(end, nextPlace)
        while nextPlace < end {
            if let call = partition.providers.openCall(at: nextPlace, now: partition.now.monotonic),
                filter.matches(call, partition)
            {
                take(call, at: nextPlace)
            }
            nextPlace += 1
        }
        return nextPlace >= count && advanceHeld(partition, left: &left)
    }

    /// Looks at the reads that are held back.
    private mutating func advanceHeld(_ partition: Partition, left: inout Slot) -> Bool {
        while let family = families.first {
            let isWanted = filter.family.map { $0 == family } ?? true
            let held = Self.held(of: family, partition)
            let count = isWanted && !held.isEmpty ? partition.engine.slotCount(of: family) : 0
            let end = Slot(min(UInt64(count), UInt64(nextSlot) + UInt64(left)))
            left -= end - min(end, nextSlot)
            while nextSlot < end {
                if let read = held.read(at: nextSlot) {
                    let call = Self.call(read, of: family)
                    if filter.matches(call, partition) { take(call, at: nil) }
                }
                nextSlot += 1
            }
            guard nextSlot >= count else { return false }
            families.removeFirst()
            nextSlot = 0
        }
        return true
    }

    private static func held(of family: EntityFamily, _ partition: Partition) -> HeldReads {
        family == .widget ? partition.heldWidgetReads : partition.heldReads
    }

    private static func call(_ read: HeldReads.Read, of family: EntityFamily) -> OpenCall {
        OpenCall(
            id: CallID(0), purpose: family == .widget ? .timeline(read.entity) : .value(read.entity), kind: read.kind,
            provider: nil, age: nil, left: nil, attempt: 1)
    }

    /// - Parameter place: in the table of calls; nil of a read that is held back.
    private mutating func take(_ call: OpenCall, at place: UInt32?) {
        let row = Row(place: place, call: call, number: total)
        total += 1
        if let last, !row.isBefore(last) { return }
        soonest.append(row)
        if soonest.count == 2 * limit { sortOut() }
    }

    /// A row's call as it is now; nil where that is over.
    private static func present(_ row: Row, _ partition: Partition) -> OpenCall? {
        guard partition.isThere(row.call.purpose) else { return nil }
        guard let place = row.place else {
            let (held, wanted): (HeldReads.Read?, SlotRef)
            switch row.call.purpose {
            case .value(let control): (held, wanted) = (partition.heldReads.read(at: control.slot), control)
            case .timeline(let widget): (held, wanted) = (partition.heldWidgetReads.read(at: widget.slot), widget)
            case .perform, .performWidget, .question: return nil
            }
            return held?.entity == wanted ? row.call : nil
        }
        let call = partition.providers.openCall(at: place, now: partition.now.monotonic)
        return call?.id == row.call.id && call?.purpose == row.call.purpose ? call : nil
    }

    /// Keeps the first `limit`.
    private mutating func sortOut() {
        soonest.sort { $0.isBefore($1) }
        guard soonest.count > limit else { return }
        soonest.removeSubrange(limit...)
        last = soonest.last
    }

    /// Writes the members of the answer that tell of calls.
    mutating func write(to writer: inout JSONWriter, _ partition: Partition) {
        sortOut()
        let start = writer.count
        writer.key("calls")
        writer.beginArray()
        for row in soonest {
            guard let call = Self.present(row, partition) else { continue }
            let end = writer.count
            write(call, to: &writer, partition)
            if writer.count - start > Self.maximumBytes {
                writer.truncate(to: end)
                break
            }
        }
        writer.endArray()
        writer.field("callsTotal", total)
    }

    /// Beside as many timers as there may be, so that the answer fits into a frame.
    private static let maximumBytes = ListBounds.maximumBytes / 4

    private func write(_ call: OpenCall, to writer: inout JSONWriter, _ partition: Partition) {
        writer.beginObject()
        writer.field("op", name: partition.op(of: call.purpose))
        if let place = call.purpose.place {
            writer.identity(of: place, of: partition.engine)
        } else {
            let kind = ServedKind(number: call.kind)
            writer.field("family", name: kind.family.wireName)
            writer.kind(kind, of: partition.engine)
        }
        if let provider = call.provider { writer.field("provider", provider) }
        if let age = call.age { writer.field("age", age) }
        if let left = call.left { writer.field("left", left) }
        writer.field("attempt", call.attempt)
        writer.field("isWaiting", call.provider == nil)
        writer.endObject()
    }
}

extension Partition {
    /// The op by which a provider is asked.
    fileprivate func op(of purpose: ProviderTable.Purpose) -> StaticString {
        switch purpose {
        case .value: "control.value"
        case .perform: "control.perform"
        case .timeline: "widget.timeline"
        case .performWidget: "widget.perform"
        case .question(let number): opOfQuestion(number)
        }
    }
}

extension JSONWriter {
    /// Which kind something is of: app and kind.
    mutating func kind(_ kind: ServedKind, of engine: borrowing Engine) {
        app(engine.app(ofKind: kind), of: engine)
        field("kind", plain: engine.name(ofKind: kind))
    }
}
