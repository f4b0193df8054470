import IsletCore
import IsletJournal
import IsletOracle
import IsletServer

/// One seed's life: the real partition over a simulated disk and simulated clocks, judged by the oracle after every step.
///
/// Its parts: `+Steps` (what each step of the script does), `+Turn` (one turn of the partition), `+Release` (what leaves),
/// `+Journal` (what is handed to the journal), `+Answers`, `+Streams`, `+Digests` (judging), `+Crash`, `+Clients`,
/// `+Verify`.
final class Simulation {
    let mix: Mix
    let oracle: Oracle
    let disk = SimDisk()
    var journal: SimJournal
    var partition: Partition
    var clock: MachineClock
    /// Domain time, by the clock readings that the service is given.
    var domain: OracleClock
    var ledger = Ledger()
    var expected = ExpectedEvents()
    /// The events of groups that the journal is to have next, in order.
    var expectedTellings: [GroupTelling] = []
    var tally = Tally()
    /// Of the present step, or of the run where no step has its own.
    var random: SimRandom
    /// The first thing that was not right.
    var problem: String?
    var log: ((String) -> Void)?

    // The pipeline as it is seen from outside.
    var isDiskFull = false
    /// Whether no sign of life could be heard until the present turn.
    var isUnheard = true
    /// Where domain time goes on by more milliseconds from one turn to the next it leaps, and what was sent meanwhile waits.
    static let longestStep: Int64 = 2_000
    /// The place in the oracle's order up to which a batch holds everything, by number.
    var ends: [UInt64: Int] = [0: 0]
    var closedEnd = 0
    /// Where batches end that were closed when the disk became full, and when that was.
    var heldEnds: [(end: Int, at: Int64)] = []
    /// The batch that is being committed, or was since the last turn, and since when.
    var flight: (batch: UInt64, since: Int64)?
    /// Which batches say which answers are remembered for longer.
    var notedHolds: [(batch: UInt64, hold: Oracle.Hold)] = []
    /// Which were so at the end of any turn, by their ends. The service may say of a start that nothing is remembered, and
    /// what its hold begins after then makes no difference.
    var pastHolds: [Int64: Oracle.Hold] = [:]
    /// Whether it is committed.
    var isFlightOver = false
    /// Whether a commit took long when the last turn ended.
    var wereAnswersHeld = false
    /// A commit that takes longer, in milliseconds of domain time, holds answers back.
    static let lateCommit: Int64 = 30_000
    /// A commit that takes this part of the shortest silence that means anything lets silence count anew.
    static let shareOfSilence: Int64 = 4
    /// The domain times of the turns of this run of the service.
    var turnTimes: Set<Int64> = []
    /// The domain time of the last batch.
    var lastBatchAt: Int64 = 0
    var travel: (target: Int64, message: Message, index: Int)?
    /// What the journal was told of clocks on their way, the last behind: one that a crash cut goes where it was to go when
    /// the same command comes again.
    var notedTravels: [NotedTravel] = []
    /// Dates at which it stood on its way, of which no event was judged yet.
    var stops: Set<Int64> = []
    /// What waits for the clock, or for the turns after it has arrived: messages from a command on, and what providers say
    /// of themselves, which has no message.
    var waiting: [(message: Message?, from: Int)] = []

    // Clients.
    var unanswered: [UInt32: Message] = [:]
    var nextCorrelation: UInt32 = 1
    var sentLog: [SentCommand] = []
    /// Messages that could not be delivered yet.
    var undelivered: [Message] = []
    /// What is asked of digests, by the number in the question.
    /// While everything is read and compared, nothing changes.
    var isComparing = false
    var awaitedDigests: [UInt8: AwaitedDigest] = [:]
    var digestQuestions: UInt8 = 0
    /// How often each pair of client and `req` was executed.
    var executions: [String: Int] = [:]
    var firstAnswers: [String: [UInt8]] = [:]
    var firstExpectations: [String: Expectation] = [:]
    var nextNumbers: [Int] = []
    var epoch: [UInt8]
    var incarnation: UInt64 = 0
    var subscribers: [Subscriber] = []
    var prefixReaders: [PrefixReader] = []
    let seed: UInt64

    // Controls and providers.
    let witness = ControlWitness()
    let widgetWitness: WidgetWitness
    /// Widgets whose next date is past: at which revision, and for how many turns.
    var overdue: [String: (revision: Int, count: Int)] = [:]
    var world = ProviderWorld()
    /// The answers to changes of controls, by client and `req`, with the domain time of the execution.
    var controlAnswers: [String: [(bytes: [UInt8], at: Int64)]] = [:]
    /// Since when, in real time, each control waits for a provider, by which event of its app; and for how many turns too
    /// long.
    var busy: [String: (seq: Int, since: Int64, late: Int)] = [:]
    /// When was looked last at who waits, in real time.
    var lastWaitCheck: Int64 = 0
    /// Since when nothing has happened in each app, by the last event of its that was published.
    var quiet: [String: (seq: Int, since: Int64)] = [:]
    /// The batch whose commit lets this run of the service ask providers: the one that its start made, if any.
    var asksFrom: UInt64 = 0
    var controlLog: [(sent: SentCommand, at: Int64)] = []
    /// What was known when commands about controls and widgets were executed, by who asks.
    var sights: [String: Sight] = [:]
    /// The names under which such commands were ever sent.
    var asked: Set<String> = []
    /// Reloads of many that were answered and not looked after yet.
    var promisedReloads: [PromisedReload] = []
    /// Whom events of controls and widgets name.
    var askers: Set<String> = []
    /// The kinds that were declared, by app and family, once the service has said so.
    var declared: [String: Set<String>] = [:]
    var nextDeed = 0
    /// How many commands about controls and widgets each client has made.
    var controlReqs: [Int: Int] = [:]
    let rules: RuleSet

