import IsletCore
import Testing

/// Each promise of the wheel, one at a time.
@Suite("Timer wheel", .timeLimit(.minutes(10)))
struct TimerWheelTests {
    private static let hour: Milliseconds = 3_600_000
    private static let year = 365 * 24 * hour
    private static let start = Instant(1_780_000_000_123)
    private static let delays: [Milliseconds] = [
        1, 4095, 4096, 4097, 8192, 30 * 60_000, 8 * hour, 16_383 * 4096, 16_384 * 4096, 20 * hour, 3 * year,
    ]

    @Test("an empty wheel has no work")
    func emptyWheelHasNoWork() {
        var wheel = TimerWheel(start: Self.start)
        #expect(wheel.armedCount == 0)
        #expect(wheel.nextWork() == .never)
        #expect(wheel.earliestDeadline() == .never)
        #expect(wheel.popDue(now: Self.start + Self.year) == nil)
        #expect(wheel.checkInvariants() == nil)
    }

    @Test(
        "a timer comes at its deadline and not a millisecond before",
        arguments: delays)
    func timerIsNeverEarly(delay: Milliseconds) {
        for offset in [-123, 0, 1, 3972, 3973, 4096] as [Milliseconds] {
            var wheel = TimerWheel(start: Self.start + offset)
            let deadline = Self.start + offset + delay
            wheel.arm(7, at: deadline)
            #expect(wheel.earliestDeadline() == deadline)
            #expect(wheel.nextWork() <= deadline)
            #expect(wheel.popDue(now: deadline + (-1)) == nil)
            #expect(wheel.nextWork() == deadline)
            let popped = wheel.popDue(now: deadline)
            #expect(popped?.slot == 7)
            #expect(popped?.deadline == deadline)
            #expect(wheel.cursor == deadline)
            #expect(wheel.popDue(now: deadline) == nil)
            #expect(wheel.armedCount == 0)
        }
    }

    @Test("a caller that sleeps until the next work meets every deadline", arguments: [1, 5000, 20 * hour, 3 * year])
    func sleepingUntilNextWorkReachesDeadline(delay: Milliseconds) {
        var wheel = TimerWheel(start: Self.start)
        wheel.arm(0, at: Self.start + delay)
        var now = Self.start
        var wakeUps = 0
        while wheel.armedCount > 0, wakeUps < 100 {
            #expect(wheel.nextWork() >= now)
            now = wheel.nextWork()
            _ = wheel.popDue(now: now)
            wakeUps += 1
        }
        #expect(now == Self.start + delay)
        #expect(wakeUps <= 30)
    }

    @Test("timers come in the order of their deadlines, whatever the order they were armed in")
    func timersComeInDeadlineOrder() {
        var wheel = TimerWheel(start: Self.start)
        let delays = [Self.year, 5, 20 * Self.hour, 4096, 1, 8 * Self.hour, 4100, 60_000, 3, 20 * Self.hour + 1]
        for (slot, delay) in delays.enumerated() { wheel.arm(UInt32(slot), at: Self.start + delay) }
        #expect(drain(&wheel, now: Self.start + 2 * Self.year) == [4, 8, 1, 3, 6, 7, 5, 2, 9, 0])
    }

    @Test("timers of one millisecond come in the order of their slots", arguments: [0, 3, 5000, 20 * hour])
    func tiesComeInSlotOrder(delay: Milliseconds) {
        var wheel = TimerWheel(start: Self.start)
        for slot in [5, 900, 2, 70_000, 3, 1] as [UInt32] { wheel.arm(slot, at: Self.start + delay) }
        #expect(drain(&wheel, now: Self.start + delay) == [1, 2, 3, 5, 900, 70_000])
    }

    @Test("a timer armed for the millisecond that is being emptied takes its place by slot")
    func tieArmedWhileDrainingKeepsSlotOrder() {
        var wheel = TimerWheel(start: Self.start)
        let deadline = Self.start + 10
        for slot in [2, 4, 6] as [UInt32] { wheel.arm(slot, at: deadline) }
        #expect(wheel.popDue(now: deadline)?.slot == 2)
        wheel.arm(5, at: deadline)
        wheel.arm(1, at: deadline)
        #expect(drain(&wheel, now: deadline) == [1, 4, 5, 6])
    }

