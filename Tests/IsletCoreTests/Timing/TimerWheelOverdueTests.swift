import IsletCore
import Testing

@Suite("Timers that are overdue")
struct TimerWheelOverdueTests {
    @Test("as many are overdue as are armed for now or before, wherever they wait", arguments: 1...12 as ClosedRange<UInt64>)
    func count(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let start: Int64 = 1_800_000_000_000
        var wheel = TimerWheel(start: Instant(start), cascadeBudget: 16)
        var deadlines: [Int64] = []
        for slot in 0..<800 as Range<UInt32> {
            let span = Int64.random(in: 0..<(1 << Int64.random(in: 1..<42, using: &random)), using: &random)
            let deadline = start + (Bool.random(using: &random) ? span : -span / 1_000)
            wheel.arm(slot, at: Instant(deadline))
            deadlines.append(deadline)
        }
        var now = start
        for _ in 0..<30 {
            now += Int64.random(in: 0..<(1 << Int64.random(in: 1..<38, using: &random)), using: &random)
            #expect(
                wheel.overdueCount(at: Instant(now), limit: .max / 2) == deadlines.count { $0 <= now }, "seed \(seed)")
            // Some are taken; others stay behind the cursor, in the heap or in lists that were not moved.
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                guard let due = wheel.popDue(now: Instant(now)) else { break }
                deadlines[Int(due.slot)] = .max
            }
            #expect(
                wheel.overdueCount(at: Instant(now), limit: .max / 2) == deadlines.count { $0 <= now }, "seed \(seed)")
        }
    }

    @Test("no more are looked at than the limit says")
    func limit() {
        var wheel = TimerWheel(start: Instant(1_000))
        for slot in 0..<500 as Range<UInt32> { wheel.arm(slot, at: Instant(900 + Int64(slot))) }
        #expect(wheel.overdueCount(at: Instant(5_000), limit: 100) == 100)
        #expect(wheel.overdueCount(at: Instant(5_000), limit: 500) == 500)
        #expect(wheel.overdueCount(at: Instant(899), limit: 500) == 0)
    }
}
