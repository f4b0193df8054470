import IsletCore
import Testing

@Suite("Slab")
struct SlabTests {
    @Test("slots are dense, and a freed one is used again before a new one")
    func reuse() {
        var slab = Slab<Int>()
        #expect((0..<10).map { slab.insert($0) } == Array(0..<10))
        slab.remove(3)
        slab.remove(7)
        #expect(slab.count == 8 && slab.capacity == 10)
        #expect([3, 4, 10].map { slab.isUsed($0) } == [false, true, false])
        #expect(Set([slab.insert(30), slab.insert(70)]) == [3, 7])
        #expect(slab.insert(100) == 10)
        #expect(slab.capacity == 11 && slab.count == 11)
    }

    @Test("a handle fails once its slot is freed, and after it holds another")
    func handles() {
        var slab = Slab<Int>()
        let slot = slab.insert(1)
        let first = slab.reference(to: slot)
        #expect(slab.isCurrent(first) == true)
        slab.remove(slot)
        #expect(slab.isCurrent(first) == false)
        #expect(slab.insert(2) == slot)
        let second = slab.reference(to: slot)
        #expect(slab.isCurrent(first) == false)
        #expect(slab.isCurrent(second) == true)
        #expect(slab.isCurrent(SlotRef(slot: 99, generation: 0)) == false, "a slot that never was")
    }

    @Test("a generation that has come to its end begins again, and old handles still fail")
    func generationsWrap() {
        var slab = Slab<UInt32>(firstGeneration: 1 << 31 - 2)
        var stale: [SlotRef] = []
        for value in 0..<5 {
            #expect(slab.insert(UInt32(value)) == 0)
            let reference = slab.reference(to: 0)
            #expect(slab.isCurrent(reference) && slab[0] == UInt32(value))
            #expect(stale.filter { slab.isCurrent($0) }.isEmpty)
            stale.append(reference)
            slab.remove(0)
            #expect(!slab.isCurrent(reference) && !slab.isUsed(0))
        }
        #expect(stale.map(\.generation) == [1 << 31 - 2, 1 << 31 - 1, 0, 1, 2])
    }

    @Test("what was restored is used, and the lowest slots between are the next ones")
    func restored() {
        var slab = Slab<UInt64>()
        slab.restore(.max, at: 2)
        slab.restore(7, at: 5_000)
        slab.rebuildFreeList()
        #expect(slab.capacity == 5_001 && slab.count == 2 && slab[2] == .max && slab[5_000] == 7)
        #expect([slab.insert(1), slab.insert(2), slab.insert(3)] == [0, 1, 3])
        slab.remove(5_000)
        #expect(slab.insert(8) == 5_000 && slab.insert(9) == 4)
    }

    @Test("a record costs four bytes beside itself")
    func cost() {
        var slab = Slab<(UInt64, UInt32)>()
        _ = slab.insert((1, 2))
        #expect(slab.allocatedBytes == 16_384 * 16)
    }

    @Test("records stay over chunks, and change in place")
    func chunks() {
        var slab = Slab<Int>()
        for value in 0..<40_000 { #expect(slab.insert(value) == UInt32(value)) }
        slab[39_999] += 5
        #expect(slab[39_999] == 40_004 && slab[16_383] == 16_383 && slab[16_384] == 16_384)
        #expect(slab.capacity == 40_000)
    }

    @Test("agrees with a dictionary", arguments: [1, 2, .random(in: .min ... .max)] as [UInt64])
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var slab = Slab<UInt64>()
        var model: [Slot: UInt64] = [:]
        var stale: [SlotRef] = []
        for _ in 0..<20_000 {
            if model.count < 50 || random.oneIn(2) && model.count < 200 {
                let value = random.next()
                let slot = slab.insert(value)
                #expect(model.updateValue(value, forKey: slot) == nil, "seed \(seed): a slot in use was given")
            } else if let slot = model.keys.randomElement(using: &random) {
                stale.append(slab.reference(to: slot))
                slab.remove(slot)
                model[slot] = nil
            }
        }
        #expect(slab.count == model.count && slab.capacity <= 200)
        for (slot, value) in model { #expect(slab[slot] == value, "seed \(seed)") }
        #expect(stale.filter { slab.isCurrent($0) }.isEmpty, "seed \(seed)")
    }
}
