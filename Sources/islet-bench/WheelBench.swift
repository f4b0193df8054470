import IsletCore

/// The timer wheel at a million armed timers in random order: 60 % of the deadlines within 30 minutes, 40 % within 8 hours.
enum WheelBench {
    private static let timers = 1_000_000
    private static let rounds = 5
    private static let start = Instant(1_780_000_000_000)
    private static let seed: UInt64 = 1

    static func run() {
        var random = SplitMix(seed: seed)
        let order = (0..<UInt32(timers)).shuffled(using: &random)
        let first = deadlines(using: &random)
        let second = deadlines(using: &random)
        print("wheel, \(timers) timers in random order, best of \(rounds) rounds")

        var insert = Figure(timers)
        var rearm = Figure(timers)
        var extend = Figure(timers)
        var cancel = Figure(timers)
        var wheel = TimerWheel(start: start)
        // The first round grows the wheel; the others find its memory in place.
        for _ in 0...rounds {
            insert.measure { wheel.arm(order[$0], at: first[$0]) }
            rearm.measure { wheel.arm(order[$0], at: second[$0]) }
            extend.measure { wheel.arm(order[$0], at: second[$0] + 60_000) }
            cancel.measure { wheel.cancel(order[$0]) }
        }
        precondition(wheel.armedCount == 0)
        print("insert   \(insert.best)  (first round, growing: \(insert.first))")
        print("re-arm   \(rearm.best)  (to one minute later: \(extend.best))")
        print("cancel   \(cancel.best)")

        var expiry = Figure(timers)
        for _ in 0..<rounds {
            var wheel = TimerWheel(start: start)
            for index in 0..<timers { wheel.arm(order[index], at: first[index]) }
            expiry.measure { _ in
                while wheel.popDue(now: wheel.nextWork()) == nil {}
            }
            precondition(wheel.armedCount == 0)
        }
        print("expiry   \(expiry.best)  (from one instant with work to the next)")

        printSteps(order, first)
    }

    private static func deadlines(using random: inout SplitMix) -> [Instant] {
        let halfHour: Milliseconds = 30 * 60_000
        let eightHours: Milliseconds = 8 * 60 * 60_000
        return (0..<timers).map { _ in
            let isNear = Int.random(in: 0..<100, using: &random) < 60
            return start + Milliseconds.random(in: 1...(isNear ? halfHour : eightHours), using: &random)
        }
    }

    /// Eight hours in steps of 10 ms, each as the engine's loop would take it. Every round does the same work, so that the
    /// least time of a step over all rounds is the wheel's own, without what else the machine did meanwhile.
    private static func printSteps(_ order: [UInt32], _ deadlines: [Instant]) {
        let clock = ContinuousClock()
        var steps: [Duration] = []
        for round in 0..<rounds {
            var wheel = TimerWheel(start: start)
            for index in 0..<timers { wheel.arm(order[index], at: deadlines[index]) }
            var now = start
            var step = 0
            while wheel.armedCount > 0 {
                now = now + 10
                let begin = clock.now
                repeat {
                    while wheel.popDue(now: now) != nil {}
                } while wheel.nextWork() <= now
                let time = clock.now - begin
                if round == 0 { steps.append(time) } else { steps[step] = min(steps[step], time) }
                step += 1
            }
        }
        steps.sort()
        let worst = steps[steps.count - 1]
        let usual = steps[steps.count - 1 - steps.count / 1000]
        print("10 ms step  worst \(microseconds(worst)), 99.9 % within \(microseconds(usual)), \(steps.count) steps")
    }

    private static func microseconds(_ duration: Duration) -> String {
        "\(duration.components.attoseconds / 1_000_000_000_000) us"
    }
}

/// The time of an operation that is done `count` times in each round. The operations are timed in slices; the sum of each
/// slice's least time over all rounds is the operation's own cost, without what else the machine did meanwhile.
private struct Figure {
    private static let sliceSize = 10_000

    private let count: Int
    private var leastTimes: [Duration] = []
    private var firstTime: Duration?

    init(_ count: Int) { self.count = count }

    mutating func measure(_ operation: (Int) -> Void) {
        let clock = ContinuousClock()
        var times: [Duration] = []
        for begin in stride(from: 0, to: count, by: Self.sliceSize) {
            let slice = begin..<min(begin + Self.sliceSize, count)
            times.append(clock.measure { for index in slice { operation(index) } })
        }
        if firstTime == nil {
            firstTime = times.reduce(.zero, +)
            leastTimes = times
        } else {
            for (index, time) in times.enumerated() { leastTimes[index] = min(leastTimes[index], time) }
        }
    }

    var best: String { perOperation(leastTimes.reduce(.zero, +)) }

    var first: String { perOperation(firstTime ?? .zero) }

    private func perOperation(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let tenths = (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(count) * 10
        return "\(tenths.rounded() / 10) ns/op"
    }
}

/// A seeded generator (SplitMix64), so that every run measures the same work.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
