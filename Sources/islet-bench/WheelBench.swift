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

        var insert = Figure()
        var rearm = Figure()
        var extend = Figure()
        var cancel = Figure()
        // The first round grows the wheel; the others find its memory in place.
        var wheel = TimerWheel(start: start)
        for _ in 0...rounds {
            insert.add(measure { for index in 0..<timers { wheel.arm(order[index], at: first[index]) } })
            rearm.add(measure { for index in 0..<timers { wheel.arm(order[index], at: second[index]) } })
            extend.add(measure { for index in 0..<timers { wheel.arm(order[index], at: second[index] + 60_000) } })
            cancel.add(measure { for slot in order.reversed() { wheel.cancel(slot) } })
        }
        precondition(wheel.armedCount == 0)
        print("insert   \(insert.perOperation(timers))  (first round, growing: \(insert.firstRound(timers)))")
        print("re-arm   \(rearm.perOperation(timers))  (one minute later: \(extend.perOperation(timers)))")
        print("cancel   \(cancel.perOperation(timers))")

        var expiry = Figure()
        for _ in 0...rounds {
            for index in 0..<timers { wheel.arm(order[index], at: first[index] + (wheel.cursor - start)) }
            expiry.add(measure { expireAll(&wheel) })
        }
        print("expiry   \(expiry.perOperation(timers))  (from one instant with work to the next)")

        for index in 0..<timers { wheel.arm(order[index], at: first[index] + (wheel.cursor - start)) }
        printSteps(&wheel)
    }

    private static func deadlines(using random: inout SplitMix) -> [Instant] {
        let halfHour: Milliseconds = 30 * 60_000
        let eightHours: Milliseconds = 8 * 60 * 60_000
        return (0..<timers).map { _ in
            let isNear = Int.random(in: 0..<100, using: &random) < 60
            return start + Milliseconds.random(in: 1...(isNear ? halfHour : eightHours), using: &random)
        }
    }

    private static func expireAll(_ wheel: inout TimerWheel) {
        while true {
            let now = wheel.nextWork()
            guard now.isSet else { return }
            while wheel.popDue(now: now) != nil {}
        }
    }

    /// Eight hours in steps of 10 ms, each as the engine's loop would take it.
    private static func printSteps(_ wheel: inout TimerWheel) {
        let clock = ContinuousClock()
        var now = wheel.cursor
        var fired = 0
        var steps: [Duration] = []
        steps.reserveCapacity(3_000_000)
        while wheel.armedCount > 0 {
            now = now + 10
            let begin = clock.now
            repeat {
                while wheel.popDue(now: now) != nil { fired += 1 }
            } while wheel.nextWork() <= now
            steps.append(clock.now - begin)
        }
        precondition(fired == timers)
        steps.sort()
        let worst = steps[steps.count - 1]
        let usual = steps[steps.count - 1 - steps.count / 1000]
        print("10 ms steps  worst \(microseconds(worst)), 99.9 % within \(microseconds(usual)), \(steps.count) steps")
    }

    private static func microseconds(_ duration: Duration) -> String {
        "\(duration.components.attoseconds / 1_000_000_000_000) us"
    }

    private static func measure(_ body: () -> Void) -> Duration {
        ContinuousClock().measure(body)
    }
}

/// The times of several rounds; the first is kept apart.
private struct Figure {
    private var first: Duration?
    private var best = Duration.seconds(1_000_000)

    mutating func add(_ duration: Duration) {
        if first == nil { first = duration } else { best = min(best, duration) }
    }

    func perOperation(_ count: Int) -> String { Self.format(best, count) }

    func firstRound(_ count: Int) -> String { Self.format(first ?? .zero, count) }

    private static func format(_ duration: Duration, _ count: Int) -> String {
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
