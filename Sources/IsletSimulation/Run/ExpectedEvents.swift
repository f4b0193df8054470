import IsletOracle

/// The passages that the oracle expects to see in the journal, in groups that are in order; within a group only the order
/// within an activity counts, and that of the dates.
struct ExpectedEvents {
    struct Group {
        var items: [(handle: Handle, passage: Passage)]
    }

    private var groups: [Group] = []

    var isEmpty: Bool { groups.isEmpty }
    var isWithinGroup = false

    mutating func expect(_ items: [(handle: Handle, passage: Passage)]) {
        if !items.isEmpty { groups.append(Group(items: items)) }
    }

    mutating func removeAll() {
        groups.removeAll()
        isWithinGroup = false
    }

    var first: [(handle: Handle, passage: Passage)] { groups.first?.items ?? [] }

    /// Takes the item at an index of the first group.
    mutating func take(_ index: Int) {
        groups[0].items.remove(at: index)
        isWithinGroup = !groups[0].items.isEmpty
        if groups[0].items.isEmpty { groups.removeFirst() }
    }
}
