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

    mutating func insert(_ slot: Slot, givenUpAt: Instant) {
        actions.insert(Action(givenUpAt: givenUpAt, slot: slot))
        if actions.count > Self.maximumCount { _ = actions.popFirst() }
    }

    /// Whose they are, the oldest first.
    consuming func slots() -> [Slot] {
        var slots: [Slot] = []
        while let action = actions.popFirst() { slots.append(action.slot) }
        return slots
    }
}
