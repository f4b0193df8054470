import Synchronization
import ZeroMQ

/// A loop whose turns a test writes, and which reports what happened to it.
actor ScriptedLoop: BusLoop {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    var poller = Poller()
    private(set) var turns = 0
    private(set) var isFinished = false
    nonisolated let turned = Event()
    nonisolated let finished = Event()
    private let script: @Sendable (isolated ScriptedLoop) -> NextTurn

    private var socket: Socket?

    init(
        on thread: BusThread, socketOf context: ZeroMQContext? = nil,
        _ script: @escaping @Sendable (isolated ScriptedLoop) -> NextTurn
    ) throws(ZeroMQError) {
        self.thread = thread
        self.script = script
        if let context {
            let pair = try Socket(.pair, in: context)
            _ = poller.add(pair)
            socket = consume pair
        }
    }

    func turn() -> NextTurn {
        turns += 1
        turned.happen()
        return script(self)
    }

    /// Makes a job for the actor, which no other thread has a part in, and lets it tell `event`.
    func happenLater(_ event: Event) {
        Task { tell(event) }
    }

    private func tell(_ event: Event) { event.happen() }

    func finish() {
        isFinished = true
        socket?.close()
        finished.happen()
    }
}
