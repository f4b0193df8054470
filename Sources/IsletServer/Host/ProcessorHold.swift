package import IsletCore
import IsletJournal

/// Keeps the bus thread where its data is while it is busy: on one processor, from which it may go from time to time.
///
/// What it reads and writes fills that processor's caches. Left alone the system moves the thread to and fro, since it
/// wakes others and is woken by them a thousand times a second: with two processors 164,000 updates/s instead of
/// 176,000. The moments in which it may go are for a machine on which somebody else stays on the same processor: the
/// system, which cannot move that one, moves this one then. Only a real-time thread that never sleeps could keep it out
/// of its processor for ever.
package struct ProcessorHold {
    /// How long it stays, and how long it may go then: some of the scheduler's own periods, in milliseconds.
    static let heldMilliseconds: Milliseconds = 1_000
    static let freeMilliseconds: Milliseconds = 20
    /// With fewer turns in the time in which it may go it is not busy, and goes on being free.
    static let busyTurns = 8

    private var affinity: ThreadAffinity?
    private var isHeld = false
    /// When that may change, in monotonic milliseconds.
    private var until: Milliseconds = 0
    private var turns = 0

    /// On the thread that it is for.
    package init() { affinity = ThreadAffinity() }

    /// Called with each turn.
    package mutating func turn(at monotonic: Milliseconds) {
        turns += 1
        guard monotonic >= until else { return }
        if isHeld {
            letGo()
        } else {
            isHeld = turns >= Self.busyTurns && affinity?.stay() != nil
        }
        turns = 0
        until = monotonic + (isHeld ? Self.heldMilliseconds : Self.freeMilliseconds)
    }

    /// Ends it until the next turn at least, before something that may start a thread: that would inherit the processor,
    /// and keep it.
    package mutating func letGo() {
        guard isHeld else { return }
        affinity?.roam()
        isHeld = false
        until = 0
        turns = 0
    }
}
