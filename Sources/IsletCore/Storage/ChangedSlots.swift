/// The slots that changed since a snapshot wrote them: one bit each, walked in slot order.
///
/// A round begins where the first slot is and ends behind the last one. What changes behind the walk is left for the next
/// round, what changes before it is met in this one; so a round meets every slot that had changed when it began.
package struct ChangedSlots: Sendable {
    private var words: [UInt64] = []
    /// How many slots are marked.
    package private(set) var count = 0
    /// The word at which the walk stands.
    private var position = 0

    package init() {}

    /// Whether none is marked.
    package var isEmpty: Bool { count == 0 }

    /// Whether the walk has come behind the last slot.
    package var isAtEnd: Bool { position >= words.count }

    @inline(__always) package mutating func insert(_ slot: Slot) {
        let word = Int(slot >> 6)
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: max(64, words.count, word + 1 - words.count))) }
        let bit: UInt64 = 1 << UInt64(slot & 63)
        if words[word] & bit == 0 {
            words[word] |= bit
            count += 1
        }
    }

    /// A round begins.
    package mutating func rewind() { position = 0 }

    /// Unmarks and gives the next slot of the walk; nil at its end.
    package mutating func popNext() -> Slot? {
        while position < words.count {
            let word = words[position]
            guard word != 0 else {
                position += 1
                continue
            }
            words[position] &= word - 1
            count -= 1
            return Slot(position) << 6 | Slot(word.trailingZeroBitCount)
        }
        return nil
    }
}
