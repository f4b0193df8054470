import Foundation
import IsletJournal
import Testing

/// Each on a thread of its own, which ends with it.
@Suite(.timeLimit(.minutes(1)), .enabled(if: (ProcessorSet.ofThread()?.count ?? 0) > 1, "this machine has one processor"))
struct ThreadAffinityTests {
    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    @Test func aThreadThatStaysRunsOnTheProcessorOnWhichItRan() async {
        let (stayed, set, present, after) = await Self.onThread {
            var affinity = ThreadAffinity()
            let stayed = affinity?.stay()
            let (set, present) = (ProcessorSet.ofThread(), ProcessorSet.present())
            affinity?.roam()
            return (stayed, set, present, ProcessorSet.ofThread())
        }
        #expect(stayed != nil && stayed == present)
        #expect(set == stayed.map { ProcessorSet([$0]) })
        #expect(after == ProcessorSet.ofThread(), "it may run everywhere again")
    }

    @Test func aThreadKeepsOffTheProcessorThatItWasToldLastAndNoOther() async {
        let all = ProcessorSet.ofThread()
        let sets = await Self.onThread {
            var affinity = ThreadAffinity()
            return (0..<64).map { processor in
                affinity?.keepOff(processor)
                return ProcessorSet.ofThread()
            }
        }
        for (processor, set) in sets.enumerated() {
            var others = all
            others?.remove(processor)
            #expect(set == others, "off \(processor)")
        }
    }

    @Test func whatSomebodyElseHasDecidedStays() async {
        let (chosen, sets, stayed) = await Self.onThread {
            var affinity = ThreadAffinity()
            let first = affinity?.stay() ?? 0
            // As an operator would, with `taskset`.
            var chosen = ProcessorSet.ofThread() ?? ProcessorSet()
            affinity?.roam()
            chosen = ProcessorSet.ofThread() ?? chosen
            chosen.remove(first)
            _ = chosen.restrictThread()
            affinity?.roam()
            var sets = [ProcessorSet.ofThread()]
            let stayed = affinity?.stay()
            sets.append(ProcessorSet.ofThread())
            affinity?.keepOff(first + 1)
            sets.append(ProcessorSet.ofThread())
            return (chosen, sets, stayed)
        }
        #expect(chosen.count > 0)
        #expect(sets == [chosen, chosen, chosen] && stayed == nil)
    }

    @Test func withOneProcessorThereIsNothingToDecide() async {
        let isThere = await Self.onThread {
            _ = ProcessorSet(ProcessorSet.present().map { [$0] } ?? []).restrictThread()
            return ThreadAffinity() != nil
        }
        #expect(!isThere)
    }
}
