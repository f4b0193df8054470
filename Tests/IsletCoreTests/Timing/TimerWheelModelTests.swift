import IsletCore
import Testing

/// The wheel against the naive list, over millions of random operations.
@Suite("Timer wheel: agreement with a naive list", .timeLimit(.minutes(10)))
struct TimerWheelModelTests {
    /// One kind of life: how many timers share the wheel, how much it may move in one call, how many operations it sees.
    struct Scenario: CustomTestStringConvertible {
        var name: String
        var slots: Int
        var budget: Int
        var operations: Int
        var testDescription: String { name }
    }

    static let scenarios = [
        Scenario(name: "a handful of timers, long jumps", slots: 6, budget: 4096, operations: 600_000),
        Scenario(name: "a handful of timers, one move a call", slots: 6, budget: 1, operations: 600_000),
        Scenario(name: "sixty timers", slots: 60, budget: 4096, operations: 600_000),
        Scenario(name: "sixty timers, three moves a call", slots: 60, budget: 3, operations: 600_000),
        Scenario(name: "six hundred timers, seven moves a call", slots: 600, budget: 7, operations: 150_000),
    ]

    /// Three fixed lives, and one that differs in every run.
    static let seeds: [UInt64] = [1, 2, 3, .random(in: .min ... .max)]

    @Test("never early, never lost, in order", arguments: scenarios, seeds)
    func agreesWithModel(scenario: Scenario, seed: UInt64) {
        var run = ModelRun(scenario: scenario, seed: seed)
        for operation in 0..<scenario.operations {
            if let problem = run.step(operation) {
                Issue.record("seed \(seed), \(scenario.name), operation \(operation): \(problem)")
                return
            }
        }
        // The lives must have been eventful, or they prove nothing.
        #expect(run.fired > scenario.operations / 20, "seed \(seed)")
        #expect(run.firedBehindCursor > 0 && run.ties > 0 && run.firedFromOverflow > 0, "seed \(seed)")
        #expect((run.pauses > 0) == (scenario.budget < scenario.slots), "seed \(seed)")
    }
}

/// A wheel and its model, led through the same random life.
private struct ModelRun: ~Copyable {
    private var wheel: TimerWheel
    private var model: TimerModel
    private var random: SeededRandom
    private var now: Instant
    private var lastFired: Instant
    private var cursorBefore: Instant
    private var armedAt: [Instant]
    private let slots: Int64

    private(set) var fired = 0
    private(set) var ties = 0
    private(set) var firedBehindCursor = 0
    private(set) var firedFromOverflow = 0
    /// How often the budget was spent before the next timer was found.
    private(set) var pauses = 0

    init(scenario: TimerWheelModelTests.Scenario, seed: UInt64) {
        random = SeededRandom(seed: seed)
        // Lives begin before 1970, at it and long after it, at odd places in the wheel.
        now = Instant(random.below(1 << 50) - (1 << 49))
        lastFired = now
        cursorBefore = now
        wheel = TimerWheel(start: now, cascadeBudget: scenario.budget)
        model = TimerModel(slots: scenario.slots)
        armedAt = Array(repeating: now, count: scenario.slots)
        slots = Int64(scenario.slots)
    }

    /// One operation on both; what differs, or nil.
    mutating func step(_ operation: Int) -> String? {
        switch random.below(100) {
        case 0..<38: arm(UInt32(random.below(slots)))
        case 38..<48: cancel(UInt32(random.below(slots)))
        case 48..<50: forgetMany()
        case 50..<60: if let problem = pop() { return problem }
        default:
            moveTime()
            if let problem = catchUp() { return problem }
        }
        return check(thoroughly: operation % 2048 == 0)
    }

    private mutating func arm(_ slot: UInt32) {
        let deadline = randomDeadline()
        wheel.arm(slot, at: deadline)
        model.arm(slot, at: deadline)
        armedAt[Int(slot)] = wheel.cursor
    }

    private mutating func cancel(_ slot: UInt32) {
        wheel.cancel(slot)
        model.cancel(slot)
    }

    /// Cancels most timers, so that lists run empty in every way.
    private mutating func forgetMany() {
        for slot in 0..<UInt32(slots) where !random.oneIn(8) { cancel(slot) }
    }

    private mutating func randomDeadline() -> Instant {
        let hour: Int64 = 3_600_000
        let base = random.oneIn(2) ? now : wheel.cursor
        switch random.below(20) {
        case 0..<3: return base + random.below(4)
        case 3..<5: return base + random.below(4096 * 2)
        case 5..<7: return base + random.below(hour)
        case 7..<9: return base + random.below(20 * hour)
        case 9: return base + random.below(24 * 365 * hour)
        case 10: return onBoundary(of: 12)
        case 11: return onBoundary(of: 12 + 13)
        case 12: return onBoundary(of: 12 + 14)
        case 13: return onBoundary(of: 12 + 14 + random.below(14))
        case 14: return base + (-random.below(6))
        case 15: return base + (-random.below(hour))
        case 16: return lastFired + random.below(3)
        // The same instant as another timer's.
        case 17, 18: return otherDeadline()
        default: return farOut()
        }
    }

