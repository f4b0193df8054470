import IsletServer

/// The machine's two clocks, which faults bend.
struct MachineClock {
    /// True time in milliseconds since the run began.
    private(set) var elapsed: Int64 = 0
    private var bootedAt: Int64 = 0
    private var offset: Int64
    private var frozenAt: Int64?

    init(wall: Int64) {
        offset = wall
    }

    var wall: Int64 { frozenAt ?? elapsed + offset }

    /// Real milliseconds since the machine began, or a little more.
    var monotonic: Int64 { elapsed - bootedAt + 1_000 }

    var reading: ClockReading {
        ClockReading(wall: wall, monotonicNanoseconds: monotonic * 1_000_000)
    }

    mutating func pass(_ span: Int64) { elapsed += span }

    /// Somebody sets the wall clock. It stays where dates are plausible.
    mutating func jump(_ span: Int64) {
        if wall + span > 1_100_000_000_000 { offset += span }
    }

    /// The wall clock stands still until ``thaw()``.
    mutating func freeze() { frozenAt = wall }

    mutating func thaw() { frozenAt = nil }

    /// The monotonic clock begins anew.
    mutating func reboot() { bootedAt = elapsed }
}
