import IsletCore
import IsletJournal

/// Keeps the bus thread where its data is: on one processor, from which it may go from time to time.
///
/// What it reads and writes fills that processor's caches. Left alone the system moves the thread to and fro, since it
/// wakes others and is woken by them a thousand times a second: with two processors 156,000 updates/s instead of
/// 181,000. The moments in which it may go are for a machine on which somebody else stays on the same processor: the
/// system, which cannot move that one, moves this one then.
struct ProcessorHold {
    /// How long it stays, and how long it may go then: some of the scheduler's own periods, in milliseconds.
    static let heldMilliseconds: Milliseconds = 1_000
    static let freeMilliseconds: Milliseconds = 20

    private var affinity: ThreadAffinity?
    private var isHeld = false
    /// When that changes, in monotonic milliseconds.
    private var until: Milliseconds = 0

    /// On the thread that it is for.
    init() { affinity = ThreadAffinity() }

    /// Called with each turn.
    mutating func turn(at monotonic: Milliseconds) {
        guard monotonic >= until, affinity != nil else { return }
        if isHeld {
            affinity?.roam()
        } else if affinity?.stay() == nil {
            affinity = nil
        }
        isHeld.toggle()
        until = monotonic + (isHeld ? Self.heldMilliseconds : Self.freeMilliseconds)
    }
}
