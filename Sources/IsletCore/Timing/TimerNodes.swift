/// One timer: 16 bytes at the index of the activity that it belongs to.
///
/// The two links mean different things by where the timer is:
///
/// | where | `next` | `previous` |
/// | --- | --- | --- |
/// | nowhere | - | ``unarmed`` |
/// | first of a list | the node behind it, or ``none`` | ``listMark`` + the list's number |
/// | further back in a list | the node behind it, or ``none`` | the node before it |
/// | in the due heap | its index in the heap | ``inHeap`` |
///
/// Because the first node knows its list, a timer can leave any list without knowing which one it is in.
struct TimerNode: BitwiseCopyable {
    /// The deadline as ``Instant/tick``; without meaning while unarmed.
    var tick: UInt64
    var next: UInt32
    var previous: UInt32

    /// No node: the end of a list.
    static let none = UInt32.max
    /// Set in `previous` when it does not name a node.
    static let listMark: UInt32 = 1 << 31
    static let unarmed = UInt32.max
    static let inHeap = UInt32.max - 1

    var isArmed: Bool { previous != Self.unarmed }
    var isInHeap: Bool { previous == Self.inHeap }
}

/// The timers of all slots, in chunks: growth touches 64 kB at a time and never moves a node, so that no turn of the
/// engine's loop has to copy a million of them.
///
/// The chunks are pointers for speed: with an array of arrays every operation took two to three times as long, with one
/// array re-arming and cancelling nearly twice, and that array moves as a whole when it grows. They are safe for these
/// reasons. The struct is not copyable, so that it is the only owner, and `deinit` frees each chunk once. A chunk is
/// initialised whole before it gets into `chunks`. The array checks the chunk's index on every access, and the index inside
/// the chunk is masked to its size. No pointer leaves this file.
struct TimerNodes: ~Copyable {
    private static let chunkBits: UInt32 = 12
    private static let chunkSize = 1 << Int(chunkBits)
    private static let chunkMask = UInt32(chunkSize - 1)

    private var chunks: [UnsafeMutablePointer<TimerNode>] = []

    init() {}

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// How many slots have a node; all below this number do.
    var count: Int { chunks.count << Int(Self.chunkBits) }

    /// Whether `slot` has a node.
    func contains(_ slot: UInt32) -> Bool { Int(slot >> Self.chunkBits) < chunks.count }

    /// Makes sure that `slot` has a node.
    mutating func grow(toHold slot: UInt32) {
        precondition(slot < TimerNode.listMark, "a slot number has at most 31 bits")
        while !contains(slot) {
            let chunk = UnsafeMutablePointer<TimerNode>.allocate(capacity: Self.chunkSize)
            let empty = TimerNode(tick: .max, next: TimerNode.none, previous: TimerNode.unarmed)
            chunk.initialize(repeating: empty, count: Self.chunkSize)
            chunks.append(chunk)
        }
    }

    /// Reads a slot's node (see ``Lookahead``).
    @inline(__always) func touch(_ slot: UInt32) -> UInt64 { contains(slot) ? self[slot].tick : 0 }

    /// Reads the nodes before and behind a slot's, which change when it leaves its list (see ``Lookahead``).
    @inline(__always) func touchNeighbours(of slot: UInt32) -> UInt64 {
        guard contains(slot) else { return 0 }
        // A mark is no slot, and lies beyond all chunks.
        return touch(self[slot].next) &+ touch(self[slot].previous)
    }

    subscript(slot: UInt32) -> TimerNode {
        get { chunks[Int(slot >> Self.chunkBits)][Int(slot & Self.chunkMask)] }
        set { chunks[Int(slot >> Self.chunkBits)][Int(slot & Self.chunkMask)] = newValue }
    }
}
