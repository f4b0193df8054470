package import IsletCore

/// Where domain time comes from (contract, "Two clocks").
package enum ClockMode: Equatable, Sendable {
    /// The wall clock.
    case system
    /// Stands still at `from` until it is advanced.
    case manual(from: Instant)
    /// `from` + `factor` × the real time since the first reading.
    case speed(from: Instant, factor: Double)
}

/// Domain time: a value that turns readings of real clocks into instants that never go back.
///
/// A wall clock that is set back makes domain time stand still until it has caught up; one that is set right again at once
/// goes on where it would be. One that is set forward by more than the guard's limit is believed only once it has stayed
/// so for a grace: until then domain time goes on at the old pace, because one bad answer of a time server must not end
/// every activity.
package struct DomainClock: Sendable {
    /// When a wall clock that was set forward is believed.
    package struct JumpGuard: Equatable, Sendable {
        /// A step of more than this many milliseconds is held back.
        package var limit: Milliseconds
        /// For this many milliseconds of real time; then it is believed.
        package var grace: Milliseconds

        package init(limit: Milliseconds, grace: Milliseconds) {
            self.limit = limit
            self.grace = grace
        }

        /// More than a minute is held back for half a minute.
        package static let standard = JumpGuard(limit: 60_000, grace: 30_000)
    }

    /// Why domain time cannot be moved.
    package enum AdvanceError: Error, Equatable, Sendable {
        /// Only a manual clock is moved.
        case notManual
        /// It never goes back; this is where it stands.
        case backwards(now: Instant)
    }

    /// With a wall clock the poll wakes at least this often, in milliseconds, so that a clock that is set is noticed.
    package static let wallPollLimit = 250
    /// No poll waits longer than this, in milliseconds.
    package static let pollLimit = 60_000

    package let mode: ClockMode
    private let jumpGuard: JumpGuard?
    private var current: Instant
    /// `speed`: the instant at the first reading.
    private var startedAt: Instant
    /// `speed`: where it waits until it may go on.
    private var bound = Instant.never
    /// `speed`: how many milliseconds it is behind where it would be, as it waits there; then it leaps.
    package private(set) var behind: Milliseconds = 0
    /// `speed`: the reading at which `from` was now, in nanoseconds.
    private var origin: Int64?
    /// `system`: wall time minus monotonic time, as it is believed, in milliseconds.
    private var offset: Milliseconds?
    /// `system`: the same where domain time last went on with the wall clock: where it would be, had nobody set it back.
    private var pace: Milliseconds = 0
    /// `system`: the step forward that is held back.
    private var held: HeldStep?

    /// A step of the wall clock that is not believed yet.
    private struct HeldStep {
        /// Wall time minus monotonic time after it, in milliseconds.
        let offset: Milliseconds
        /// Since when it is held back, in monotonic milliseconds.
        let since: Milliseconds
    }

    /// - Parameters:
    ///   - notBefore: Domain time that was persisted: the clock starts there at the earliest.
    ///   - jumpGuard: nil believes every step at once.
    package init(_ mode: ClockMode, notBefore: Instant = Instant(0), jumpGuard: JumpGuard? = .standard) {
        self.mode = mode
        self.jumpGuard = jumpGuard
        switch mode {
        case .system: current = notBefore
        case .manual(let from), .speed(let from, _): current = max(from, notBefore)
        }
        startedAt = current
    }

    /// Whether `clock.advance` moves it.
    package var isManual: Bool {
        switch mode {
        case .manual: true
        case .system, .speed: false
        }
    }

    /// How many times faster than real time domain time runs; 1 where it is as fast, or stands.
    package var factor: Double {
        switch mode {
        case .system, .manual: 1
        case .speed(_, let factor): factor
        }
    }

    /// What a span of domain time takes of real time, in whole milliseconds.
    package func realTime(of span: Milliseconds) -> Milliseconds {
        factor == 1 ? span : Milliseconds(exactly: (Double(span) / factor).rounded(.down)) ?? .max
    }

    /// How many milliseconds of a step of the wall clock are held back at present; 0 nearly always.
    package private(set) var heldBack: Milliseconds = 0

    /// `system`: how many milliseconds domain time is ahead of a wall clock that was set back, until which has caught up it
    /// stands still; 0 nearly always.
    package private(set) var ahead: Milliseconds = 0

    /// The domain time at a reading; not before that of the reading before.
    package mutating func now(_ reading: ClockReading) -> Instant {
        switch mode {
        case .manual: break
        case .system: current = max(current, wallTime(reading))
        case .speed(_, let factor):
            let origin = origin ?? reading.monotonicNanoseconds
            self.origin = origin
            let elapsed = Double(max(0, reading.monotonicNanoseconds - origin)) / 1_000_000 * factor
            let goal = startedAt + (Milliseconds(exactly: elapsed.rounded(.down)) ?? .max)
            current = max(current, min(goal, bound))
            behind = max(0, goal - current)
        }
        return current
    }

    /// `speed`: whether it waits for more to be told.
    package var isWaiting: Bool { behind > 0 }

    /// Lets a clock of another speed come as far as a date, where it waits until it is told more.
    package mutating func mayReach(_ instant: Instant) { bound = instant }

    /// Lets a clock of another speed begin at a date, if it is not there yet; gives where it stands.
    package mutating func begin(at instant: Instant) -> Instant {
        startedAt = max(startedAt, instant)
        current = max(current, instant)
        return current
    }

    /// Moves a manual clock; the owner moves it from deadline to deadline, so that each takes effect at its own date.
    package mutating func advance(to instant: Instant) throws(AdvanceError) {
        guard isManual else { throw .notManual }
        guard instant >= current else { throw .backwards(now: current) }
        current = instant
    }

    /// How many milliseconds a poll may wait for a domain deadline, from the last reading on: 0 where it is due, nil where
    /// real time alone never brings it.
    package func pollTimeout(until deadline: Instant) -> Int? {
        let wait = deadline > current ? (deadline.isSet ? deadline - current : .max) : 0
        switch mode {
        case .manual: return wait == 0 ? 0 : nil
        case .system: return Int(min(wait, Milliseconds(Self.wallPollLimit)))
        case .speed(_, let factor):
            // Rounded up: waking early would only mean to wait again.
            return Int(min((Double(wait) / factor).rounded(.up), Double(Self.pollLimit)))
        }
    }

    /// The wall time of a reading as far as it is believed.
    private mutating func wallTime(_ reading: ClockReading) -> Instant {
        let monotonic = reading.monotonicNanoseconds / 1_000_000
        let measured = reading.wall - monotonic
        guard let jumpGuard, let offset, measured - pace > jumpGuard.limit else {
            believe(measured, reading)
            return Instant(reading.wall)
        }
        // Another step has a grace of its own.
        let step =
            held.flatMap { abs(measured - $0.offset) <= jumpGuard.limit ? $0 : nil }
            ?? HeldStep(offset: measured, since: monotonic)
        guard monotonic - step.since < jumpGuard.grace else {
            believe(measured, reading)
            return Instant(reading.wall)
        }
        held = step
        ahead = 0
        // Also where it was set back before: domain time goes on where it would be, had nobody set the clock.
        let undisturbed = max(offset, pace)
        heldBack = measured - undisturbed
        return Instant(monotonic + undisturbed)
    }

    private mutating func believe(_ measured: Milliseconds, _ reading: ClockReading) {
        // Where the wall clock is behind, domain time stands still.
        ahead = max(0, current - Instant(reading.wall))
        if offset == nil || ahead == 0 { pace = measured }
        offset = measured
        held = nil
        heldBack = 0
    }
}
