import IsletCore
import IsletServer
import Testing

/// What is held back until a provider of its kind has room.
@Suite struct HeldReadsTests {
    private func read(
        _ slot: Slot, _ kind: UInt32 = 1, serial: UInt32 = 1, generation: UInt32 = 0, isAwaited: Bool = false,
        hasFailed: Bool = false
    ) -> HeldReads.Read {
        HeldReads.Read(
            entity: SlotRef(slot: slot, generation: generation), serial: serial, kind: kind, isAwaited: isAwaited,
            hasFailed: hasFailed)
    }

    private func rest(of held: inout HeldReads, _ kind: UInt32) -> [Slot] {
        var slots: [Slot] = []
        while let read = held.pop(of: kind) { slots.append(read.entity.slot) }
        return slots
    }

    @Test func eachKindHasALineOfItsOwnInOrder() {
        var held = HeldReads()
        for slot in 0..<6 as Range<Slot> { held.hold(read(slot, slot % 2)) }
        #expect(held.count == 6 && held.kinds == [0, 1])
        #expect(held.pop(of: 0)?.entity.slot == 0)
        #expect(held.kinds == [1, 0], "whoever had a turn has the last one")
        held.hold(read(0, 0))
        #expect(rest(of: &held, 1) == [1, 3, 5])
        #expect(!held.hasLine(before: read(6, 1)) && held.hasLine(before: read(6, 0)) && held.kinds == [0])
        #expect(rest(of: &held, 0) == [2, 4, 0])
        #expect(held.isEmpty && held.kinds.isEmpty && held.pop(of: 0) == nil)
    }

    @Test func whatSomebodyWaitsForComesBeforeAllOthersOfItsKind() {
        var held = HeldReads()
        for slot in 0..<3 as Range<Slot> { held.hold(read(slot)) }
        #expect(!held.hasLine(before: read(9, isAwaited: true)) && held.hasLine(before: read(9)))
        held.hold(read(3, isAwaited: true))
        #expect(held.hasLine(before: read(9, isAwaited: true)))
        held.hold(read(4, isAwaited: true))
        held.bringForward(SlotRef(slot: 1, generation: 0))
        held.bringForward(SlotRef(slot: 1, generation: 0))
        held.bringForward(SlotRef(slot: 2, generation: 1))
        held.bringForward(SlotRef(slot: 9, generation: 0))
        #expect(held.count == 5 && held.count(of: 1) == 5 && held.count(of: 2) == 0)
        held.remove(SlotRef(slot: 3, generation: 0))
        #expect(rest(of: &held, 1) == [4, 1, 0, 2])
        #expect(held.isEmpty && held.kinds.isEmpty)
    }

    @Test func probesAreTakenFromPlacesFarFromEachOtherAndOfThoseThatSomebodyWaitsForFirst() {
        var held = HeldReads()
        for slot in 0..<100 as Range<Slot> { held.hold(read(slot, isAwaited: slot == 7)) }
        #expect(held.pop(of: 1, isProbe: true)?.entity.slot == 7)
        var probes: [Slot] = []
        for _ in 0..<8 { probes.append(held.pop(of: 1, isProbe: true)?.entity.slot ?? 100) }
        let gaps = zip(probes, probes.dropFirst()).map { max($0, $1) - min($0, $1) }
        #expect(gaps.allSatisfy { $0 >= 30 }, "\(probes)")
        #expect(rest(of: &held, 1) == (0..<100).filter { $0 != 7 && !probes.contains($0) })
        #expect(held.isEmpty && held.pop(of: 1, isProbe: true) == nil)
    }

    @Test func whatFailedTheLastTimeIsAProbeOnlyWhereNothingElseIsHeld() {
        var held = HeldReads()
        #expect(!held.haveAllFailed(of: 1))
        for slot in 0..<20 as Range<Slot> { held.hold(read(slot, isAwaited: true, hasFailed: true)) }
        #expect(held.haveAllFailed(of: 1))
        for slot in 20..<40 as Range<Slot> { held.hold(read(slot, hasFailed: slot % 2 == 0)) }
        held.bringForward(SlotRef(slot: 31, generation: 0))
        #expect(held.pop(of: 1, isProbe: true)?.entity.slot == 31)
        #expect(held.pop(of: 1)?.entity.slot == 0, "elsewhere each has its turn")
        var probes: [Slot] = []
        while !held.haveAllFailed(of: 1) { probes.append(held.pop(of: 1, isProbe: true)?.entity.slot ?? 0) }
        #expect(probes.sorted() == [21, 23, 25, 27, 29, 33, 35, 37, 39])
        #expect(held.pop(of: 1, isProbe: true).map { $0.entity.slot < 20 } == true)
        #expect(held.count == 28)
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
        #expect(held.pop(of: 1)?.serial == 2)
        #expect(held.pop(of: 1) == nil)
        #expect(held.pop(of: 2)?.entity == SlotRef(slot: 1, generation: 1))
        #expect(held.isEmpty)
    }
}
