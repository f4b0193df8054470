import IsletCore
import IsletProtocol

/// The calls to providers of `timer.list`: those that are in flight or wait, in bounded turns.
///
/// It counts all that match, and keeps those whose time is over first. Over several turns calls may end and be asked for
/// under it: rows that are over by then are left out.
struct CallScan {
    private let filter: TimerFilter
    private let limit: Int
    private var nextPlace: UInt32 = 0
    private var total = 0
    /// Those whose time is over first; more than `limit` of them until they are sorted out.
    private var soonest: [Row] = []
    /// One that has longer than this is none of them.
    private var longest = Milliseconds.max

    private struct Row {
        var place: UInt32
        var call: OpenCall

        /// Those whose time has not begun come last.
        var left: Milliseconds { call.left ?? .max }
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
            if let call = Self.call(at: nextPlace, of: partition), filter.matches(call, partition) {
                take(Row(place: nextPlace, call: call))
            }
            nextPlace += 1
        }
        return nextPlace >= count
    }

    /// The call at a place. Of what was removed there is none, though the table hears of it with the commit: another one may
    /// stand in its slot by then.
    private static func call(at place: UInt32, of partition: Partition) -> OpenCall? {
        guard let call = partition.providers.openCall(at: place, now: partition.now.monotonic) else { return nil }
        let isThere =
            switch call.purpose {
            case .value(let control), .perform(let control): partition.engine.controls.record(control) != nil
            case .timeline(let widget), .performWidget(let widget): partition.engine.widgets.record(widget) != nil
            case .question: true
            }
        return isThere ? call : nil
    }

    private mutating func take(_ row: Row) {
        total += 1
        guard row.left <= longest else { return }
        soonest.append(row)
        if soonest.count == 2 * limit { sortOut() }
    }

    /// Keeps the first `limit`.
    private mutating func sortOut() {
        soonest.sort { ($0.left, $0.place) < ($1.left, $1.place) }
        guard soonest.count > limit else { return }
        soonest.removeSubrange(limit...)
        longest = soonest.last?.left ?? .max
    }

    /// Writes the members of the answer that tell of calls.
    mutating func write(to writer: inout JSONWriter, _ partition: Partition) {
        sortOut()
        let start = writer.count
        writer.key("calls")
        writer.beginArray()
        for row in soonest {
            guard let call = Self.call(at: row.place, of: partition), call.id == row.call.id,
                call.purpose == row.call.purpose
            else { continue }
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
        switch call.purpose {
        case .value(let control), .perform(let control):
            writer.identity(of: EntityPlace(.control, control.slot), of: partition.engine)
        case .timeline(let widget), .performWidget(let widget):
            writer.identity(of: EntityPlace(.widget, widget.slot), of: partition.engine)
        case .question:
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
