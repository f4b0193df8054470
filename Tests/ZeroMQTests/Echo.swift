import ZeroMQ

/// The example of `BusLoop`'s documentation, as it stands there.
actor Echo: BusLoop {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    nonisolated let endpoint: String
    private let router: Socket
    private var frame = Message()
    var poller = Poller()

    init(on thread: BusThread, context: ZeroMQContext) throws(ZeroMQError) {
        self.thread = thread
        router = try Socket(.router, in: context)
        try router.set(.routerMandatory, to: true)
        try router.bind("tcp://127.0.0.1:*")
        endpoint = try router.lastEndpoint
        _ = poller.add(router)
    }

    func turn() -> NextTurn {
        var budget = 256  // frames a turn, so that jobs and timers get their share
        while budget > 0, let got = try? router.receive(into: &frame), got {
            _ = try? router.send(&frame, more: frame.more)  // routing id, then the body, back to the sender
            budget -= 1
        }
        return budget == 0 ? .immediately : .whenReady
    }

    func finish() { router.close() }
}
