/// The deadlines of one partition: one timer for each slot of the activity slab, popped in exact order of
/// (deadline, slot), never early and never lost.
///
/// A circular wheel of two levels. A deadline less than 4.096 s ahead of the cursor has its own millisecond in the near
/// wheel; one less than 18.6 h ahead waits in the far wheel, in the list of its 4.096 s block, and moves to the near wheel
/// when the cursor reaches that block; anything later waits in overflow lists, which are swept. Three rules carry the proof:
///
/// 1. The cursor stops at every instant at which a list has to be emptied, empties it there, and only then moves on.
/// 2. Whatever is due at or before the cursor is in one heap, ordered by (deadline, slot). It gives ties their order, and
///    lets a deadline that is armed behind the cursor come out before everything else.
/// 3. The cursor never goes back, and never passes the earliest deadline outside the heap.
///
/// Arming, re-arming and cancelling take constant time and allocate only when the slab or the heap outgrows its old
/// maximum; what is in the heap, that is due already, costs the logarithm of the heap's size instead. It belongs to one
/// owner and does not lock. The shape is that of Erlang's timer wheel; the occupancy words are Tokio's idea.
package struct TimerWheel: ~Copyable {
    /// How many nodes one ``popDue(now:)`` may move between lists before it gives the turn back.
    package static let defaultCascadeBudget = 4096

    /// How many timers are armed.
    package private(set) var armedCount = 0

    let cascadeBudget: Int
    var nodes = TimerNodes()
    var lists = TimerLists()
    /// Timers with a tick at or before the cursor: a binary heap by (tick, slot).
    var heap: [DueTimer] = []
    var cursorTick: UInt64
    /// For each overflow list, a block that none of its nodes is before.
    var overflowFloors = [UInt64](repeating: .max, count: TimerLists.overflowCount)
    /// The block at which the next overflow list must be swept; may be too early after a cancellation, never too late.
    var sweepBlock = UInt64.max

    /// An empty wheel whose cursor stands at `start`.
    ///
    /// After a restart, start at the earliest deadline: overdue ones are then handled by the wheel and not by the heap.
    package init(start: Instant) {
        self.init(start: start, cascadeBudget: Self.defaultCascadeBudget)
    }

    /// An empty wheel with a cascade budget of its own, at least 1.
    package init(start: Instant, cascadeBudget: Int) {
        precondition(cascadeBudget > 0, "without a budget the wheel would never turn")
        cursorTick = start.tick
        self.cascadeBudget = cascadeBudget
    }

    /// Where the wheel stands: no deadline outside the due heap is before it. Never goes back.
    package var cursor: Instant { Instant(tick: cursorTick) }

    /// Arms or re-arms the timer of `slot`.
    ///
    /// A deadline at or before the cursor is kept as it is and due at once, in its place among the others that are overdue.
    /// ``Instant/never`` cancels.
    package mutating func arm(_ slot: UInt32, at deadline: Instant) {
        guard deadline.isSet else { return cancel(slot) }
        if !nodes.contains(slot) { nodes.grow(toHold: slot) }
        let node = nodes[slot]
        if node.isArmed {
            remove(node, slot)
        } else {
            armedCount += 1
        }
        place(slot, at: deadline.tick)
    }

    /// Disarms the timer of `slot`; nothing happens when it is not armed.
    package mutating func cancel(_ slot: UInt32) {
        guard nodes.contains(slot) else { return }
        let node = nodes[slot]
        guard node.isArmed else { return }
        remove(node, slot)
        disarm(slot)
    }

    /// The deadline that `slot` is armed for, or ``Instant/never``.
    package func deadline(of slot: UInt32) -> Instant {
        guard isArmed(slot) else { return .never }
        return Instant(tick: nodes[slot].tick)
    }

    /// Whether `slot` is armed.
    package func isArmed(_ slot: UInt32) -> Bool {
        nodes.contains(slot) && nodes[slot].isArmed
    }

    /// The earliest instant at which ``popDue(now:)`` may have something to do; ``Instant/never`` when nothing is armed.
    ///
    /// Never later than the earliest deadline. It may be earlier, when a list has to be moved before.
    package func nextWork() -> Instant {
        guard armedCount > 0 else { return .never }
        if let first = heap.first { return Instant(tick: first.tick) }
        return Instant(tick: nextStop())
    }

    /// Removes and returns the next timer whose deadline is at or before `now`, in order of (deadline, slot) over all timers,
    /// whatever was armed or cancelled since the last call.
    ///
    /// Moves the cursor to the deadline that it returns, or to `now` when nothing is due. It moves at most the cascade budget
    /// of nodes between lists. When that is spent before the next timer is found, the answer is nil too, and ``nextWork()``
    /// is still at or before `now`: call again in the next turn.
    package mutating func popDue(now: Instant) -> (slot: UInt32, deadline: Instant)? {
        guard bringFirst(by: now) else { return nil }
        let first = heap[0]
        removeFromHeap(at: 0)
        disarm(first.slot)
        return (first.slot, Instant(tick: first.tick))
    }

    /// The deadline of the timer that ``popDue(now:)`` would take; ``Instant/never`` where it would take none. Moves the
    /// cursor like that.
    package mutating func nextDue(by now: Instant) -> Instant { bringFirst(by: now) ? Instant(tick: heap[0].tick) : .never }

    /// Brings the next timer to the top of the heap; false where it is not due, or the budget is spent before it is found.
    private mutating func bringFirst(by now: Instant) -> Bool {
        // `.max` is the stop of an empty wheel, and never comes.
        let limit = min(now.tick, .max - 1)
        var budget = cascadeBudget
        while true {
            if let first = heap.first, first.tick < cursorTick { return first.tick <= limit }
            guard settleAtCursor(&budget) else { return false }
            if let first = heap.first { return first.tick <= limit }
            let stop = nextStop()
            guard stop <= limit else {
                cursorTick = max(cursorTick, limit)
                return false
            }
            cursorTick = stop
        }
    }

    private mutating func disarm(_ slot: UInt32) {
        nodes[slot].previous = TimerNode.unarmed
        armedCount -= 1
    }
}

extension Instant {
    /// The instant as an unsigned number with the same order, so that a distance between any two fits.
    var tick: UInt64 { UInt64(bitPattern: milliseconds) ^ (1 << 63) }

    init(tick: UInt64) {
        self.init(Milliseconds(bitPattern: tick ^ (1 << 63)))
    }
}
