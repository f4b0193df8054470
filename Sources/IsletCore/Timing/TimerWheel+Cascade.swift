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

    /// Begins to sweep the overflow lists whose block the cursor has reached, the first that holds something.
    ///
    /// - Returns: false when no list is to be swept now.
    private mutating func startSweep() -> Bool {
        guard sweepBlock <= cursorTick.block else { return false }
        var hasStarted = false
        var nextBlock = UInt64.max
        for level in TimerLists.farBits..<TimerLists.overflowCount where overflowFloors[level] != .max {
            let block = Self.sweepBlock(level: level, floor: overflowFloors[level])
            if block <= cursorTick.block, !hasStarted {
                overflowFloors[level] = .max
                hasStarted = moveToSweeping(TimerLists.overflow.lowerBound + level)
            } else {
                nextBlock = min(nextBlock, block)
            }
        }
        sweepBlock = nextBlock
        return hasStarted
    }

    /// Renames a list to the one that is swept, so that what is still far away can go back into the list it came from.
    ///
    /// - Returns: false when the list is empty.
    private mutating func moveToSweeping(_ list: Int) -> Bool {
        let first = lists[list]
        guard first != TimerNode.none else { return false }
        lists.replaceFirst(of: list, with: TimerNode.none)
        _ = lists.push(first, onto: TimerLists.sweeping)
        nodes[first].previous = TimerNode.listMark | UInt32(TimerLists.sweeping)
        return true
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
