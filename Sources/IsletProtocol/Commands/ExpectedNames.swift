import IsletCore

/// Which name stands behind which field of a command: what stood there in the last command that had it.
///
/// Publishers write the members of their commands in one order and without white space. So what was there once is
/// expected again: two words compared take the place of a name's scan and of its look-up. What is not as expected is read
/// as ever, and expected the next time; so it is with publishers that take turns and write in different orders, with names
/// of more than 12 letters, and with those that begin in a frame's last 15 bytes.
struct ExpectedNames: ~Copyable {
    /// A name with what stands around it, such as `,"app":`, the first byte in the lowest place.
    private struct Entry {
        /// Where nothing is expected: no word has a bit where the mask has none.
        static let nothing = Entry(field: .op, count: 0, head: 1, tail: 1, mask: 0)

        var field: Field
        var count: Int
        /// The first eight bytes, or as many as there are.
        var head: UInt64
        /// The last eight, likewise.
        var tail: UInt64
        /// The bits of both that count.
        var mask: UInt64

        @inline(__always) static func tailOffset(_ count: Int) -> Int { max(0, count - 8) }
    }

    /// Where the first member begins.
    static let start = CommandDecoder.maximumFields
    /// Behind a member that is no field.
    static let unknown = CommandDecoder.maximumFields + 1
    /// A longer text is not expected; two words would not hold it.
    private static let longest = 16
    /// What a member's text has beside its name: comma or brace, quotes and colon.
    private static let around = 4

    /// By the index of the field before, and by ``start``. Nothing is ever expected behind a ``unknown``.
    private var entries = [Entry](repeating: .nothing, count: CommandDecoder.maximumFields + 2)

    init() {}

    /// Goes over the next name where it is the expected one, and says whose it is; nil, and the cursor as it was, where
    /// it is not.
    ///
    /// - Parameter place: the index of the field before the cursor, or ``start`` or ``unknown``.
    @inline(__always) func next(after place: Int, _ cursor: inout JSONCursor) -> Field? {
        let entry = entries[place]
        let start = cursor.position
        guard start + Self.longest <= cursor.end, cursor.word(start) & entry.mask == entry.head,
            cursor.word(start + Entry.tailOffset(entry.count)) & entry.mask == entry.tail
        else { return nil }
        cursor.position = start + entry.count
        return entry.field
    }

    /// Expects from now on what stands between two positions.
    ///
    /// - Parameters:
    ///   - start: behind the member before `field`, of index `place`, or at the object's beginning.
    ///   - cursor: at the value of `field`.
    mutating func expect(_ field: Field, after place: Int, from start: Int, to cursor: JSONCursor) {
        let count = cursor.position - start
        // A name that is written otherwise, or with white space around it, is longer.
        guard place != Self.unknown, count == field.name.utf8CodeUnitCount + Self.around, count <= Self.longest,
            start + Self.longest <= cursor.end
        else { return }
        let mask: UInt64 = count < 8 ? 1 << UInt64(8 * count) - 1 : .max
        entries[place] = Entry(
            field: field, count: count, head: cursor.word(start) & mask,
            tail: cursor.word(start + Entry.tailOffset(count)) & mask, mask: mask)
    }
}