    /// Within a millisecond or two of an instant where lists begin.
    private mutating func onBoundary(of bits: Int64) -> Instant {
        let blocks = (wheel.cursor.milliseconds >> bits) + 1 + random.below(2)
        return Instant((blocks << bits) + random.below(4) - 2)
    }

    private mutating func otherDeadline() -> Instant {
        let other = model.deadlines[Int(random.below(slots))]
        return other.isSet ? other : now
    }

    private mutating func farOut() -> Instant {
        switch random.below(8) {
        case 0: Instant(.max - 1 - random.below(3))
        case 1: Instant(.min + random.below(3))
        case 2: .never
        case 3: now + (1 << (30 + random.below(20)))
        default: now + random.below(1 << (30 + random.below(14)))
        }
    }

    private mutating func moveTime() {
        let hour: Int64 = 3_600_000
        switch random.below(16) {
        case 0..<4: now = now + random.below(3)
        case 4..<7: now = now + random.below(100)
        case 7..<9: now = now + random.below(10_000)
        case 9: now = now + random.below(10 * hour)
        case 10: now = now + random.below(random.oneIn(20) ? 24 * 1000 * hour : 40 * hour)
        case 11: now = now + (-random.below(random.oneIn(4) ? hour : 10))
        case 12: now = earliestAhead()
        case 13: now = max(now, earliestAhead() + (-1))
        default: now = max(now, min(wheel.nextWork(), now + 24 * 1000 * hour))
        }
    }

    /// The earliest deadline, unless it is past or so far out that the rest of the life would have no room.
    private func earliestAhead() -> Instant {
        let earliest = model.earliest
        return earliest > now && earliest < now + (1 << 41) ? earliest : now
    }

    /// Pops until nothing is due, and meddles meanwhile as the machines would: chained deadlines, ties, cancellations.
    private mutating func catchUp() -> String? {
        for _ in 0..<(3 * slots + 10) {
            let before = fired
            if let problem = pop() { return problem }
            if fired == before, wheel.nextWork() > now { return nil }
            if random.oneIn(4) { meddle() }
        }
        return nil
    }

    private mutating func meddle() {
        let slot = UInt32(random.below(slots))
        let deadline: Instant
        switch random.below(7) {
        case 0: return cancel(slot)
        case 1: deadline = lastFired
        case 2: deadline = lastFired + random.below(5000)
        case 3: deadline = lastFired + (-random.below(3))
        case 4: deadline = betweenLastFiredAndNow()
        case 5: deadline = otherDeadline()
        default: deadline = randomDeadline()
        }
        wheel.arm(slot, at: deadline)
        model.arm(slot, at: deadline)
        armedAt[Int(slot)] = wheel.cursor
    }

    private mutating func betweenLastFiredAndNow() -> Instant {
        guard lastFired < now, lastFired > now + (-1 << 50) else { return now }
        return lastFired + random.below(now - lastFired + 1)
    }

    private mutating func pop() -> String? {
        let behind = model.earliest < wheel.cursor
        let popped = wheel.popDue(now: now)
        guard let popped else {
            if wheel.nextWork() <= now {
                pauses += 1
                return model.earliest < wheel.cursor && model.earliest <= now ? "an overdue timer had to wait" : nil
            }
            return model.popDue(now: now).map { "slot \($0.slot) was due at \($0.deadline), nothing came" }
        }
        guard let expected = model.popDue(now: now) else { return "slot \(popped.slot) came, nothing was due" }
        guard popped == expected else { return "\(popped) came, \(expected) was next" }
        fired += 1
        ties += popped.deadline == lastFired ? 1 : 0
        firedBehindCursor += behind ? 1 : 0
        firedFromOverflow += popped.deadline > armedAt[Int(popped.slot)] + (1 << 27) ? 1 : 0
        lastFired = popped.deadline
        return nil
    }

    private mutating func check(thoroughly: Bool) -> String? {
        let work = wheel.nextWork()
        let earliest = model.earliest
        if work > earliest { return "next work at \(work), but a deadline at \(earliest)" }
        if !earliest.isSet, work.isSet { return "work at \(work), but nothing is armed" }
        if wheel.cursor < cursorBefore { return "the cursor went back from \(cursorBefore) to \(wheel.cursor)" }
        if wheel.cursor > max(cursorBefore, now) { return "the cursor ran ahead to \(wheel.cursor), it is \(now)" }
        cursorBefore = wheel.cursor
        guard thoroughly else { return nil }
        if wheel.armedCount != model.armedCount { return "\(wheel.armedCount) armed, not \(model.armedCount)" }
        if wheel.earliestDeadline() != earliest { return "earliest \(wheel.earliestDeadline()), not \(earliest)" }
        for slot in 0..<UInt32(slots) where wheel.deadline(of: slot) != model.deadlines[Int(slot)] {
            return "slot \(slot) is armed for \(wheel.deadline(of: slot)), not \(model.deadlines[Int(slot)])"
        }
        return wheel.checkInvariants()
    }
}