    static let start: Int64 = 1_790_000_000_000

    init(_ script: Script) throws {
        mix = script.mix
        seed = script.seed
        rules = RuleSet(mix.rules)
        random = SimRandom(seed: script.seed ^ 0xABCD)
        clock = MachineClock(wall: Self.start)
        domain = OracleClock(isManual: mix.isManual, from: Self.start, kept: 0)
        oracle = Oracle(mix.rules, now: Self.start)
        widgetWitness = WidgetWitness(oracle)
        journal = SimJournal(disk, pace: mix.pace, random: SimRandom(seed: script.seed ^ 0x1234))
        partition = try Self.partition(
            disk, journal, mix, rules, clock, random: SimRandom(seed: script.seed ^ 0x5555))
        turnTimes.insert(domain.read(wall: clock.wall, monotonic: clock.monotonic))
        epoch = partition.epoch
        nextNumbers = Array(repeating: 1, count: mix.clients)
        for index in 0..<mix.subscribers {
            subscribers.append(Subscriber(index, app: CommandMaker.apps[index % mix.apps], losing: mix.losesEvents))
        }
        for (index, reader) in mix.prefixReaders.enumerated() {
            let app = CommandMaker.apps[reader.app]
            prefixReaders.append(
                PrefixReader(index, app: app, prefix: app + reader.prefix, losing: mix.losesEvents))
        }
        adopt()
    }

    /// A service that starts with what the disk holds.
    static func partition(
        _ disk: SimDisk, _ journal: SimJournal, _ mix: Mix, _ rules: RuleSet, _ clock: MachineClock, random: SimRandom
    ) throws -> Partition {
        let mode: ClockMode = mix.isManual ? .manual(from: Instant(start)) : .system
        let recovery = SimRecovery(disk)
        return try Partition(
            card: card(mix), rules: rules, clock: DomainClock(mode, notBefore: Instant(recovery.summary.clock)),
            journal: journal, recovering: recovery, at: clock.reading, random: random)
    }

    /// The journal tells what it is handed.
    func adopt() {
        journal.appended = { [unowned self] batch in appended(batch) }
        journal.filled = { [unowned self] chunk in
            expect(turnTimes.contains(chunk.at), "a piece of the snapshot is of \(chunk.at), which never was")
        }
        journal.swept = { [unowned self] chunk in swept(chunk) }
    }

    static func card(_ mix: Mix) -> ServiceCard {
        var configuration = ServeConfiguration()
        if mix.isManual { configuration.clock = .manual(from: Instant(start)) }
        return ServiceCard(
            configuration, endpoints: ServiceEndpoints(commands: "sim", events: "sim", bulk: "sim"),
            guarantee: .powerLoss)
    }

    /// Notes a difference; only the first counts.
    func expect(_ isRight: Bool, _ message: @autoclosure () -> String) {
        tally.checks += 1
        if !isRight, problem == nil { problem = message() }
    }

    /// Stops the run where something was wrong.
    func stopIfWrong() throws {
        if let complaint = journal.complaint { throw SimFailure("journal: \(complaint)") }
        if let problem { throw SimFailure(problem) }
    }
}

extension RuleSet {
    /// The oracle's rules for the service.
    init(_ rules: OracleRules) {
        self.init(name: "simulation", date: "2026-01-01")
        contentLimit = rules.contentLimit
        activeLimit = rules.activeLimit
        dismissalLimit = rules.dismissalLimit
        maximumPerApp = rules.maximumPerApp
        maximumPerDevice = rules.maximumPerDevice
        endedCountTowardMaxima = rules.endedCount
        futureTimestampLimit = rules.futureLimit
        pushEndAcceptsOlderTimestamp = rules.pushEndAcceptsOlder
        ignoresUnchangedUpdates = rules.ignoresUnchanged
        muteAfterPersonDismissal = rules.mute
        heartbeatStaleAfter = rules.silenceStale
        heartbeatEndAfter = rules.silenceEnds
        retention = rules.retention
        groupValueLimit = rules.groupValueLimit
        maximumGroupKeys = rules.maximumGroupKeys
        groupLimit = rules.groupLimit
        widgetDailyBudget = rules.widgets.dailyBudget
        widgetLearningBudget = rules.widgets.learningBudget
        widgetLearningSpan = rules.widgets.learningSpan
        widgetReloadSpacing = rules.widgets.reloadSpacing
        widgetEntrySpacing = rules.widgets.entrySpacing
        widgetReloadJitter = rules.widgets.jitter
        widgetRetryFirst = rules.widgets.retryFirst
        widgetRetryLongest = rules.widgets.retryLongest
        maximumTimelineEntries = rules.widgets.maximumEntries
    }
}

/// What a batch says of a clock on its way.
struct NotedTravel {
    /// The command, with its client and `req`; nil: the clock has arrived.
    var bytes: [UInt8]?
    var target: Int64
    /// The batch that says it, once it was appended.
    var batch: UInt64?
}
