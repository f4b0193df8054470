import IsletCore
import IsletProtocol

/// `timer.list` on its way through the slabs of all families and through the calls to providers, in bounded turns.
///
/// It counts all timers that match, by the hour, and keeps the earliest. Over several turns timers may be armed and take
/// effect under it; then what it says is said to be inexact, and rows that hold no longer are left out.
final class TimerScan {
    /// How many hours are told apart.
    static let hourCount = 24
    private static let hour: Milliseconds = 3_600_000

    private let filter: TimerFilter?
    private var calls: CallScan?
    private let limit: Int
    /// When it began: hours count from here.
    private let begunAt: Instant
    private var families: [EntityFamily]
    private var nextSlot: Slot = 0
    private var turns = 0
    /// The earliest that were found; more than `limit` of them until they are sorted out.
    private var earliest: [ArmedTimer] = []
    /// A timer that is later than this is none of them.
    private var latest = Instant.never
    private var total = 0
    private var overdue = 0
    private var hours = [Int](repeating: 0, count: hourCount)
    private var later = 0

    /// - Parameter filter: nil where nothing matches.
    init(_ filter: TimerFilter?, limit: Int, at now: Instant) {
        self.filter = filter
        calls = filter.map { CallScan($0, limit: limit) }
        self.limit = limit
        begunAt = now
        families = filter.map { filter in filter.family.map { [$0] } ?? Engine.timedFamilies } ?? []
        earliest.reserveCapacity(2 * limit)
    }

    /// Looks at some more slots; true when it is through.
    func advance(_ partition: Partition) -> Bool {
        var left = ListBounds.slotsPerTurn
        return advance(partition, left: &left)
    }

    /// - Parameter left: how many slots it may look at; what is left of them afterwards.
    func advance(_ partition: Partition, left: inout Slot) -> Bool {
        guard let filter else { return true }
        turns += 1
        guard advance(filter, partition.engine, left: &left) else { return false }
        return calls?.advance(partition, left: &left) ?? true
    }

    private func advance(_ filter: TimerFilter, _ engine: borrowing Engine, left: inout Slot) -> Bool {
        while let family = families.first {
            let count = engine.slotCount(of: family)
            let end = Slot(min(UInt64(count), UInt64(nextSlot) + UInt64(left)))
            left -= end - min(end, nextSlot)
            while nextSlot < end {
                let place = EntityPlace(family, nextSlot)
                if let timer = engine.timer(at: place), filter.matches(place, in: engine) { take(timer) }
                nextSlot += 1
            }
            guard end == count else { return false }
            families.removeFirst()
            nextSlot = 0
        }
        return true
    }

    private func take(_ timer: ArmedTimer) {
        total += 1
        if timer.at <= begunAt { overdue += 1 }
        let hour = max(0, timer.at - begunAt) / Self.hour
        if hour < Milliseconds(Self.hourCount) { hours[Int(hour)] += 1 } else { later += 1 }
        guard timer.at <= latest else { return }
        earliest.append(timer)
        if earliest.count == 2 * limit { sortOut() }
    }

    /// Keeps the earliest `limit`.
    private func sortOut() {
        earliest.sort { ($0.at, $0.place) < ($1.at, $1.place) }
        guard earliest.count > limit else { return }
        earliest.removeSubrange(limit...)
        latest = earliest.last?.at ?? .never
    }

    /// Writes the answer.
    func write(to writer: inout JSONWriter, _ envelope: Envelope, _ frame: Span<UInt8>, _ partition: Partition) {
        sortOut()
        writer.beginAnswer(envelope, frame, ok: true)
        writer.key("timers")
        writer.beginArray()
        // Over several turns another entity may have come to stand there, or the timer was armed anew.
        for timer in earliest where turns <= 1 || partition.engine.timer(at: timer.place) == timer {
            writer.timer(timer, of: partition.engine)
        }
        writer.endArray()
        writer.field("total", total)
        writer.field("overdue", overdue)
        writer.key("hours")
        writer.beginArray()
        let last = hours.lastIndex { $0 > 0 } ?? -1
        for hour in hours.indices where hour <= last {
            writer.beginObject()
            writer.field("from", begunAt + Milliseconds(hour) * Self.hour)
            writer.field("count", hours[hour])
            writer.endObject()
        }
        writer.endArray()
        writer.field("later", later)
        if calls != nil {
            calls?.write(to: &writer, partition)
        } else {
            writer.key("calls")
            writer.beginArray()
            writer.endArray()
            writer.field("callsTotal", 0)
        }
        writer.field("exact", turns <= 1)
        writer.endObject()
    }
}
