import IsletCore
package import IsletJournal
import IsletProtocol
package import ZeroMQ

/// The actor that owns the engine of one partition, its sockets and its pipeline, and lives on the bus thread.
///
/// A turn: read the clocks → what is due takes effect → take messages, decode, apply, encode → commit what happened →
/// answer and publish what is committed. A message is handled synchronously on this thread: no hop, no `await`. Nothing
/// is answered or published before the journal says that it is committed, reads included.
///
/// Its parts: `+Receive` (messages in), `+Execute` (one command), `+Reads`, `+Jobs` (reads over many turns), `+Clock`
/// (the manual clock), `+Stream` (joins and watermarks), `+Bulk` (snapshots and replays), `+Commit` (messages out).
package actor EngineHost: BusLoop {
    /// How many deadlines a turn lets take effect, so that commands get theirs.
    static let deadlinesPerTurn = 1_024

    package nonisolated let thread: BusThread
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    /// What the service is, as `service.info` tells it; with the endpoints that were bound.
    package nonisolated let card: ServiceCard

    package var poller = Poller()
    var sockets: ServiceSockets
    var engine: Engine
    var time: TimeSource
    var now: TurnTime
    /// The epoch of all streams: with `store=memory` a new one at each start.
    let epoch: [UInt8]

    // Messages in.
    var inbound = InboundMessage()
    var received = Message()
    var decoder = CommandDecoder()
    var results: [FrameResult] = []
    /// In order of arrival.
    var waiting: [WaitingMessage] = []
    var random = SystemRandomNumberGenerator()

    // Messages out.
    var outbound = OutboundMessages()
    /// Where the answers to the present message begin in `outbound`.
    var messageStart = 0
    var outbox = PeerOutbox<Peer>()
    let journal: any Journal
    var batch = JournalBatch(number: 1)
    var eventWriter = JSONWriter(capacity: 1 << 14)

    // Streams and reads.
    var ring: ReplayRing
    var watermarks = WatermarkSchedule()
    var retries = RetryWindow()
    var jobs: [Job] = []
    var clockTravel: ClockTravel?
    var pulls: [BulkPull] = []
    var nextDigest = 0
    var subscribers = SubscriberTable()
    var statistics: Statistics
    /// Whether the last answer that was written says `ok:true`.
    var wasAccepted = false

    private var isStopping = false

    /// Binds the sockets; called on the thread (see `BusThread.host`).
    package init(
        on thread: BusThread, context: ZeroMQContext, _ configuration: ServeConfiguration, journal: any Journal
    ) throws(StartError) {
        self.thread = thread
        self.journal = journal
        sockets = try ServiceSockets(configuration, in: context)
        var time = TimeSource(DomainClock(configuration.clock))
        now = time.read()
        self.time = time
        statistics = Statistics(startedAt: now.monotonic)
        engine = Engine(rules: configuration.rules, start: now.domain)
        epoch = Array(EntityID(version7At: now.domain, random: (random.next(), random.next())).description.utf8)
        ring = ReplayRing()
        card = ServiceCard(configuration, endpoints: sockets.endpoints, guarantee: journal.guarantee)
        sockets.register(in: &poller)
    }

    package func turn() -> NextTurn {
        now = time.read()
        if isStopping { return .within(milliseconds: Self.longestWait) }
        var isBusy = travelOrFire()
        if receiveCommands() { isBusy = true }
        if receiveIngest() { isBusy = true }
        if receiveSubscriptions() { isBusy = true }
        if receiveBulk() { isBusy = true }
        if continueJobs() { isBusy = true }
        if continuePulls() { isBusy = true }
        publishWatermarks()
        retries.forgetExpired(at: now.domain)
        commit()
        flushOutbox()
        return isBusy || clockTravel != nil ? .immediately : .within(milliseconds: pollTimeout())
    }

    package func finish() {
        sockets.close()
    }

    /// Stops: no command is taken any more, what was taken is answered, the streams say goodbye. The thread may end then.
    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        refuseWaiting()
        publishGoodbye()
        commit()
        flushOutbox()
    }

    /// The deadlines of this turn; true where more are due.
    private func travelOrFire() -> Bool {
        if clockTravel != nil { return continueTravel() }
        let isLate = engine.fireDue(at: now.domain, dating: dating, limit: Self.deadlinesPerTurn)
        encodeEvents(Span(), nil)
        return isLate
    }

    var dating: Engine.Dating { time.clock.isManual ? .whenDue : .whenNoticed }

    /// How long the thread may wait: until the next deadline, watermark, or time-out of real time.
    private func pollTimeout() -> Int {
        var wait = Self.longestWait
        if let deadline = time.clock.pollTimeout(until: engine.nextWork()) { wait = min(wait, deadline) }
        if let due = watermarks.nextDue() { wait = min(wait, Int(max(0, due - now.monotonic))) }
        if let attempt = outbox.nextAttempt() { wait = min(wait, Int(max(0, attempt - now.monotonic))) }
        if !jobs.isEmpty || !pulls.isEmpty { wait = min(wait, Self.timeoutCheck) }
        return wait
    }

    /// The longest wait in milliseconds.
    private static let longestWait = 1_000
    /// How often the time-outs of waiting reads and pulls are looked at, in milliseconds.
    private static let timeoutCheck = 50
}
