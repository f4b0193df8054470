import IsletCore
import Testing

@Suite("Slot index")
struct SlotIndexTests {
    /// How many different hashes the keys share, and which bits of them differ.
    struct Crowd: CustomTestStringConvertible {
        var name: String
        var hash: @Sendable (UInt64) -> UInt64
        var testDescription: String { name }
    }

    static let crowds = [
        Crowd(name: "hashes that spread") { $0 &* 0x9E37_79B9_7F4A_7C15 },
        Crowd(name: "eight hashes for all") { ($0 % 8) << 32 },
        Crowd(name: "one hash for all") { _ in 0xDEAD_BEEF_0000_0000 },
        // All start at the last places of the table, so that runs wrap around its end.
        Crowd(name: "hashes at the end of the table") { (0xFFFF_FFF0 | $0 % 16) << 32 },
        Crowd(name: "hashes that differ only above the mask") { ($0 << 40) | 5 << 32 },
    ]

    @Test("agrees with a dictionary", arguments: crowds, [1, .random(in: .min ... .max)] as [UInt64])
    func model(crowd: Crowd, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = SlotIndex()
        // Keys are numbers; slot s holds key keys[s].
        var slots: [UInt64: Slot] = [:]
        var keys: [Slot: UInt64] = [:]
        var nextSlot: Slot = 0
        for step in 0..<6_000 {
            let key = UInt64(random.below(150))
            let hash = crowd.hash(key)
            let found = index.find(hash) { keys[$0] == key }
            #expect(found == slots[key], "seed \(seed), step \(step)")
            if let slot = slots[key] {
                if random.oneIn(4) {
                    let replaced = (index.replace(hash, slot, by: nextSlot), index.replace(hash, slot, by: 0))
                    #expect(replaced == (true, false), "the old slot is not there any more")
                    keys[slot] = nil
                    keys[nextSlot] = key
                    slots[key] = nextSlot
                    nextSlot += 1
                } else {
                    let removed = (index.remove(hash, slot), index.remove(hash, slot))
                    #expect(removed == (true, false), "a second removal finds nothing")
                    keys[slot] = nil
                    slots[key] = nil
                }
            } else {
                index.insert(hash, nextSlot)
                keys[nextSlot] = key
                slots[key] = nextSlot
                nextSlot += 1
            }
            #expect(index.count == slots.count)
            if step % 500 == 0 {
                for key in 0..<UInt64(150) {
                    let found = index.find(crowd.hash(key)) { keys[$0] == key }
                    #expect(found == slots[key], "seed \(seed), step \(step), key \(key)")
                }
            }
        }
    }

    @Test("it grows and finds all, and an empty one finds nothing")
    func growth() {
        var index = SlotIndex()
        #expect(index.find(7) { _ in true } == nil)
        for slot in 0..<UInt32(20_000) { index.insert(UInt64(slot) &* 0x9E37_79B9_7F4A_7C15, slot) }
        for slot in 0..<UInt32(20_000) {
            #expect(index.find(UInt64(slot) &* 0x9E37_79B9_7F4A_7C15) { $0 == slot } == slot)
        }
        #expect(index.count == 20_000)
        #expect(index.allocatedBytes <= 20_000 * 8 * 4)
    }

    @Test("in segments it agrees with a dictionary, full and after most was removed", arguments: [1, 2] as [UInt64])
    func segments(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = SlotIndex()
        var hashes: [UInt64] = (0..<60_000).map { _ in random.next() }
        // Some that share a hash, and some that share a segment's end with its beginning.
        for position in stride(from: 0, to: 60_000, by: 100) { hashes[position] = hashes[position / 2] }
        for position in stride(from: 1, to: 60_000, by: 100) { hashes[position] |= 0x07FF_FFFF_0000_0000 }
        for (slot, hash) in hashes.enumerated() { index.insert(hash, Slot(slot)) }
        #expect(index.count == 60_000)
        for slot in hashes.indices {
            #expect(index.find(hashes[slot]) { $0 == slot } == Slot(slot), "seed \(seed)")
        }
        var isThere = Array(repeating: true, count: hashes.count)
        for slot in hashes.indices where !random.oneIn(8) {
            let wasThere = index.remove(hashes[slot], Slot(slot))
            #expect(wasThere)
            isThere[slot] = false
        }
        for slot in hashes.indices {
            let found = index.find(hashes[slot]) { $0 == slot }
            #expect(found == (isThere[slot] ? Slot(slot) : nil), "seed \(seed)")
        }
        #expect(index.count == isThere.count { $0 })
    }

    @Test("an entry takes at most seventeen bytes, or eighteen where there are few")
    func cost() {
        var random = SeededRandom(seed: 3)
        var index = SlotIndex()
        for slot in 0..<Slot(300_000) {
            index.insert(random.next(), slot)
            guard slot > 20_000, slot % 1_000 == 0 else { continue }
            #expect(index.allocatedBytes <= (slot > 100_000 ? 17 : 18) * index.count, "\(slot)")
        }
    }
}
