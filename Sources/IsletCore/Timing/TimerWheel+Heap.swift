/// A timer at or before the cursor.
struct DueTimer: BitwiseCopyable {
    var tick: UInt64
    var slot: UInt32

    func comesBefore(_ other: DueTimer) -> Bool {
        tick != other.tick ? tick < other.tick : slot < other.slot
    }
}

/// The heap of what is due: a binary heap in an array, where each node knows its own index so that it can be cancelled.
extension TimerWheel {
    mutating func insertIntoHeap(_ slot: UInt32, at tick: UInt64) {
        let timer = DueTimer(tick: tick, slot: slot)
        heap.append(timer)
        nodes[slot].tick = tick
        nodes[slot].previous = TimerNode.inHeap
        moveUp(timer, from: heap.count - 1)
    }

    mutating func removeFromHeap(at index: Int) {
        let last = heap.removeLast()
        guard index < heap.count else { return }
        if index > 0, last.comesBefore(heap[(index - 1) / 2]) {
            moveUp(last, from: index)
        } else {
            moveDown(last, from: index)
        }
    }

    /// Puts `timer` at `start`, whose old entry is void, or nearer to the top.
    private mutating func moveUp(_ timer: DueTimer, from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard timer.comesBefore(heap[parent]) else { break }
            put(heap[parent], at: index)
            index = parent
        }
        put(timer, at: index)
    }

    /// Puts `timer` at `start`, whose old entry is void, or further from the top.
    private mutating func moveDown(_ timer: DueTimer, from start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].comesBefore(heap[child]) { child += 1 }
            guard heap[child].comesBefore(timer) else { break }
            put(heap[child], at: index)
            index = child
        }
        put(timer, at: index)
    }

    private mutating func put(_ timer: DueTimer, at index: Int) {
        heap[index] = timer
        nodes[timer.slot].next = UInt32(index)
    }
}
