import Glibc
package import IsletCore

/// What the operating system's clocks said at one moment.
package struct ClockReading: Equatable, Sendable, BitwiseCopyable {
    /// Wall time in milliseconds since 1970, which somebody may set.
    package var wall: Milliseconds
    /// Real time in nanoseconds since the machine started, suspension included, which nobody can set.
    package var monotonicNanoseconds: Int64

    package init(wall: Milliseconds, monotonicNanoseconds: Int64) {
        self.wall = wall
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// Reads the clocks: two calls that do not enter the kernel.
    ///
    /// `CLOCK_BOOTTIME` and not `CLOCK_MONOTONIC`, because a `ttl` runs out while the machine sleeps, too.
    package static func system() -> ClockReading {
        let wall = read(CLOCK_REALTIME)
        let boot = read(CLOCK_BOOTTIME)
        return ClockReading(
            wall: Milliseconds(wall.tv_sec) * 1_000 + Milliseconds(wall.tv_nsec) / 1_000_000,
            monotonicNanoseconds: Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec))
    }

    /// Real time in nanoseconds, as ``monotonicNanoseconds``.
    package static func monotonic() -> Int64 {
        let boot = read(CLOCK_BOOTTIME)
        return Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // Fails only for a clock that the kernel does not know, and Linux has both since 2.6.39.
        guard clock_gettime(clock, &time) == 0 else { preconditionFailure("a clock is missing") }
        return time
    }
}

/// The time of one turn, read once, so that everything in the turn happens at the same moment.
package struct TurnTime: Equatable, Sendable, BitwiseCopyable {
    /// Domain time: activity dates, retention, the deduplication window.
    package var domain: Instant
    /// Real monotonic time in nanoseconds: latencies.
    package var monotonicNanoseconds: Int64

    package init(domain: Instant, monotonicNanoseconds: Int64) {
        self.domain = domain
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// Real monotonic time in whole milliseconds: `ttl`, watermarks, bulk timeouts, backoff.
    package var monotonic: Milliseconds { monotonicNanoseconds / 1_000_000 }
}

extension DomainClock {
    /// The time of a turn that begins with this reading.
    package mutating func turn(at reading: ClockReading) -> TurnTime {
        TurnTime(domain: now(reading), monotonicNanoseconds: reading.monotonicNanoseconds)
    }
}
