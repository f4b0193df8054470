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
    func number(_ path: String...) -> Int64? {
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
        var isSameRun = true
        if let before = uptimes.0, let after = uptimes.1 {
            isSameRun = after >= before
            if after > before { span = Double(after.subtractingClamped(before)) }
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
    private struct Ends {
        var first: StatsReading?
        var last: StatsReading?
    }

    private let ends = Mutex(Ends())

    func add(_ reading: StatsReading) {
        ends.withLock { ends in
            ends.first = ends.first ?? reading
            ends.last = reading
        }
    }

    /// Such as `in 12 s: 3 014 commands, 2 950 events`; nil where there was only one reading.
    var summary: String? {
        let ends = ends.withLock { $0 }
        guard let first = ends.first, let last = ends.last, first.takenAt < last.takenAt else { return nil }
        func difference(_ before: Int64?, _ after: Int64?) -> String {
            guard let before, let after, after >= before else { return "?" }
            return RecoveryText.grouped(Int(clamping: after.subtractingClamped(before)))
        }
        let commands = difference(first.number("commands", "taken"), last.number("commands", "taken"))
        let events = difference(first.number("events"), last.number("events"))
        return "in \(TimeText.span(Span(last.takenAt - first.takenAt).milliseconds)): "
            + "\(commands) commands, \(events) events"
    }
}
