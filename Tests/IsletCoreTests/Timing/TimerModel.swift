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
