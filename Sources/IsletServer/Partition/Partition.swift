package import IsletCore
package import IsletJournal
import IsletProtocol

/// One partition of the service without its sockets: the engine, and the pipeline from a message to what leaves.
///
/// A turn: ``beginTurn(_:)`` reads the clocks and lets take effect what is due → messages are taken, decoded, applied and
/// encoded → ``endTurn()`` goes on with long reads and hands the turn's batch to the journal. Answers, events and reads
/// leave only when the batch that they belong to is committed: the owner takes them from ``nextReleased()``.
///
/// Its owner, the bus thread's actor or a simulator, gives it messages, clock readings and the journal's notices; it
/// reads no clock, opens no socket and starts no thread. A class, because it owns what cannot be copied and its owner
/// lends parts of it; it belongs to one owner and is not sendable.
///
/// Its parts: `+Take` (messages in), `+Execute` (one command), `+Reads`, `+Jobs` (reads over many turns), `+Clock` (the
/// manual clock), `+Stream` (joins and watermarks), `+Bulk` (snapshots and replays), `+Commit` (the way out), `+Notes`, `+Sweep` and
/// `+Recovery` (what the journal keeps beside events, and the way back).
package final class Partition {
    /// How many deadlines a turn lets take effect, so that commands get theirs.
    static let deadlinesPerTurn = 1_024
    /// How many at a time, before it is asked again whether the batch has room for more.
    private static let deadlinesPerStep = 16
    /// By how many milliseconds of real time domain time may go on from one turn to the next. Its owner lets a turn begin at
    /// least each ``longestWait``, so where it went on by more, it leapt: the wall clock was set forward, the process or
    /// the machine stood still, or a turn took as long. What publishers sent meanwhile waits in the sockets.
    package static let longestStep: Milliseconds = 2_000

    // What each message needs is not checked for exclusive access while it runs (`@exclusivity(unchecked)`): a turn is
    // synchronous on its owner's thread, no closure of it escapes, and nothing that it calls knows the partition, so that
    // a change never meets another access. `inbound` is lent while its commands are executed, and only read meanwhile: its
    // owner changes it between messages alone. The checks were 13 % of the bus thread's instructions, and 7 % of its time.

    /// What the service is, as `service.info` tells it.
    package var card: ServiceCard
    @exclusivity(unchecked) var engine: Engine
    @exclusivity(unchecked) package internal(set) var clock: DomainClock
    @exclusivity(unchecked) package internal(set) var now: TurnTime
    /// ``longestStep`` in domain time. A manual clock never leaps: it goes where it is sent.
    let longestDomainStep: Milliseconds
    /// The epoch of all streams.
    package let epoch: [UInt8]

    // Messages in.
    @exclusivity(unchecked) package var inbound = InboundMessages()
    @exclusivity(unchecked) var lookahead = Lookahead()
    @exclusivity(unchecked) var decoder = CommandDecoder()
    /// The present command: decoded into here, and read from here.
    @exclusivity(unchecked) var command = Command(operation: .servicePing)
    @exclusivity(unchecked) var results: [FrameResult] = []
    /// In order of arrival.
    @exclusivity(unchecked) var waiting: [WaitingMessage] = []
    /// Messages that go on in later turns, by their peers, whose turns come round.
    @exclusivity(unchecked) var resting: [RestingMessages] = []
    /// Who comes first in this turn.
    @exclusivity(unchecked) var order = TurnOrder()
    /// What is left of a bulk message that went beyond its turn: no other is taken before it is through.
    @exclusivity(unchecked) var bulkRest: WaitingMessage?
    /// How much of this turn the bulk socket has had.
    @exclusivity(unchecked) var bulkShare = BulkShare()
    /// Whether actions ended in this turn that an earlier run had asked for.
    @exclusivity(unchecked) var hasActedBeforeStart = false
    /// How long this turn executes commands.
    @exclusivity(unchecked) package var budget = TurnBudget()
    /// The message whose commands are executed, where it waited; nil for the message in `inbound`.
    @exclusivity(unchecked) var waited: WaitedMessage?
    /// Where fresh ids come from.
    var random: any RandomNumberGenerator

    // Messages out.
    @exclusivity(unchecked) var outbound = OutboundMessages()
    /// Where the answers to the present message begin in `outbound`.
    @exclusivity(unchecked) var messageStart = 0
    package private(set) var journal: any Journal = MemoryJournal()
    @exclusivity(unchecked) var batch: JournalBatch
    @exclusivity(unchecked) var eventWriter = JSONWriter(capacity: 1 << 14)
    @exclusivity(unchecked) var image = ImageWriter()
    /// Whether the journal outlives the process.
    let isDurable: Bool
    var sweeping = SnapshotSweep()
    /// What the start brought back.
    package internal(set) var recovery = RecoveryReport()
    var recoveringBatch: UInt64 = 0
    var recoveringBytes: [UInt8] = []
    /// The notes about activities of that batch. Its events come behind them, and may make the revision that they are of.
    var recoveringSigns: [(id: EntityID, image: ActivityImage)] = []
    /// Where what cannot be taken back is noted, and the rest goes on; nil: it is refused.
    private(set) var salvage: RecoverySalvage?
    /// The notes about held reloads of that batch; as above.
    var recoveringHolds: [HeldReload] = []
    /// The groups that notes of the batch have removed, by their names.
    var recoveringRemovals: [[UInt8]] = []
    @exclusivity(unchecked) var flights = Flights()
    var heldAnswers = HeldAnswers()

    // Streams and reads.
    @exclusivity(unchecked) var ring = ReplayRing()
    var joins = JoinQueue()
    /// How many activities this turn has put into the order of presentation.
    var presented = 0
    /// How many slots lists have looked at in this turn that are answered in it.
    var slotsLookedAt: Slot = 0
    /// What `service.stats` has walked for in this turn.
    var walked: WalkedFigures?
    @exclusivity(unchecked) var watermarks = WatermarkSchedule()
    @exclusivity(unchecked) var retries = RetryWindow()
    /// What waits or is remembered for each peer.
    var ledger = WorkLedger()
    var jobs: [Job] = []
    let cursors: ListCursors
    @exclusivity(unchecked) var clockTravel: ClockTravel?
    /// The last travel with a (`client`, `req`) that has not arrived, be it under way or cut by the end of a process.
    var unfinishedTravel: UnfinishedTravel?
    var lease: ClockLease?
    /// How often the manual clock has arrived.
    package internal(set) var arrivals = 0
    /// How many commands wait for it, or for the turns after it has arrived.
    package var waitingCommands: Int { waiting.reduce(0) { $0 + $1.frames.count } }
    var pulls: [BulkPull] = []
    var nextDigest = 0
    var storedReaders: [UInt64: StoredReader] = [:]
    var nextRead: UInt64 = 0
    // Providers and what they are asked for.
    @exclusivity(unchecked) var providers: ProviderTable
    var effects: [ProviderTable.Effect] = []
    /// Calls whose ends take effect.
    var ends: [ProviderTable.Effect] = []
    var callWriter = JSONWriter(capacity: 1 << 12)
    /// The calls that are out, by the control that waits for each.
    var openCalls: [SlotRef: OpenCall] = [:]
    /// The same of widgets.
    var openWidgetCalls: [SlotRef: OpenCall] = [:]
    /// What controls and widgets want of providers, of events that are committed.
    var wantedCalls = WantedCalls()
    /// What is wanted of controls and waits for room among the calls of its kind.
    var heldReads = HeldReads()
    /// The same of widgets.
    var heldWidgetReads = HeldReads()
    /// Whether a widget's read is asked for next where a control's could be as well.
    var widgetReadsGoFirst = false
    /// How many wait for the commit of their events, or with ``callsOfStart``.
    var callsOnTheWay = 0
    /// Whether deadlines are overdue since before the start, and each takes effect at its own date. Until they are through
    /// nothing is asked for, as the answers would be dated before what precedes them, and a clock does not travel.
    private(set) var isCatchingUp = false
    /// What is asked for then.
    var callsOfStart = WantedCalls()
    /// What providers were asked for that no control or widget waits for, by number.
    var questions: [UInt64: ProviderQuestion] = [:]
    var nextQuestion: UInt64 = 0
    /// The question for the relevance of a kind that is out, by kind.
    var relevanceQuestions: [DeclaredKindID: RelevanceQuestion] = [:]
    /// The kinds whose relevance could not be had, and is asked for again.
    var relevanceRetries = RelevanceRetries()
    /// The backup that is being made.
    var backup: RunningBackup?
    var subscribers = SubscriberTable()
    /// Who is subscribed to what, which the host tells.
    package var subscriptions = SubscriptionTable()
    @exclusivity(unchecked) package internal(set) var statistics: Statistics
    /// Whether the last answer that was written says `ok:true`.
    @exclusivity(unchecked) var wasAccepted = false
    /// Whether a command of the present message was a change.
    @exclusivity(unchecked) var hasChange = false
    /// Where is told what happens.
    @exclusivity(unchecked) package var log = PartitionLog.silent
    /// What the present command is called in the log, where events are told.
    var presentID: String?
    /// How many bytes of memory the process has; nil where nobody knows.
    package var residentBytes: () -> Int? = { nil }
    /// Whether the `ttl` of the present command was over before its turn came.
    @exclusivity(unchecked) var isExpired = false
    /// Which answers are remembered for longer, as the journal has it.
    var notedHold = RetryHold()
    /// Whether answers waited long for their commit when the last turn ended.
    var wereAnswersHeld = false
    @exclusivity(unchecked) package private(set) var isStopping = false
    private var hasSaidGoodbye = false
    /// Whether no sign of life could be heard until this turn: none of this run has begun, or the disk was full.
    var isUnheard = true
    /// Whether a stop gave up what was done and is not committed.
    var hasGivenUp = false
    /// When the stop began, in monotonic milliseconds.
    private var stopBegan: Milliseconds = 0
    /// A stop waits for so many milliseconds until the snapshot is complete, and until the journal can write at all;
    /// nil: however long. What the snapshot lacks then, a start reads in the journal; what is not written nobody was told
    /// of.
    package var patienceAtStop: Milliseconds? = 5_000

    /// - Parameters:
    ///   - reading: of the clocks, now.
    ///   - journal: asked for when recovery is through.
    ///   - clock: does not begin before what the journal says.
    ///   - source: what a durable journal left behind; nil for one that keeps nothing.
    ///   - salvage: where what cannot be taken back is noted, and the rest goes on; nil: it is refused.
    ///   - random: fresh ids, and the epoch where there is no journal to name it, are drawn from it.
    /// - Throws: `RecoveryError`, or what the source throws.
    package init(
        card: ServiceCard, rules: RuleSet, clock: DomainClock, journal: @autoclosure () throws -> any Journal,
        recovering source: (any RecoverySource)?, salvage: RecoverySalvage? = nil, at reading: ClockReading,
        random: any RandomNumberGenerator
    ) throws {
        self.card = card
        self.clock = clock
        longestDomainStep = clock.isManual ? .max : ClockLease.domainSpan(of: Self.longestStep, at: clock.factor)
        self.random = random
        now = self.clock.turn(at: reading)
        let domain = now.domain
        statistics = Statistics(startedAt: now.monotonic)
        engine = Engine(rules: rules, start: domain)
        // Far from the largest number, so that none of a run passes it.
        let base = self.random.next() >> 2
        providers = ProviderTable(base: base, at: now.monotonic)
        // Both tell processes apart, and nothing else follows from them.
        cursors = ListCursors(run: UInt32(truncatingIfNeeded: base))
        isDurable = source != nil
        ring = ReplayRing(limits: isDurable ? .besideJournal : .standard)
        let fresh = EntityID(version7At: domain, random: (self.random.next(), self.random.next()))
        epoch = Array((source?.summary.epoch ?? fresh.description).utf8)
        batch = JournalBatch(number: 1)
        engine.isJournalled = isDurable
        retries.recordsTraces = isDurable
        self.salvage = salvage
        if let source { try recover(from: source) }
        self.journal = try journal()
        let ended = source.flatMap { $0.summary.isNew ? nil : Instant($0.summary.clock) }
        switch dating {
        case .whenDue: isCatchingUp = ended != nil
        case .whenNoticed: break
        }
        restartControls(after: ended)
    }

    /// A turn begins: what is due takes effect. True where more is due.
    package func beginTurn(_ reading: ClockReading) -> Bool {
        let before = now.domain
        now = clock.turn(at: reading)
        // A clock that is behind goes the rest of its leap in turns that follow.
        let leap = now.domain - before + clock.behind
        let hasLeapt = leap > longestDomainStep
        if hasLeapt { keepAnswers(overLeapOf: leap, since: before) }
        countSilence(leaptSince: hasLeapt ? before : nil)
        presented = 0
        engine.beginTurn()
        budget.begin(at: now.monotonicNanoseconds)
        slotsLookedAt = 0
        walked = nil
        continueBulk()
        if executesWaiting { continueWaiting() }
        if order.first == .resting { continueResting() }
        guard !isStopping, hasRoom else { return false }
        renewLease()
        guard !flights.isDiskFull else { return false }
        if clockTravel != nil, !isCatchingUp { return continueTravel() }
        let isLate = fireDue()
        if isCatchingUp, !isLate {
            isCatchingUp = false
            wantCalls(callsOfStart)
            callsOfStart.removeAll()
        }
        return isLate && hasRoomForDeadlines
    }

    /// Lets some of what is due take effect; true where more is due.
    private func fireDue() -> Bool {
        let end = budget.deadlineEnd
        defer { budget.resume(deadlinesUntil: end) }
        for _ in 0..<Self.deadlinesPerTurn / Self.deadlinesPerStep {
            guard hasRoomForDeadlines, !budget.isOver(end) else { return true }
            let isLate = engine.fireDue(at: now.domain, dating: dating, limit: Self.deadlinesPerStep)
            encodeEvents(Span(), nil)
            guard isLate else { return false }
        }
        return true
    }

    /// The messages of the turn were taken: reads go on, and what happened is handed to the journal. True where more is
    /// left to do at once.
    package func endTurn() -> Bool {
        guard !isStopping else {
            sayGoodbye()
            return false
        }
        // Behind those that came in this turn, which are not kept waiting by them; before the next ones only where these did
        // all that a turn may.
        continueResting()
        order.end()
        continueInterrupted()
        var isBusy = clockTravel != nil && hasRoom && !hasOpenCalls
        if !flights.isDiskFull {
            if continueJobs() { isBusy = true }
            if continuePulls() { isBusy = true }
        }
        keepHeldAnswers()
        // Also without room: what is forgotten leaves the disk.
        if retries.forgetExpired(at: now.domain) { isBusy = true }
        commit()
        continueSweep()
        tellTime()
        // Joins for which this turn had no room; those that wait for a commit are gone on with once it is there.
        return isBusy || isWornOut || executesWaiting || executesResting || executesBulkRest || joinWait() == 0
    }

    /// Stops: no command is taken any more, what was taken is answered, the streams say goodbye. Turns go on until
    /// ``isDone``.
    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        stopBegan = now.monotonic
        providers.stop(at: now.monotonic)
        refuseWaiting()
        endPulls(.stopping)
    }

    /// Whether nothing is left to do before the end.
    package var isDone: Bool {
        isStopping && hasSaidGoodbye
    }

    /// What a stop waits for at present.
    package var stopWaitsFor: String {
        if !flights.areLanded { return "a commit" }
        return isSwept ? "nothing any more" : "the snapshot"
    }

    private func sayGoodbye() {
        // The journal is being closed: it takes no piece of the snapshot any more.
        guard !hasSaidGoodbye else { return }
        // A batch that is closed now is dated now, and the snapshot that would tell it, too, may not be waited for.
        keepHeldAnswers()
        commit()
        continueSweep()
        let isOverdue = patienceAtStop.map { now.monotonic - stopBegan >= $0 } ?? false
        if flights.isDiskFull {
            // Nobody was told that it happened, and it is not going to.
            refuseHeld()
        } else if isOverdue, isCommitOverdue {
            refuseUncommitted()
        } else {
            guard flights.areLanded, batch.isEmpty, isSwept || isOverdue else { return }
        }
        hasSaidGoodbye = true
        // What is said of the streams is what is committed of them, and nothing is said behind the goodbye.
        writeStreamMessages()
        publishGoodbye()
        leaveNow()
    }

    /// Whether the batch in the air has been there for longer than a stop waits: another process keeps the journal from
    /// writing, or the disk is as slow. A journal that is only busy commits one batch after another.
    private var isCommitOverdue: Bool {
        guard let patienceAtStop, let flown = flights.flightTime(at: now.monotonic) else { return false }
        return flown >= patienceAtStop
    }

    var dating: Engine.Dating { clock.isManual ? .whenDue : .whenNoticed }

    /// How many milliseconds the owner may wait for messages: until the next deadline, watermark, or time-out of real
    /// time.
    package func pollTimeout() -> Int {
        var wait = Self.longestWait
        if isStopping { return wait }
        if hasRoomForDeadlines, !flights.isDiskFull, let deadline = clock.pollTimeout(until: engine.nextWork()) {
            wait = min(wait, deadline)
        }
        if let growth = nextGrowth { wait = min(wait, growth) }
        if flights.areLanded || flights.isDiskFull, let due = watermarks.nextDue() { wait = min(wait, Int(max(0, due - now.monotonic))) }
        if let sweep = nextSweep() { wait = min(wait, Int(max(0, sweep - now.monotonic))) }
        if !jobs.isEmpty || !pulls.isEmpty { wait = min(wait, Self.timeoutCheck) }
        if let join = joinWait() { wait = min(wait, join) }
        if let call = providers.nextWork() { wait = min(wait, Int(max(0, call - now.monotonic))) }
        if let retry = relevanceRetries.next.flatMap({ clock.pollTimeout(until: $0) }) { wait = min(wait, retry) }
        return wait
    }

    /// When the next join may be answered, in milliseconds from now; nil where none can be before something is committed.
    private func joinWait() -> Int? {
        guard flights.areLanded || flights.isDiskFull, let ready = joins.nextReady() else { return nil }
        return Int(max(0, ready - now.monotonic))
    }

    /// The longest wait in milliseconds; less than ``longestStep``.
    private static let longestWait = 1_000
    /// How often the time-outs of waiting reads and pulls are looked at, in milliseconds.
    private static let timeoutCheck = 50
}
