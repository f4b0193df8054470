extension TimerWheel {
    /// How many timers are armed for `now` or before: those that the loop has not come to. For people who ask.
    ///
    /// - Parameter limit: at most so many timers are looked at; where they are not all, the answer is too small.
    package func overdueCount(at now: Instant, limit: Int) -> Int {
        guard nextWork() <= now else { return 0 }
        var left = limit
        var count = 0
        for timer in heap.prefix(left) where timer.tick <= now.tick { count += 1 }
        left -= heap.count
        add(TimerLists.sweeping, now.tick, &count, &left)
        let last = min(now.tick, cursorTick + UInt64(TimerLists.nearCount - 1))
        if cursorTick <= last {
            for tick in cursorTick...last where left > 0 { add(TimerLists.near(tick), now.tick, &count, &left) }
        }
        let block = cursorTick.block
        let lastBlock = min(now.tick.block, block + UInt64(TimerLists.farCount - 1))
        if block <= lastBlock {
            for block in block...lastBlock where left > 0 { add(TimerLists.far(block), now.tick, &count, &left) }
        }
        for level in 0..<TimerLists.overflowCount
        where overflowFloors[level] != .max && overflowFloors[level] <= now.tick.block {
            add(TimerLists.overflow.lowerBound + level, now.tick, &count, &left)
        }
        return count
    }

    private func add(_ list: Int, _ now: UInt64, _ count: inout Int, _ left: inout Int) {
        var slot = lists[list]
        while slot != TimerNode.none, left > 0 {
            let node = nodes[slot]
            if node.tick <= now { count += 1 }
            left -= 1
            slot = node.next
        }
    }
}
