/// The geometry of the wheel, and the lists of timers behind it: for each list the slot number of its first node, and a bit
/// that says whether there is one.
///
/// The slots are behind a pointer for speed: an array asks at each change whether somebody else has it, a call into the
/// runtime, which took a sixth of an insertion's instructions. It is safe: the struct is not copyable, so that it is the
/// only owner, `init` fills the memory, `deinit` frees it once, each access checks its list, and no pointer leaves this file.
struct TimerLists: ~Copyable {
    /// Near wheel: one list for each of the 4096 milliseconds from the cursor on.
    static let nearBits = 12
    static let nearCount = 1 << nearBits
    /// Far wheel: one list for each of 16384 blocks of 4.096 s from the cursor's own block on, 18.6 hours.
    static let farBits = 14
    static let farCount = 1 << farBits
    /// Overflow: list `k` holds what was between 2^k and 2^(k+1) blocks away when it was put there.
    static let overflowCount = 64

    static let near = 0..<nearCount
    static let far = near.upperBound..<near.upperBound + farCount
    static let overflow = far.upperBound..<far.upperBound + overflowCount
    /// What is left of the overflow list that is being swept.
    static let sweeping = overflow.upperBound
    static let count = sweeping + 1
    private static let all = 0..<count

    private let heads = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
    private(set) var occupancy = OccupancyMap(count: count)

    init() { heads.initialize(repeating: TimerNode.none, count: Self.count) }

    deinit { heads.deallocate() }

    /// The near list of a tick.
    static func near(_ tick: UInt64) -> Int { Int(tick & UInt64(nearCount - 1)) }

    /// The far list of a block.
    static func far(_ block: UInt64) -> Int { far.lowerBound + Int(block & UInt64(farCount - 1)) }

    /// The first node of a list, or ``TimerNode/none``.
    subscript(list: Int) -> UInt32 {
        precondition(Self.all.contains(list), "there is no such list")
        return heads[list]
    }

    /// Puts a node at the front of a list; the node that was there, or ``TimerNode/none``.
    mutating func push(_ slot: UInt32, onto list: Int) -> UInt32 {
        let next = self[list]
        heads[list] = slot
        if next == TimerNode.none { occupancy.insert(list) }
        return next
    }

    /// Makes `next` the first node of a list that is not empty, or empties it with ``TimerNode/none``.
    mutating func replaceFirst(of list: Int, with next: UInt32) {
        precondition(Self.all.contains(list), "there is no such list")
        heads[list] = next
        if next == TimerNode.none { occupancy.remove(list) }
    }
}
