/// All placed widgets of a partition with their kinds, timers and indexes: a part of the ``Engine``.
package struct WidgetTable: ~Copyable {
    var slab = Slab<WidgetRecord>()
    package internal(set) var kinds = DeclaredKindTable<WidgetKindDeclaration>(family: "widget")
    var byID = SlotIndex()
    /// Entries, policies, tries after failures, reloads that are held, ends of relevance.
    var wheel: TimerWheel

    /// The widgets, free slots among them, that changed since a snapshot wrote them.
    package var changedSlots = ChangedSlots()
    /// The kinds whose declaration, relevance or recommendations did.
    package var changedKinds: [DeclaredKindID] = []
    /// What happened since the last release, in order.
    package internal(set) var events: [WidgetEvent] = []
    /// What the interactions of these events name.
    package internal(set) var interactionBytes: [UInt8] = []
    /// What providers are to be asked for, in order.
    package internal(set) var calls: [WidgetCall] = []

    init(start: Instant) {
        wheel = TimerWheel(start: start)
    }

    /// One past the highest slot that was ever used.
    package var slotCount: Slot { slab.capacity }
    /// How many widgets are placed.
    package var count: Int { slab.count }

    /// The record of a handle, or nil where it is gone.
    package func record(_ reference: SlotRef) -> WidgetRecord? {
        slab.isCurrent(reference) ? slab[reference.slot] : nil
    }

    /// The record in a slot, or nil where the slot is free.
    package func record(at slot: Slot) -> WidgetRecord? { slab.isUsed(slot) ? slab[slot] : nil }

    /// The handle of a used slot.
    package func reference(to slot: Slot) -> SlotRef { slab.reference(to: slot) }

    package func slot(of id: EntityID) -> Slot? { byID.find(Engine.hash(id)) { slab[$0].id == id } }

    /// The calls were taken over by the owner.
    package mutating func takeCalls() -> [WidgetCall] {
        guard !calls.isEmpty else { return [] }
        defer { calls.removeAll(keepingCapacity: true) }
        return calls
    }
}
