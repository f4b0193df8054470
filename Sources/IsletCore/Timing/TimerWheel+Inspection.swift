extension TimerWheel {
    /// The exact earliest deadline, or ``Instant/never``. It reads whole lists: for people who ask, not for the loop.
    package func earliestDeadline() -> Instant {
        guard armedCount > 0 else { return .never }
        // What is due is at or before the cursor, everything else at it or after.
        if let first = heap.first { return Instant(tick: first.tick) }
        var earliest = earliestTick(in: TimerLists.sweeping)
        let near = lists.occupancy.distance(from: TimerLists.near(cursorTick), around: TimerLists.near)
        if let near { earliest = min(earliest, cursorTick + UInt64(near)) }
        let block = cursorTick.block
        let far = lists.occupancy.distance(from: TimerLists.far(block), around: TimerLists.far)
        if let far, (block + UInt64(far)).blockStart <= earliest {
            earliest = min(earliest, earliestTick(in: TimerLists.far(block + UInt64(far))))
        }
        for level in 0..<TimerLists.overflowCount
        where overflowFloors[level] != .max && overflowFloors[level].blockStart <= earliest {
            earliest = min(earliest, earliestTick(in: TimerLists.overflow.lowerBound + level))
        }
        return Instant(tick: earliest)
    }

    private func earliestTick(in list: Int) -> UInt64 {
        var earliest = UInt64.max
        var slot = lists[list]
        while slot != TimerNode.none {
            earliest = min(earliest, nodes[slot].tick)
            slot = nodes[slot].next
        }
        return earliest
    }
}

/// The invariants, for tests: nil when all hold.
extension TimerWheel {
    /// Walks the whole wheel and says what is broken; nil when nothing is.
    package func checkInvariants() -> String? {
        if let problem = lists.checkInvariants() ?? checkHeap() ?? checkSweeps() { return problem }
        var found = heap.count
        for list in 0..<TimerLists.count {
            if let problem = check(list, &found) { return problem }
        }
        let armed = (0..<UInt32(nodes.count)).count { nodes[$0].isArmed }
        if armed != armedCount { return "\(armed) nodes are armed, the count says \(armedCount)" }
        if found != armedCount { return "\(found) nodes are in lists or in the heap, \(armedCount) are armed" }
        return nil
    }

    private func checkHeap() -> String? {
        for (index, timer) in heap.enumerated() {
            let node = nodes[timer.slot]
            guard node.isInHeap, node.next == index, node.tick == timer.tick else {
                return "slot \(timer.slot) does not know that it is at \(index) of the heap"
            }
            if timer.tick > cursorTick { return "slot \(timer.slot) is in the heap and not due" }
            if index > 0, !heap[(index - 1) / 2].comesBefore(timer) { return "the heap is out of order at \(index)" }
        }
        return nil
    }

    private func checkSweeps() -> String? {
        for level in 0..<TimerLists.overflowCount where overflowFloors[level] != .max {
            if Self.sweepBlock(level: level, floor: overflowFloors[level]) < sweepBlock {
                return "overflow list \(level) must be swept before block \(sweepBlock)"
            }
        }
        if sweepBlock < cursorTick.block { return "the sweep at block \(sweepBlock) was passed" }
        return nil
    }

    private func check(_ list: Int, _ found: inout Int) -> String? {
        var before = TimerNode.listMark | UInt32(list)
        var slot = lists[list]
        while slot != TimerNode.none {
            found += 1
            if found > armedCount { return "list \(list) goes round, or nodes are in two lists" }
            let node = nodes[slot]
            if node.previous != before { return "slot \(slot) of list \(list) has the wrong node before it" }
            if let problem = checkPlace(of: node, in: list) { return "slot \(slot) of list \(list): \(problem)" }
            before = slot
            slot = node.next
        }
        return nil
    }

    private func checkPlace(of node: TimerNode, in list: Int) -> String? {
        if node.tick < cursorTick { return "its deadline was passed" }
        let distance = node.tick.block - cursorTick.block
        if TimerLists.near.contains(list) {
            if TimerLists.near(node.tick) != list { return "another millisecond" }
            if node.tick - cursorTick >= UInt64(TimerLists.nearCount) { return "too late for the near wheel" }
        } else if TimerLists.far.contains(list) {
            if TimerLists.far(node.tick.block) != list { return "another block" }
            if distance >= UInt64(TimerLists.farCount) { return "too late for the far wheel" }
            if distance == 0, cursorTick != cursorTick.block.blockStart { return "its block began before the cursor" }
        } else if TimerLists.overflow.contains(list) {
            let floor = overflowFloors[list - TimerLists.overflow.lowerBound]
            if node.tick.block < floor { return "before the list's floor" }
        }
        return nil
    }
}

extension TimerLists {
    /// nil when the occupancy bits tell the truth about the lists.
    func checkInvariants() -> String? {
        for list in 0..<Self.count where occupancy.contains(list) != (self[list] != TimerNode.none) {
            return "the occupancy bit of list \(list) is \(occupancy.contains(list))"
        }
        return occupancy.checkInvariants()
    }
}