    @Test("a cancelled timer does not come, nor does one cancelled while its millisecond is being emptied")
    func cancelledTimersDoNotCome() {
        var wheel = TimerWheel(start: Self.start)
        for slot in 0..<6 as Range<UInt32> { wheel.arm(slot, at: Self.start + 10) }
        wheel.arm(6, at: Self.start + Self.hour)
        wheel.arm(7, at: Self.start + Self.year)
        for slot in [3, 6, 7, 8] as [UInt32] { wheel.cancel(slot) }
        #expect(wheel.popDue(now: Self.start + 10)?.slot == 0)
        wheel.cancel(1)
        wheel.cancel(4)
        wheel.cancel(4)
        #expect(wheel.armedCount == 2)
        #expect(wheel.checkInvariants() == nil)
        #expect(drain(&wheel, now: Self.start + 2 * Self.year) == [2, 5])
        #expect(wheel.nextWork() == .never)
    }

    @Test("cancelling what was never armed does nothing")
    func cancellingUnarmedDoesNothing() {
        var wheel = TimerWheel(start: Self.start)
        wheel.cancel(0)
        wheel.cancel(.max)
        #expect(wheel.isArmed(.max) == false)
        #expect(wheel.deadline(of: 12) == .never)
        #expect(wheel.armedCount == 0)
    }

    @Test("the last arming counts", arguments: [-5, 0, 1, 5000, 20 * hour], [-7, 0, 2, 6000, 21 * hour])
    func rearmingReplacesDeadline(before: Milliseconds, after: Milliseconds) {
        var wheel = TimerWheel(start: Self.start)
        wheel.arm(3, at: Self.start + before)
        wheel.arm(3, at: Self.start + after)
        #expect(wheel.armedCount == 1)
        #expect(wheel.deadline(of: 3) == Self.start + after)
        #expect(wheel.earliestDeadline() == Self.start + after)
        #expect(wheel.checkInvariants() == nil)
        #expect(wheel.popDue(now: Self.start + after + (-1)) == nil)
        #expect(drain(&wheel, now: Self.start + Self.year) == [3])
    }

    @Test("arming at never disarms")
    func armingAtNeverDisarms() {
        var wheel = TimerWheel(start: Self.start)
        wheel.arm(1, at: Self.start + 5)
        wheel.arm(1, at: .never)
        wheel.arm(2, at: .never)
        #expect(wheel.armedCount == 0)
        #expect([wheel.isArmed(1), wheel.isArmed(2)] == [false, false])
    }

    @Test("what is armed behind the cursor comes first, in order, with the deadline it was given")
    func overdueTimersComeFirstInOrder() {
        var wheel = TimerWheel(start: Self.start)
        let now = Self.start + Self.hour
        #expect(wheel.popDue(now: now) == nil)
        #expect(wheel.cursor == now)
        let deadlines = [now + 1, now, now + (-1), Self.start, now + (-1), Instant(-5), now + (-2)]
        for (slot, deadline) in deadlines.enumerated() { wheel.arm(UInt32(slot), at: deadline) }
        #expect(wheel.nextWork() == Instant(-5))
        #expect(wheel.earliestDeadline() == Instant(-5))
        #expect(wheel.popDue(now: now).map(\.deadline) == Instant(-5))
        #expect(drain(&wheel, now: now) == [3, 6, 2, 4, 1])
        #expect(drain(&wheel, now: now + 1) == [0])
    }

    @Test("during catch-up a re-armed timer comes in its place among those that wait")
    func catchUpKeepsGlobalOrder() {
        // Stale after an hour, ended after two, dismissed after six: three activities, a day asleep.
        var wheel = TimerWheel(start: Self.start)
        let chain = [Self.hour, 2 * Self.hour, 6 * Self.hour]
        var stage = [0, 0, 0]
        for slot in 0..<3 { wheel.arm(UInt32(slot), at: Self.start + Milliseconds(slot) * 1000 + chain[0]) }
        wheel.arm(3, at: Self.start + 2 * Self.hour + 1500)
        var seen: [Milliseconds] = []
        while let (slot, deadline) = wheel.popDue(now: Self.start + 24 * Self.hour) {
            seen.append(deadline - Self.start)
            #expect(wheel.cursor == deadline)
            guard slot < 3 else { continue }
            stage[Int(slot)] += 1
            if stage[Int(slot)] < 3 {
                wheel.arm(slot, at: Self.start + Milliseconds(slot) * 1000 + chain[stage[Int(slot)]])
            }
        }
        #expect(seen == seen.sorted())
        #expect(seen.count == 10)
    }

