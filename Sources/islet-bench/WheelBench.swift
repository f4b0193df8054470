import IsletCore

/// The timer wheel, its timers in random order: 60 % of the deadlines within 30 minutes, 40 % within 8 hours.
enum WheelBench {
    private static let start = Instant(1_780_000_000_000)
    private static let passes = 5

    static func round(_ meter: inout Meter) {
        var random = SplitMix(seed: 1)
        let order = (0..<UInt32(meter.population)).shuffled(using: &random)
        let first = deadlines(meter.population, using: &random)
        let second = deadlines(meter.population, using: &random)

        // The first pass grows the wheel; the second finds its memory in place, as a service that runs does.
        var wheel = TimerWheel(start: start)
        if meter.purpose != .time || !meter.rows.isEmpty {
            for slot in order { wheel.arm(slot, at: first[0]) }
            for slot in order { wheel.cancel(slot) }
        }
        meter.measure("insert") { wheel.arm(order[$0], at: first[$0]) }
        meter.measure("re-arm") { wheel.arm(order[$0], at: second[$0]) }
        meter.measure("re-arm a minute later") { wheel.arm(order[$0], at: second[$0] + 60_000) }
        meter.measure("cancel") { wheel.cancel(order[$0]) }
        precondition(wheel.armedCount == 0)

        for index in 0..<meter.count { wheel.arm(order[index], at: first[index]) }
        // From one instant with work to the next.
        meter.measure("expiry") { _ in
            while wheel.popDue(now: wheel.nextWork()) == nil {}
        }
        precondition(wheel.armedCount == 0)
        if meter.purpose == .time, meter.figures.isEmpty { measureSteps(&meter, order, first) }
    }

    private static func deadlines(_ count: Int, using random: inout SplitMix) -> [Instant] {
        let halfHour: Milliseconds = 30 * 60_000
        let eightHours: Milliseconds = 8 * 60 * 60_000
        return (0..<count).map { _ in
            let isNear = Int.random(in: 0..<100, using: &random) < 60
            return start + Milliseconds.random(in: 1...(isNear ? halfHour : eightHours), using: &random)
        }
    }

    /// Eight hours in steps of 10 ms, each as the engine's loop would take it. Every pass does the same work, so that
    /// the least time of a step over all passes is the wheel's own, without what else the machine did meanwhile.
    private static func measureSteps(_ meter: inout Meter, _ order: [UInt32], _ deadlines: [Instant]) {
        let clock = ContinuousClock()
        var steps: [Duration] = []
        for pass in 0..<passes {
            var wheel = TimerWheel(start: start)
            for index in order.indices { wheel.arm(order[index], at: deadlines[index]) }
            var now = start
            var step = 0
            while wheel.armedCount > 0 {
                now = now + 10
                let begin = clock.now
                repeat {
                    while wheel.popDue(now: now) != nil {}
                } while wheel.nextWork() <= now
                let time = clock.now - begin
                if pass == 0 { steps.append(time) } else { steps[step] = min(steps[step], time) }
                step += 1
            }
        }
        steps.sort()
        let worst = steps.count - 1
        meter.figure("worst of \(steps.count) steps of 10 ms, us", steps[worst] / .microseconds(1))
        meter.figure("99.9 % of them within, us", steps[max(0, worst - steps.count / 1_000)] / .microseconds(1))
    }
}
