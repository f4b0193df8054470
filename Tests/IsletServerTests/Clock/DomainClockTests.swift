import IsletCore
import IsletServer
import Testing

@Suite struct DomainClockTests {
    private static let start: Milliseconds = 1_763_700_000_000

    /// A reading where the wall clock has been `step` off its first value since the machine started.
    private func reading(_ milliseconds: Milliseconds, step: Milliseconds = 0) -> ClockReading {
        ClockReading(wall: Self.start + milliseconds + step, monotonicNanoseconds: milliseconds * 1_000_000)
    }

    @Test func systemTimeIsTheWallClock() {
        var clock = DomainClock(.system)
        #expect(clock.now(reading(0)) == Instant(Self.start))
        #expect(clock.now(reading(7)) == Instant(Self.start + 7))
    }

    @Test func aWallClockThatIsSetBackMakesDomainTimeStandStill() {
        var clock = DomainClock(.system)
        #expect(clock.now(reading(1_000)) == Instant(Self.start + 1_000))
        #expect(clock.now(reading(1_010, step: -5_000)) == Instant(Self.start + 1_000))
        #expect(clock.ahead == 4_990)
        #expect(clock.now(reading(5_990, step: -5_000)) == Instant(Self.start + 1_000))
        #expect(clock.ahead == 10)
        #expect(clock.now(reading(6_001, step: -5_000)) == Instant(Self.start + 1_001))
        #expect(clock.ahead == 0)
    }

    @Test func `a span of domain time takes as much of real time as the speed says`() {
        #expect(DomainClock(.system).realTime(of: 1_234) == 1_234)
        #expect(DomainClock(.manual(from: Instant(0))).realTime(of: 1_234) == 1_234)
        let fast = DomainClock(.speed(from: Instant(0), factor: 600))
        #expect(fast.realTime(of: 599) == 0)
        #expect(fast.realTime(of: 600) == 1)
        #expect(fast.realTime(of: 600_000_000_000) == 1_000_000_000)
        let slow = DomainClock(.speed(from: Instant(0), factor: 0.001))
        #expect(slow.realTime(of: 2) == 2_000)
        #expect(slow.realTime(of: .max) == .max)
    }

    @Test func systemTimeStartsNoEarlierThanWhatWasPersisted() {
        var clock = DomainClock(.system, notBefore: Instant(Self.start + 500))
        #expect(clock.now(reading(0)) == Instant(Self.start + 500))
        #expect(clock.now(reading(501)) == Instant(Self.start + 501))
    }

    @Test func aSmallStepForwardIsBelievedAtOnce() {
        var clock = DomainClock(.system)
        _ = clock.now(reading(0))
        #expect(clock.now(reading(10, step: 60_000)) == Instant(Self.start + 60_010))
        #expect(clock.heldBack == 0)
    }

    @Test func aLargeStepForwardIsBelievedOnlyAfterTheGrace() {
        var clock = DomainClock(.system)
        let hour: Milliseconds = 3_600_000
        _ = clock.now(reading(0))
        #expect(clock.now(reading(10, step: hour)) == Instant(Self.start + 10))
        #expect(clock.heldBack == hour)
        #expect(clock.now(reading(30_009, step: hour)) == Instant(Self.start + 30_009))
        #expect(clock.now(reading(30_010, step: hour)) == Instant(Self.start + 30_010 + hour))
        #expect(clock.heldBack == 0)
        #expect(clock.now(reading(30_011, step: hour)) == Instant(Self.start + 30_011 + hour))
    }

    @Test func aLargeStepThatIsTakenBackWithinTheGraceLeavesNoTrace() {
        var clock = DomainClock(.system)
        let hour: Milliseconds = 3_600_000
        _ = clock.now(reading(0))
        _ = clock.now(reading(10_000, step: hour))
        #expect(clock.now(reading(20_000)) == Instant(Self.start + 20_000))
        #expect(clock.heldBack == 0)
        // A second step has a grace of its own.
        #expect(clock.now(reading(45_000, step: hour)) == Instant(Self.start + 45_000))
    }

    @Test(arguments: [31_536_000_000, 180_001] as [Milliseconds])
    func aLaterStepThatIsHeldBackHasAGraceOfItsOwn(far: Milliseconds) {
        var clock = DomainClock(.system)
        let near: Milliseconds = 120_000
        _ = clock.now(reading(0))
        _ = clock.now(reading(10, step: near))
        _ = clock.now(reading(28_000, step: far))
        #expect(clock.now(reading(31_000, step: far)) == Instant(Self.start + 31_000))
        #expect(clock.heldBack == far)
        // Back at the first one, which has a new one too.
        #expect(clock.now(reading(32_000, step: near)) == Instant(Self.start + 32_000))
        #expect(clock.now(reading(61_999, step: near)) == Instant(Self.start + 61_999))
        #expect(clock.now(reading(62_000, step: near)) == Instant(Self.start + 62_000 + near))
    }

    @Test func aStepThatIsHeldBackMayBeSlewedMeanwhile() {
        var clock = DomainClock(.system)
        _ = clock.now(reading(0))
        for at in stride(from: 10, to: 30_010, by: 1_000) as StrideTo<Milliseconds> {
            #expect(clock.now(reading(at, step: 120_000 + at)) == Instant(Self.start + at))
        }
        #expect(clock.now(reading(30_010, step: 150_010)) == Instant(Self.start + 180_020))
    }

