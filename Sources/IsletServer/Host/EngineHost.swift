import IsletCore
package import IsletJournal
import IsletProtocol
package import ZeroMQ

/// The actor that owns a partition and its sockets, and lives on the bus thread.
///
/// A turn: the partition reads the clocks and lets take effect what is due → messages are received and taken → the
/// partition hands what happened to the journal → what is committed is sent. A message is handled synchronously on this
/// thread: no hop, no `await`.
///
/// Its parts: `+Receive` (sockets in), `+Send` (sockets out).
package actor EngineHost: BusLoop {
    package nonisolated let thread: BusThread
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    /// What the service is, as `service.info` tells it; with the endpoints that were bound.
    package nonisolated let card: ServiceCard

    package var poller = Poller()
    var sockets: ServiceSockets
    let partition: Partition
    var received = Message()
    var outbox = PeerOutbox<Peer>()
    private let notices: NoticeBox
    /// Who waits for the end of the stop.
    private var stopped: CheckedContinuation<Void, Never>?

    /// Binds the sockets; called on the thread (see `BusThread.host`).
    ///
    /// - Parameter notices: where the journal's notices come in.
    package init(
        on thread: BusThread, context: ZeroMQContext, _ configuration: ServeConfiguration, journal: any Journal,
        notices: NoticeBox
    ) throws {
        self.thread = thread
        self.notices = notices
        sockets = try ServiceSockets(configuration, in: context)
        card = ServiceCard(configuration, endpoints: sockets.endpoints, guarantee: journal.guarantee)
        partition = try Partition(
            card: card, rules: configuration.rules, clock: DomainClock(configuration.clock), journal: journal,
            recovering: nil, at: .system(), random: SystemRandomNumberGenerator())
        sockets.register(in: &poller)
    }

    package func turn() -> NextTurn {
        for notice in notices.takeAll() { partition.take(notice) }
        var isBusy = partition.beginTurn(.system())
        if !partition.isStopping {
            if receiveCommands() { isBusy = true }
            if receiveIngest() { isBusy = true }
            if receiveSubscriptions() { isBusy = true }
            if receiveBulk() { isBusy = true }
        }
        if partition.endTurn() { isBusy = true }
        sendReleased()
        flushOutbox()
        if partition.isDone {
            stopped?.resume()
            stopped = nil
        }
        return nextTurn(isBusy: isBusy)
    }

    private func nextTurn(isBusy: Bool) -> NextTurn {
        if isBusy { return .immediately }
        var wait = partition.pollTimeout()
        if let attempt = outbox.nextAttempt() {
            wait = min(wait, Int(max(0, attempt - partition.now.monotonic)))
        }
        // What waits in the sockets stays there until the journal has committed: no reason to look at them.
        return partition.takesCommands ? .within(milliseconds: wait) : .whenWoken(milliseconds: wait)
    }

    package func finish() {
        sockets.close()
        stopped?.resume()
        stopped = nil
    }

    /// Stops: no command is taken any more, what was taken is answered, the streams say goodbye. The thread may end then.
    package func stop() async {
        partition.stop()
        await withCheckedContinuation { continuation in
            stopped = continuation
            thread.wake()
        }
    }
}
