/// The newest of the actions of a family that were given up and may still end.
///
/// Of an older one nobody waits for the end any more than of one that was given up too long ago.
struct InterruptedActions {
    /// At most so many of each family are remembered.
    static let maximumCount = 4_096

    private struct Action: Comparable {
        var givenUpAt: Instant
        var slot: Slot

        static func < (one: Action, other: Action) -> Bool {
            (one.givenUpAt, one.slot) < (other.givenUpAt, other.slot)
        }
    }

    private var actions = MinHeap<Action>()

    /// Whose actions were given up of late, the oldest first. What was given up too long ago is forgotten, also by the
    /// snapshot.
    static func remembered<Record>(
        of slab: inout Slab<Record>, _ givenUpAt: WritableKeyPath<Record, Instant>, changed: inout ChangedSlots,
        at now: Instant
    ) -> [SlotRef] {
        var actions = InterruptedActions()
        for slot in 0..<slab.capacity where slab.isUsed(slot) {
            let date = slab[slot][keyPath: givenUpAt]
            guard date.isSet else { continue }
            if date + Engine.lateActionSpan > now {
                actions.insert(slot, givenUpAt: date)
            } else {
                slab[slot][keyPath: givenUpAt] = .never
                changed.insert(slot)
            }
        }
        return actions.slots().map { slab.reference(to: $0) }
    }

    private mutating func insert(_ slot: Slot, givenUpAt: Instant) {
        actions.insert(Action(givenUpAt: givenUpAt, slot: slot))
        if actions.count > Self.maximumCount { _ = actions.popFirst() }
    }

    /// Whose they are, the oldest first.
    private consuming func slots() -> [Slot] {
        var slots: [Slot] = []
        while let action = actions.popFirst() { slots.append(action.slot) }
        return slots
    }
}
