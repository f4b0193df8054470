extension TimerWheel {
    /// Empties every list that must be empty before the cursor may leave, as far as the budget goes.
    ///
    /// - Returns: whether all is done, so that the heap holds everything that is due at the cursor.
    mutating func settleAtCursor(_ budget: inout Int) -> Bool {
        repeat {
            guard drain(TimerLists.sweeping, &budget) else { return false }
        } while startSweep()
        guard drain(TimerLists.far(cursorTick.block), &budget) else { return false }
        return drain(TimerLists.near(cursorTick), &budget)
    }

    /// Gives every node of a list the place that it has seen from the present cursor.
    private mutating func drain(_ list: Int, _ budget: inout Int) -> Bool {
        while true {
            let slot = lists[list]
            if slot == TimerNode.none { return true }
            guard budget > 0 else { return false }
            budget -= 1
            let node = nodes[slot]
            remove(node, slot)
            place(slot, at: node.tick)
        }
    }

    /// Begins to sweep an overflow list whose block the cursor has reached, by renaming the list: what is still far away
    /// goes back into the list that it came from.
    ///
    /// - Returns: false when no list is to be swept now.
    private mutating func startSweep() -> Bool {
        guard sweepBlock <= cursorTick.block else { return false }
        var next = UInt64.max
        var isSweeping = false
        for level in TimerLists.farBits..<TimerLists.overflowCount {
            let list = TimerLists.overflow.lowerBound + level
            let floor = overflowFloors[level]
            guard floor != .max else { continue }
            let block = Self.sweepBlock(level: level, floor: floor)
            if block > cursorTick.block || isSweeping {
                next = min(next, block)
                continue
            }
            overflowFloors[level] = .max
            let first = lists[list]
            guard first != TimerNode.none else { continue }
            lists[list] = TimerNode.none
            lists[TimerLists.sweeping] = first
            nodes[first].previous = TimerNode.listMark | UInt32(TimerLists.sweeping)
            isSweeping = true
        }
        sweepBlock = next
        return isSweeping
    }

    /// The first tick, from the cursor on, at which a list must be emptied; `.max` when all lists are empty.
    func nextStop() -> UInt64 {
        if lists[TimerLists.sweeping] != TimerNode.none { return cursorTick }
        let block = cursorTick.block
        var stop = UInt64.max
        let near = lists.occupancy.distance(from: TimerLists.near(cursorTick), around: TimerLists.near)
        if let near { stop = cursorTick + UInt64(near) }
        // Far lists and sweeps begin with a later block, unless the cursor stands at a block's first tick.
        if stop.block == block, cursorTick != block.blockStart { return stop }
        let far = lists.occupancy.distance(from: TimerLists.far(block), around: TimerLists.far)
        if let far { stop = min(stop, max(cursorTick, (block + UInt64(far)).blockStart)) }
        if sweepBlock != .max { stop = min(stop, max(cursorTick, sweepBlock.blockStart)) }
        return stop
    }
}
