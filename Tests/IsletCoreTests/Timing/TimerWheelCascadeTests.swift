import IsletCore
import Testing

/// How timers move between the lists, and what one call may cost.
@Suite("Timer wheel: cascades", .timeLimit(.minutes(10)))
struct TimerWheelCascadeTests {
    private static let block: Milliseconds = 4096
    /// The length of the far wheel.
    private static let farSpan = 16_384 * block
    /// The start of a block, so that distances below are exact.
    private static let start = Instant(400_000_000 * block)

    @Test("a call that has spent its budget says nil with work left, and the timers still come in order")
    func budgetBoundsOneCall() {
        let count: UInt32 = 10_000
        var wheel = TimerWheel(start: Self.start)
        let deadline = Self.start + 10 * Self.block + 7
        for slot in 0..<count { wheel.arm(slot, at: deadline + Milliseconds(count - slot) / 5000) }
        let now = deadline + Self.block
        var pauses = 0
        while wheel.popDue(now: now) == nil {
            #expect(wheel.nextWork() <= now)
            #expect(wheel.checkInvariants() == nil)
            pauses += 1
        }
        // All move once to the near wheel and half of them to the heap: 15 000 moves.
        #expect(pauses == 15_000 / TimerWheel.defaultCascadeBudget)
        var expected = Array(5001..<count) + Array(1..<5001)
        expected.removeFirst()
        expected.append(0)
        var rest: [UInt32] = []
        repeat { rest += drain(&wheel, now: now) } while wheel.nextWork() <= now
        #expect(rest == expected)
    }

    @Test("between two calls of one cascade timers can be armed and cancelled")
    func unfinishedCascadeAcceptsChanges() {
        var wheel = TimerWheel(start: Self.start, cascadeBudget: 10)
        let deadline = Self.start + 5 * Self.block
        for slot in 0..<100 as Range<UInt32> { wheel.arm(slot, at: deadline) }
        #expect(wheel.popDue(now: deadline) == nil)
        for slot in 0..<100 as Range<UInt32> where slot % 10 != 0 { wheel.cancel(slot) }
        wheel.arm(50, at: deadline + 1)
        wheel.arm(55, at: deadline)
        wheel.arm(7, at: deadline + (-1))
        #expect(wheel.checkInvariants() == nil)
        var came: [UInt32] = []
        repeat { came += drain(&wheel, now: deadline + 1) } while wheel.nextWork() <= deadline + 1
        #expect(came == [7, 0, 10, 20, 30, 40, 55, 60, 70, 80, 90, 50])
    }

    @Test("an overdue timer does not wait for an unfinished cascade")
    func overdueTimerPassesCascade() {
        var wheel = TimerWheel(start: Self.start, cascadeBudget: 1)
        let deadline = Self.start + 5 * Self.block
        for slot in 0..<100 as Range<UInt32> { wheel.arm(slot, at: deadline) }
        #expect(wheel.popDue(now: deadline) == nil)
        wheel.arm(100, at: deadline + (-1))
        #expect(wheel.popDue(now: deadline)?.slot == 100)
    }

    @Test("an overflow sweep and a far list that begin at one instant are both emptied there")
    func sweepAndFarListAtOneInstant() {
        var wheel = TimerWheel(start: Self.start)
        let meeting = Self.start + Self.farSpan / 2
        // This one makes the sweep fall on `meeting`, where the far list of the second begins.
        wheel.arm(1, at: Self.start + Self.farSpan)
        wheel.arm(2, at: meeting)
        wheel.arm(3, at: meeting + 4095)
        #expect(drain(&wheel, now: meeting) == [2])
        #expect(wheel.checkInvariants() == nil)
        #expect(drain(&wheel, now: meeting + Self.farSpan) == [3, 1])
    }

    @Test("a timer that waits in the far wheel comes before a later one that went straight to the near wheel")
    func farListPrecedesLaterNearTimer() {
        var wheel = TimerWheel(start: Self.start)
        wheel.arm(1, at: Self.start + Self.block + 50)
        #expect(wheel.popDue(now: Self.start + 2000) == nil)
        wheel.arm(2, at: Self.start + Self.block + 100)
        #expect(wheel.earliestDeadline() == Self.start + Self.block + 50)
        #expect(wheel.nextWork() <= Self.start + Self.block + 50)
        #expect(drain(&wheel, now: Self.start + Self.block + 50) == [1])
        #expect(drain(&wheel, now: Self.start + Self.block + 100) == [2])
    }

    @Test("a whole turn of the wheels later, lists that share an index are not mixed up")
    func listsOfNextTurnAreDistinct() {
        var wheel = TimerWheel(start: Self.start + 1)
        let now = Self.start + 1
        wheel.arm(1, at: now + Self.block)
        wheel.arm(2, at: now + (Self.block - 1))
        wheel.arm(3, at: now + Self.farSpan)
        wheel.arm(4, at: now + (Self.farSpan - 1))
        #expect(wheel.checkInvariants() == nil)
        #expect(drain(&wheel, now: now + (Self.block - 2)) == [])
        #expect(drain(&wheel, now: now + (Self.block - 1)) == [2])
        #expect(drain(&wheel, now: now + Self.block) == [1])
        #expect(drain(&wheel, now: now + (Self.farSpan - 1)) == [4])
        #expect(drain(&wheel, now: now + Self.farSpan) == [3])
    }

    @Test("after the cancelling of all that waits, the wheel sleeps")
    func cancelledOverflowLeavesNoWork() {
        var wheel = TimerWheel(start: Self.start)
        for slot in 0..<50 as Range<UInt32> { wheel.arm(slot, at: Self.start + Self.farSpan * Milliseconds(slot + 1)) }
        for slot in 0..<50 as Range<UInt32> { wheel.cancel(slot) }
        #expect(wheel.nextWork() == .never)
        #expect(wheel.popDue(now: Self.start + Self.farSpan * 1000) == nil)
        #expect(wheel.checkInvariants() == nil)
        wheel.arm(1, at: Self.start + Self.farSpan * 1003)
        #expect(wheel.checkInvariants() == nil)
        #expect(drain(&wheel, now: Self.start + Self.farSpan * 1003) == [1])
    }

    @Test(
        "a long jump moves each timer a few times, however long it is",
        arguments: [(block, 50_000), (365 * 86_400_000, 1000)] as [(Milliseconds, UInt32)])
    func longJumpsAreCheap(spacing: Milliseconds, count: UInt32) {
        var wheel = TimerWheel(start: Self.start, cascadeBudget: 1)
        for slot in 0..<count { wheel.arm(slot, at: Self.start + spacing * Milliseconds(slot + 1)) }
        let end = Self.start + spacing * Milliseconds(count)
        var calls: UInt32 = 0
        // With a budget of one, a call moves one node or pops one.
        while wheel.armedCount > 0, calls < 40 * count {
            _ = wheel.popDue(now: end)
            calls += 1
        }
        #expect(wheel.armedCount == 0)
    }
}
