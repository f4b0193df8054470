package import IsletClient
import IsletFilter
import Synchronization

/// One reading of `service.stats`.
package struct StatsReading {
    let stats: RawObject
    /// When it was read, on this machine.
    let takenAt: ContinuousClock.Instant

    /// - Throws: an `IsletError` where the answer has no figures.
    init(_ answer: Answer, takenAt: ContinuousClock.Instant = .now) throws {
        guard let stats = answer["stats"]?.object else { throw IsletError.unreadable("no stats") }
        self.init(stats, takenAt: takenAt)
    }

    /// The figures of an answer.
    package init(_ stats: RawObject, takenAt: ContinuousClock.Instant = .now) {
        self.stats = stats
        self.takenAt = takenAt
    }

    /// The integer at a path such as `timers`, `armed`; nil where it is absent.
    func number(_ path: String...) -> Int64? { number(path) }

    func number(_ path: [String]) -> Int64? {
        var object = stats
        for name in path.dropLast() {
            guard let inner = object[name]?.object else { return nil }
            object = inner
        }
        return path.last.flatMap { object[$0]?.integer }
    }

    /// The object at a path; nil where it is absent.
    func object(_ path: String...) -> RawObject? {
        var object = stats
        for name in path {
            guard let inner = object[name]?.object else { return nil }
            object = inner
        }
        return object
    }

    /// Whether the service was not started anew since an earlier reading, as far as both tell.
    func isOfSameRun(as earlier: StatsReading) -> Bool {
        [["uptime"], ["commands", "taken"], ["events"]].allSatisfy { path in
            guard let before = earlier.number(path), let after = number(path) else { return true }
            return after >= before
        }
    }

    var now: Int64 { stats["now"]?.integer ?? 0 }
}

/// What happened between two readings, for each second.
struct StatsRates: Equatable {
    let commands: Double?
    let events: Double?
    let refused: Double?

    init(from first: StatsReading, to second: StatsReading) {
        // The service's own clock counts where it gives one: the way there may take a while.
        let uptimes = (first.number("uptime"), second.number("uptime"))
        let ours = Double(Span(second.takenAt - first.takenAt).milliseconds)
        var span = ours
        let isSameRun = second.isOfSameRun(as: first)
        if let before = uptimes.0, let after = uptimes.1, after > before {
            span = Double(after.subtractingClamped(before))
        }
        func rate(_ before: Int64?, _ after: Int64?) -> Double? {
            guard isSameRun, span > 0, let before, let after, after >= before else { return nil }
            return Double(after.subtractingClamped(before)) * 1_000 / span
        }
        commands = rate(first.number("commands", "taken"), second.number("commands", "taken"))
        events = rate(first.number("events"), second.number("events"))
        refused = rate(first.number("commands", "refused"), second.number("commands", "refused"))
    }
}

/// What a watch has seen, for its last line.
final class WatchedStats: Sendable {
    private struct Seen {
        var firstAt: ContinuousClock.Instant?
        var last: StatsReading?
        /// nil where the service does not say it.
        var commands: Int64? = 0
        var events: Int64? = 0
        /// How often the service was started again.
        var restarts = 0
    }

    private let seen = Mutex(Seen())

    func add(_ reading: StatsReading) {
        seen.withLock { seen in
            defer { seen.last = reading }
            guard let last = seen.last else {
                seen.firstAt = reading.takenAt
                return
            }
            let isSameRun = reading.isOfSameRun(as: last)
            if !isSameRun { seen.restarts += 1 }
            // A new run counts from 0. What the old one did after it was read for the last time is not known.
            func sum(_ sum: Int64?, _ path: String...) -> Int64? {
                guard let sum, let before = last.number(path), let after = reading.number(path) else { return nil }
                return sum.addingClamped(isSameRun ? after.subtractingClamped(before) : after)
            }
            seen.commands = sum(seen.commands, "commands", "taken")
            seen.events = sum(seen.events, "events")
        }
    }

    /// Such as `in 12 s: 3 014 commands, 2 950 events`; nil where there was only one reading.
    var summary: String? {
        let seen = seen.withLock { $0 }
        guard let first = seen.firstAt, let last = seen.last?.takenAt, first < last else { return nil }
        func count(_ number: Int64?) -> String { number.map { RecoveryText.grouped(Int(clamping: $0)) } ?? "?" }
        let counted = "\(count(seen.commands)) commands, \(count(seen.events)) events"
        let time = "in \(TimeText.span(Span(last - first).milliseconds))"
        guard seen.restarts > 0 else { return "\(time): \(counted)" }
        let times = seen.restarts == 1 ? "once" : "\(seen.restarts) times"
        return "\(time): at least \(counted); the service was started again \(times)"
    }
}
