import IsletCore
package import IsletJournal
import IsletProtocol
package import Logging
package import Synchronization
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
    @exclusivity(unchecked) var sockets: ServiceSockets
    let partition: Partition
    @exclusivity(unchecked) var received = Message()
    /// A message of a socket's monitor.
    @exclusivity(unchecked) var change = Message()
    @exclusivity(unchecked) var outbox = PeerOutbox<Peer>()
    var connections: ConnectionTable
    /// Who speaks over the connections of each socket.
    var speakers: [PeerConnections]
    /// For whom something waits or waited, by the connections of each socket.
    var waitingPeers: [[Int32: Peer]]
    private var toldRefusals = (connections: UInt64(0), subscribers: UInt64(0), at: Milliseconds(0))
    private var hold = ProcessorHold()
    private let notices: NoticeBox
    /// What a stop waits for; from any thread.
    package nonisolated let stopWaitsFor = Mutex("the present turn")
    /// Told what an operator should know.
    private let logger: Logger
    private var wasHeldBack: Milliseconds = 0
    private var wasAhead = false
    private var wasFull = false
    private var knownCuts: UInt64 = 0
    /// Who waits for the end of the stop.
    private var stopped: CheckedContinuation<Void, Never>?

    /// Takes back what the store holds, and then binds the sockets; called on the thread (see `BusThread.host`).
    ///
    /// - Parameters:
    ///   - store: nil keeps nothing.
    ///   - http: the URL where HTTP is served already.
    ///   - notices: where the journal's notices come in.
    ///   - onRecovery: told what a store held, before anything is served.
    /// - Throws: `RecoveryError`, `StoreError`, `StartError`.
    package init(
        on thread: BusThread, context: ZeroMQContext, _ configuration: ServeConfiguration, store: sending Store?,
        http: String?, notices: NoticeBox, logger: Logger, onRecovery: (RecoveryReport) -> Void
    ) throws {
        self.thread = thread
        self.notices = notices
        self.logger = logger
        let guarantee = store.map { _ in configuration.sync.guarantee } ?? .none
        let unbound = ServiceEndpoints(commands: "", events: "", bulk: "")
        let clock = DomainClock(configuration.clock, notBefore: Instant(store?.summary.clock ?? 0))
        let partition = try Partition(
            card: ServiceCard(configuration, endpoints: unbound, guarantee: guarantee), rules: configuration.rules,
            clock: clock,
            journal: try store.map { try $0.startJournal(after: $0.summary.lastBatch) { notices.put($0) } }
                ?? MemoryJournal(),
            recovering: store, at: .system(), random: SystemRandomNumberGenerator())
        if let store, !store.summary.isNew { onRecovery(partition.recovery) }
        connections = ConnectionTable(
            limits: ConnectionLimits(files: OpenFiles.limit), sockets: ServiceSockets.Bound.allCases.count)
        speakers = Array(repeating: PeerConnections(), count: ServiceSockets.Bound.allCases.count)
        waitingPeers = Array(repeating: [:], count: ServiceSockets.Bound.allCases.count)
        sockets = try ServiceSockets(configuration, in: context)
        partition.card.endpoints = sockets.endpoints
        partition.card.endpoints.http = http
        partition.residentBytes = { ResidentMemory.bytes() }
        // What happens on a clock that is set follows from what was sent.
        if !clock.isManual { partition.budget.clock = ClockReading.monotonic }
        partition.log = PartitionLog(logger)
        card = partition.card
        self.partition = partition
        sockets.register(in: &poller)
    }

    package func turn() -> NextTurn {
        for notice in notices.takeAll() { partition.take(notice) }
        var isBusy = partition.beginTurn(.system())
        hold.turn(at: partition.now.monotonic)
        if watchConnections() { isBusy = true }
        if !partition.isStopping {
            let isIngestFirst = partition.isIngestFirst
            if isIngestFirst, receiveIngest() { isBusy = true }
            if receiveCommands() { isBusy = true }
            if !isIngestFirst, receiveIngest() { isBusy = true }
            if receiveSubscriptions() { isBusy = true }
            if receiveBulk() { isBusy = true }
        }
        if partition.endTurn() { isBusy = true }
        sendReleased()
        if callProviders() { isBusy = true }
        flushOutbox()
        warn()
        // Once it is through, it waits for the journal's files, and `stop()` says so.
        if partition.isStopping, !partition.isDone { stopWaitsFor.withLock { $0 = partition.stopWaitsFor } }
        if partition.isDone {
            stopped?.resume()
            stopped = nil
        }
        return nextTurn(isBusy: isBusy)
    }

    /// Says once when the clock was set forward too far to be believed, or was set back, and when the disk is full, and
    /// when these are over.
    private func warn() {
        warnOfClockBehind()
        let heldBack = partition.clock.heldBack
        if heldBack > 0, wasHeldBack == 0 {
            logger.warning(
                "the clock was set forward by \(heldBack) ms: not believed until it has stayed so for a while",
                metadata: ["heldBack": "\(heldBack) ms"])
        } else if heldBack == 0, wasHeldBack > 0 {
            logger.notice("the clock that was set forward by \(wasHeldBack) ms is believed now, or was set back")
        }
        wasHeldBack = heldBack
        if partition.statistics.cutClients != knownCuts {
            let cut = partition.statistics.cutClients - knownCuts
            knownCuts = partition.statistics.cutClients
            logger.warning("\(cut) clients were cut, as they did not read their answers", metadata: ["clients": "\(cut)"])
        }
        warnOfRefusals()
        if partition.isDiskFull != wasFull {
            wasFull = partition.isDiskFull
            if wasFull {
                logger.error("the disk is full: commands are refused and deadlines wait until there is room")
            } else {
                logger.notice("there is room on the disk again")
            }
        }
    }

    /// From so many milliseconds on it is said that the clock was set back.
    private static let aheadTold: Milliseconds = 1_000

    private func warnOfClockBehind() {
        let ahead = partition.clock.ahead
        if ahead > Self.aheadTold, !wasAhead {
            wasAhead = true
            logger.warning(
                "the clock was set back by \(ahead) ms: time stands still until it has caught up",
                metadata: ["ahead": "\(ahead) ms"])
        } else if ahead == 0, wasAhead {
            wasAhead = false
            logger.notice("the clock has caught up: time goes on")
        }
    }

    /// How often it is said at most that somebody was refused, in milliseconds.
    private static let refusalsTold: Milliseconds = 10_000

    private func warnOfRefusals() {
        let now = partition.now.monotonic
        partition.statistics.connections = ConnectionFigures(
            commands: connections.count(at: .commands), bulk: connections.count(at: .bulk),
            events: connections.count(at: .events), ingest: connections.count(at: .ingest),
            refused: connections.refused, subscriptions: partition.subscriptions.count,
            cutSubscribers: partition.subscriptions.cut)
        guard (connections.refused, partition.subscriptions.cut) != (toldRefusals.connections, toldRefusals.subscribers),
            toldRefusals.at == 0 || now - toldRefusals.at >= Self.refusalsTold
        else { return }
        let refused = connections.refused - toldRefusals.connections
        let cut = partition.subscriptions.cut - toldRefusals.subscribers
        toldRefusals = (connections.refused, partition.subscriptions.cut, now)
        if refused > 0 {
            logger.warning(
                "\(refused) connections were shut: \(connections.limitInWords)", metadata: ["connections": "\(refused)"])
        }
        if cut > 0 {
            logger.warning(
                "\(cut) subscribers were cut: \(SubscriptionTable.limitInWords)", metadata: ["subscribers": "\(cut)"])
        }
    }

    /// All figures, as they were at the last turn.
    package func reading() -> ServiceReading {
        // Whoever asked is resumed from here, on a thread that may have to be started.
        hold.letGo()
        return partition.reading()
    }

    /// How it stands.
    package func health() -> ServiceHealth {
        hold.letGo()
        if partition.isStopping { return .stopping }
        if partition.isDiskFull { return .diskFull }
        return partition.commitAge > Self.longestCommit ? .commitHangs : .ok
    }

    /// A service whose commit takes longer is not ready, in milliseconds: nothing is answered meanwhile but what shows nothing.
    private static let longestCommit: Milliseconds = 1_000

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

    /// Stops: no command is taken any more, what was taken is answered, the streams say goodbye, and
    /// the journal is closed. The thread may end then.
    package func stop() async {
        partition.stop()
        await withCheckedContinuation { continuation in
            stopped = continuation
            thread.wake()
        }
        stopWaitsFor.withLock { $0 = "the journal's files" }
        await partition.journal.close()
    }
}
