import IsletCore

/// What the wheel must do, in its plainest form: a list of deadlines, searched from end to end.
struct TimerModel {
    private(set) var deadlines: [Instant]

    init(slots: Int) {
        deadlines = Array(repeating: .never, count: slots)
    }

    var armedCount: Int { deadlines.count { $0.isSet } }

    var earliest: Instant { deadlines.min() ?? .never }

    mutating func arm(_ slot: UInt32, at deadline: Instant) { deadlines[Int(slot)] = deadline }

    mutating func cancel(_ slot: UInt32) { deadlines[Int(slot)] = .never }

    mutating func popDue(now: Instant) -> (slot: UInt32, deadline: Instant)? {
        var best = 0
        for slot in deadlines.indices where deadlines[slot] < deadlines[best] { best = slot }
        let deadline = deadlines[best]
        guard deadline.isSet, deadline <= now else { return nil }
        deadlines[best] = .never
        return (UInt32(best), deadline)
    }
}

/// A seeded generator (SplitMix64): a failure is repeated with the seed that it prints.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True once in `count` times.
    mutating func oneIn(_ count: UInt64) -> Bool { next() % count == 0 }

    mutating func below(_ limit: Int64) -> Int64 { Int64(next() % UInt64(limit)) }
}
