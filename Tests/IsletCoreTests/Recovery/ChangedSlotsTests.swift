import IsletCore
import Testing

@Suite("Recovery: slots that changed")
struct ChangedSlotsTests {
    @Test("a round meets every slot once that had changed when it began")
    func rounds() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        var slots = ChangedSlots()
        var model: Set<Slot> = []
        for _ in 0..<200 {
            for _ in 0..<random.below(40) {
                let slot = Slot(random.below(3_000))
                slots.insert(slot)
                model.insert(slot)
            }
            #expect(slots.count == model.count, "seed \(seed)")
            let begun = model
            var met: [Slot] = []
            slots.rewind()
            while let slot = slots.popNext() {
                met.append(slot)
                model.remove(slot)
                // Behind the walk, it waits for the next round; before it, this one meets it.
                if random.oneIn(5) {
                    let late = Slot(random.below(3_000))
                    slots.insert(late)
                    model.insert(late)
                }
            }
            #expect(slots.isAtEnd)
            #expect(begun.isSubset(of: met), "seed \(seed)")
            #expect(slots.count == model.count && slots.isEmpty == model.isEmpty, "seed \(seed)")
        }
    }
}
