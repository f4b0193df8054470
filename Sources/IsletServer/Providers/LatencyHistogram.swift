package import IsletCore

/// How long calls took, in milliseconds: exact below 16, and to an eighth above.
package struct LatencyHistogram: Sendable {
    private static let exact = 16
    /// Each doubling of the time has eight counters; the last one also has all that took longer, 2^17 ms.
    private static let counters = exact + 13 * 8

    private var counts = [UInt64](repeating: 0, count: counters)
    package private(set) var count: UInt64 = 0
    package private(set) var longest: Milliseconds = 0
    /// The sum of all, for the mean.
    package private(set) var sum: Milliseconds = 0

    package init() {}

    package mutating func add(_ time: Milliseconds) {
        let time = max(0, time)
        counts[Self.counter(of: time)] += 1
        count += 1
        sum &+= time
        longest = max(longest, time)
    }

    /// The time that this share of all calls did not exceed; nil before the first.
    package func quantile(_ share: Double) -> Milliseconds? {
        guard count > 0 else { return nil }
        let wanted = min(max(0, share), 1) * Double(count)
        var rank = UInt64(wanted)
        if Double(rank) < wanted || rank == 0 { rank += 1 }
        var seen: UInt64 = 0
        for (counter, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return min(longest, Self.upperBound(of: counter)) }
        }
        return longest
    }

    private static func counter(of time: Milliseconds) -> Int {
        guard time >= exact else { return Int(time) }
        let octave = 63 - time.leadingZeroBitCount
        return min(counters - 1, exact + (octave - 4) * 8 + Int(time >> Int64(octave - 3)) & 7)
    }

    private static func upperBound(of counter: Int) -> Milliseconds {
        guard counter >= exact else { return Int64(counter) }
        let octave = (counter - exact) / 8 + 4
        let step = Int64(1) << Int64(octave - 3)
        return Int64(1) << Int64(octave) + Int64((counter - exact) % 8 + 1) * step - 1
    }
}