    @Test("a time before the cursor pops only what was due by then, and does not turn the wheel back")
    func timeBeforeCursorIsHarmless() {
        var wheel = TimerWheel(start: Self.start)
        wheel.arm(1, at: Self.start + (-10))
        wheel.arm(2, at: Self.start + (-5))
        wheel.arm(3, at: Self.start)
        #expect(drain(&wheel, now: Self.start + (-11)) == [])
        #expect(drain(&wheel, now: Self.start + (-6)) == [1])
        #expect(drain(&wheel, now: Self.start + (-1)) == [2])
        #expect(wheel.cursor == Self.start)
        #expect(drain(&wheel, now: Self.start) == [3])
        #expect(drain(&wheel, now: Self.start + (-1000)) == [])
        #expect(wheel.cursor == Self.start)
    }

    @Test("the ends of time do not trap", arguments: [Instant(.min), Instant(0), Instant(.max - 1)])
    func extremeDeadlinesAreKept(start: Instant) {
        var wheel = TimerWheel(start: start)
        let ends: [Milliseconds] = [.max - 1, .min, 0, .min + 1, .max - 2, -1, 1, 1 << 62, -(1 << 62)]
        let deadlines = ends.map { Instant($0) }
        for (slot, deadline) in deadlines.enumerated() { wheel.arm(UInt32(slot), at: deadline) }
        #expect(wheel.earliestDeadline() == Instant(.min))
        #expect(wheel.checkInvariants() == nil)
        #expect(drain(&wheel, now: Instant(.max - 2)) == [1, 3, 8, 5, 2, 6, 7, 4])
        #expect(drain(&wheel, now: .never) == [0])
        wheel.arm(1, at: Instant(.max - 1))
        #expect(drain(&wheel, now: Instant(.max - 1)) == [1])
    }

    @Test("one that is cancelled takes no neighbour with it")
    func cancelledAloneInItsList() {
        var wheel = TimerWheel(start: Instant(0))
        wheel.arm(0, at: Instant(1_000))
        wheel.arm(1, at: Instant(1_001))
        wheel.cancel(0)
        #expect(wheel.checkInvariants() == nil)
        #expect(wheel.popDue(now: Instant(2_000))?.slot == 1)
    }

    @Test("of many that are overdue, one is cancelled and the others keep their order")
    func cancelledInTheHeap() {
        var wheel = TimerWheel(start: Instant(100))
        // In this order they lie in the heap as they are written, so that what fills the hole has to rise.
        let dates: [Milliseconds] = [1, 20, 2, 21, 22, 3, 4, 23, 24, 25, 26, 5]
        for (slot, date) in dates.enumerated() { wheel.arm(UInt32(slot), at: Instant(date)) }
        wheel.cancel(3)
        #expect(wheel.checkInvariants() == nil)
        #expect(drain(&wheel, now: Instant(100)) == [0, 2, 5, 6, 11, 1, 4, 7, 8, 9, 10])
    }

    @Test("many slots, far apart, are all held")
    func growthKeepsTimers() {
        var wheel = TimerWheel(start: Self.start)
        for slot in stride(from: 0, to: 200_000, by: 997) as StrideTo<UInt32> {
            wheel.arm(200_000 - slot, at: Self.start + Milliseconds(slot))
        }
        #expect(wheel.checkInvariants() == nil)
        let expected = (stride(from: 0, to: 200_000, by: 997) as StrideTo<UInt32>).map { 200_000 - $0 }
        #expect(drain(&wheel, now: Self.start + 200_000) == expected)
    }
}

/// Pops all that is due; the slots in the order they came.
func drain(_ wheel: inout TimerWheel, now: Instant) -> [UInt32] {
    var slots: [UInt32] = []
    while let popped = wheel.popDue(now: now) { slots.append(popped.slot) }
    return slots
}
