import IsletCore
import IsletServer
import Testing

/// What is held back until its kind has room.
@Suite struct HeldReadsTests {
    private func read(_ slot: Slot, _ kind: UInt32 = 1, serial: UInt32 = 1, generation: UInt32 = 0) -> HeldReads.Read {
        HeldReads.Read(entity: SlotRef(slot: slot, generation: generation), serial: serial, kind: kind)
    }

    private func rest(of held: inout HeldReads, _ kind: UInt32) -> [Slot] {
        var slots: [Slot] = []
        while let read = held.popFirst(of: kind) { slots.append(read.entity.slot) }
        return slots
    }

    @Test func eachKindHasALineOfItsOwnInOrder() {
        var held = HeldReads()
        for slot in 0..<6 as Range<Slot> { held.hold(read(slot, slot % 2)) }
        #expect(held.count == 6 && held.kinds == [0, 1])
        held.turn()
        #expect(held.kinds == [1, 0])
        #expect(rest(of: &held, 1) == [1, 3, 5])
        #expect(!held.hasLine(of: 1) && held.hasLine(of: 0) && held.kinds == [0])
        #expect(rest(of: &held, 0) == [0, 2, 4])
        #expect(held.isEmpty && held.kinds.isEmpty && held.popFirst(of: 0) == nil)
    }

    @Test(arguments: [0, 1, 2] as [Slot])
    func whatIsTakenBackLeavesItsLine(slot: Slot) {
        var held = HeldReads()
        for slot in 0..<3 as Range<Slot> { held.hold(read(slot)) }
        held.remove(SlotRef(slot: slot, generation: 1))
        #expect(held.count == 3, "another generation's")
        held.remove(SlotRef(slot: slot, generation: 0))
        held.remove(SlotRef(slot: slot, generation: 0))
        #expect(held.count == 2)
        #expect(rest(of: &held, 1) == [0, 1, 2].filter { $0 != slot })
    }

    @Test func aSlotHasOneReadWhateverItWasBefore() {
        var held = HeldReads()
        held.hold(read(0, 1))
        held.hold(read(1, 1))
        held.hold(read(0, 1, serial: 2))
        #expect(held.count == 2)
        held.hold(read(1, 2, generation: 1))
        #expect(held.count == 2 && held.kinds == [1, 2])
        #expect(held.popFirst(of: 1)?.serial == 2)
        #expect(held.popFirst(of: 1) == nil)
        #expect(held.popFirst(of: 2)?.entity == SlotRef(slot: 1, generation: 1))
        #expect(held.isEmpty)
    }
}