    @Test(arguments: [3_600_000, 31_536_000_000] as [Milliseconds])
    func aWallClockThatWasSetBackAndIsSetRightIsBelievedAtOnce(back: Milliseconds) {
        var clock = DomainClock(.system)
        _ = clock.now(reading(1_000))
        #expect(clock.now(reading(2_000, step: -back)) == Instant(Self.start + 1_000))
        #expect(clock.now(reading(3_000)) == Instant(Self.start + 3_000))
        #expect(clock.heldBack == 0)
        // As far as the limit beyond where it would be, and no farther.
        _ = clock.now(reading(4_000, step: -back))
        #expect(clock.now(reading(5_000, step: 60_001)) == Instant(Self.start + 5_000))
        #expect(clock.heldBack == 60_001)
        #expect(clock.now(reading(6_000, step: 60_000)) == Instant(Self.start + 66_000))
    }

    @Test func aWallClockThatHasCaughtUpIsMeasuredByItself() {
        var clock = DomainClock(.system)
        _ = clock.now(reading(1_000))
        _ = clock.now(reading(2_000, step: -120_000))
        #expect(clock.now(reading(121_500, step: -120_000)) == Instant(Self.start + 1_500))
        #expect(clock.now(reading(122_000)) == Instant(Self.start + 2_000))
        #expect(clock.heldBack == 120_000)
    }

    @Test func sleepOfTheMachineIsNoStep() {
        // Suspension passes on both clocks.
        var clock = DomainClock(.system)
        _ = clock.now(reading(0))
        #expect(clock.now(reading(8 * 3_600_000)) == Instant(Self.start + 8 * 3_600_000))
    }

    @Test func withoutAGuardEveryStepIsBelieved() {
        var clock = DomainClock(.system, jumpGuard: nil)
        _ = clock.now(reading(0))
        #expect(clock.now(reading(1, step: 3_600_000)) == Instant(Self.start + 3_600_001))
    }

    @Test func manualTimeMovesOnlyWhenItIsAdvanced() throws {
        var clock = DomainClock(.manual(from: Instant(1_000)))
        #expect(clock.now(reading(0)) == Instant(1_000))
        #expect(clock.now(reading(99_999)) == Instant(1_000))
        try clock.advance(to: Instant(1_000))
        try clock.advance(to: Instant(4_000))
        #expect(clock.now(reading(100_000)) == Instant(4_000))
        #expect(throws: DomainClock.AdvanceError.backwards(now: Instant(4_000))) {
            try clock.advance(to: Instant(3_999))
        }
        #expect(clock.now(reading(100_001)) == Instant(4_000))
    }

    @Test func manualTimeStartsAtTheLaterOfItsStartAndWhatWasPersisted() {
        var late = DomainClock(.manual(from: Instant(1_000)), notBefore: Instant(2_000))
        #expect(late.now(reading(0)) == Instant(2_000))
        var early = DomainClock(.manual(from: Instant(3_000)), notBefore: Instant(2_000))
        #expect(early.now(reading(0)) == Instant(3_000))
    }

    @Test(arguments: [ClockMode.system, .speed(from: Instant(0), factor: 2)])
    func onlyAManualClockIsAdvanced(mode: ClockMode) {
        var clock = DomainClock(mode)
        #expect(throws: DomainClock.AdvanceError.notManual) { try clock.advance(to: Instant(Self.start * 2)) }
    }

    @Test func speedCountsFromTheFirstReading() {
        var clock = DomainClock(.speed(from: Instant(1_000), factor: 600))
        #expect(clock.now(reading(50_000)) == Instant(1_000))
        #expect(clock.now(reading(50_001)) == Instant(1_600))
        #expect(clock.now(reading(51_000)) == Instant(601_000))
        #expect(clock.now(reading(50_500)) == Instant(601_000))
    }

    @Test func speedMayBeLessThanOne() {
        var clock = DomainClock(.speed(from: Instant(0), factor: 0.5))
        _ = clock.now(reading(0))
        #expect(clock.now(reading(999)) == Instant(499))
    }

    @Test func theWaitForADeadlineFollowsTheClock() {
        var system = DomainClock(.system)
        let now = system.now(reading(0))
        #expect(system.pollTimeout(until: now + 40) == 40)
        #expect(system.pollTimeout(until: now + 251) == 250)
        #expect(system.pollTimeout(until: now) == 0)
        #expect(system.pollTimeout(until: Instant(now.milliseconds - 9)) == 0)
        #expect(system.pollTimeout(until: .never) == 250)

        var fast = DomainClock(.speed(from: Instant(0), factor: 600))
        _ = fast.now(reading(0))
        #expect(fast.pollTimeout(until: Instant(600)) == 1)
        #expect(fast.pollTimeout(until: Instant(601)) == 2)
        #expect(fast.pollTimeout(until: Instant(0)) == 0)
        #expect(fast.pollTimeout(until: .never) == DomainClock.pollLimit)

        let manual = DomainClock(.manual(from: Instant(1_000)))
        #expect(manual.pollTimeout(until: Instant(1_001)) == nil)
        #expect(manual.pollTimeout(until: Instant(1_000)) == 0)
        #expect(manual.pollTimeout(until: .never) == nil)
    }

    @Test func realReadingsNeverGoBack() {
        var clock = DomainClock(.system)
        var last = clock.turn(at: .system())
        for _ in 0..<10_000 {
            let next = clock.turn(at: .system())
            #expect(next.domain >= last.domain && next.monotonicNanoseconds >= last.monotonicNanoseconds)
            last = next
        }
        #expect(last.monotonic == last.monotonicNanoseconds / 1_000_000)
        // After 2020 and before 2100: the wall clock in milliseconds, not in another unit.
        #expect((1_577_836_800_000..<4_102_444_800_000).contains(last.domain.milliseconds))
    }
}
