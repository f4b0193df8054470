import Synchronization
import ZeroMQ

/// An actor on a bus thread, without sockets or loop.
actor Counter {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private(set) var value = 0
    private(set) var threadsSeen: Set<UInt> = []

    /// The value, for those who must not wait for the actor.
    nonisolated let valueSeen = Atomic<Int>(0)

    init(on thread: BusThread) {
        self.thread = thread
    }

    /// Counts one call and notes where it ran.
    func increment() {
        value += 1
        valueSeen.store(value, ordering: .releasing)
        threadsSeen.insert(currentThread())
    }

    /// Lets another actor count one call, from this thread, and tells when it is about to.
    func increment(_ other: Counter, begun: Event) async {
        begun.happen()
        await other.increment()
    }

    /// Stops the thread that this very job runs on.
    func stopItsThread() async {
        await thread.stop()
    }

    /// Lets signals interrupt the thread, which has inherited a mask without any; the thread.
    func letSignalsIn() -> UInt {
        unblockSignals()
        return currentThread()
    }

    /// Holds the thread until `release` is raised.
    func block(until release: WakeSignal, entered: Event) throws {
        entered.happen()
        try waitBlocking(for: release)
    }

    /// Holds another actor, and this thread with it where that one has none of its own.
    func block(_ other: Counter, until release: WakeSignal, entered: Event) async throws {
        try await other.block(until: release, entered: entered)
    }
}
