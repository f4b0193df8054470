import ZeroMQ

/// An actor on a bus thread, without sockets or loop.
actor Counter {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private(set) var value = 0
    private(set) var threadsSeen: Set<UInt> = []

    init(on thread: BusThread) {
        self.thread = thread
    }

    /// Counts one call and notes where it ran.
    func increment() {
        value += 1
        threadsSeen.insert(currentThread())
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
}
