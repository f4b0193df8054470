import Foundation
import IsletJournal
import IsletServer
import Testing

@Suite(.timeLimit(.minutes(1)), .enabled(if: (ProcessorSet.ofThread()?.count ?? 0) > 1, "this machine has one processor"))
struct ProcessorHoldTests {
    /// Calls a hold on a thread of its own; gives on how many processors that may run after each call.
    private static func counts(_ calls: [@Sendable (inout ProcessorHold) -> Void]) async -> [Int?] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var hold = ProcessorHold()
                continuation.resume(
                    returning: calls.map { call in
                        call(&hold)
                        return ProcessorSet.ofThread()?.count
                    })
            }
        }
    }

    /// So many turns, all at one date.
    private static func turns(_ count: Int, at date: Int64) -> @Sendable (inout ProcessorHold) -> Void {
        { hold in for _ in 0..<count { hold.turn(at: date) } }
    }

    @Test func aBusyThreadIsHeldForASecondAndFreeForTwentyMilliseconds() async {
        let counts = await Self.counts([
            Self.turns(8, at: 5), Self.turns(1, at: 25), Self.turns(50, at: 1_024), Self.turns(1, at: 1_025),
            Self.turns(50, at: 1_044), Self.turns(1, at: 1_045), Self.turns(1, at: 2_044), Self.turns(1, at: 2_045),
        ])
        let all = ProcessorSet.ofThread()?.count
        #expect(counts == [all, 1, 1, all, all, 1, 1, all])
    }

    @Test func aThreadThatIsNotBusyIsNotHeld() async {
        let counts = await Self.counts((0..<100).map { Self.turns(1, at: 5 * $0) })
        #expect(counts == Array(repeating: ProcessorSet.ofThread()?.count, count: 100))
    }

    @Test func aThreadThatIsLetGoIsFreeUntilItIsSeenToBeBusyAgain() async {
        let counts = await Self.counts([
            Self.turns(9, at: 5), Self.turns(9, at: 25), { $0.letGo() }, Self.turns(9, at: 30), Self.turns(9, at: 50),
        ])
        let all = ProcessorSet.ofThread()?.count
        #expect(counts == [all, 1, all, all, 1])
    }
}
