extension TimerWheel {
    /// Puts a node that is in no list where `tick` belongs, seen from the cursor.
    @inline(__always) mutating func place(_ slot: UInt32, at tick: UInt64) {
        guard tick > cursorTick else { return insertIntoHeap(slot, at: tick) }
        let list = list(for: tick)
        let next = lists.push(slot, onto: list)
        nodes[slot] = TimerNode(tick: tick, next: next, previous: TimerNode.listMark | UInt32(list))
        if next != TimerNode.none { nodes[next].previous = slot }
    }

    /// Takes an armed node out of the list or heap that it is in; the caller gives it a new place or disarms it.
    mutating func remove(_ node: TimerNode, _ slot: UInt32) {
        guard !node.isInHeap else { return removeFromHeap(at: Int(node.next)) }
        if node.next != TimerNode.none { nodes[node.next].previous = node.previous }
        if node.previous & TimerNode.listMark != 0 {
            lists.replaceFirst(of: Int(node.previous & ~TimerNode.listMark), with: node.next)
        } else {
            nodes[node.previous].next = node.next
        }
    }

    /// The list for a tick after the cursor.
    @inline(__always) private mutating func list(for tick: UInt64) -> Int {
        if tick - cursorTick < UInt64(TimerLists.nearCount) { return TimerLists.near(tick) }
        let block = tick.block
        let distance = block - cursorTick.block
        if distance < UInt64(TimerLists.farCount) { return TimerLists.far(block) }
        return overflowList(for: block, distance: distance)
    }

    /// The overflow list for a block, and the promise to sweep it in time.
    private mutating func overflowList(for block: UInt64, distance: UInt64) -> Int {
        let level = distance.highestBit
        if block < overflowFloors[level] {
            overflowFloors[level] = block
            sweepBlock = min(sweepBlock, Self.sweepBlock(level: level, floor: block))
        }
        return TimerLists.overflow.lowerBound + level
    }

    /// Where a list of overflow must be swept: half of its shortest distance before its first node.
    ///
    /// When nodes are put into the list of `level` they are at least 2^level blocks away. So two sweeps of one list are at
    /// least half of that apart, a node sees only a few sweeps before it moves to a nearer list, and a jump over years costs
    /// each node a few moves, however long the jump. The last sweep comes 8192 blocks, 9.3 h, before the deadline.
    static func sweepBlock(level: Int, floor: UInt64) -> UInt64 {
        floor - (1 << UInt64(level - 1))
    }
}

extension UInt64 {
    /// The block of 4.096 s that a tick is in.
    var block: UInt64 { self >> UInt64(TimerLists.nearBits) }

    /// The first tick of a block.
    var blockStart: UInt64 { self << UInt64(TimerLists.nearBits) }

    /// The number of the highest bit set; the value must not be 0.
    var highestBit: Int { 63 - leadingZeroBitCount }
}
