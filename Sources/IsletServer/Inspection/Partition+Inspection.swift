import IsletCore
import IsletJournal
import IsletProtocol

/// Reads for who runs the service.
extension Partition {
    /// `timers.overdue` counts at most so many of each family.
    private static let maximumOverdue = 65_536
    /// `service.stats` walks so often in a turn; then it tells what was so earlier in it.
    private static let walksOfTurn = 8

    func inspect(_ operation: InspectionOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        switch operation {
        case .stats:
            let reading = reading(walkedInTurn())
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.stats(reading)
                writer.endObject()
            }
        case .timers(let list):
            let scan = TimerScan(TimerFilter(list, frame, engine), limit: list.limit, at: now.domain)
            if isThroughAtOnce({ scan.advance(self, left: &$0) }) { return answer(scan, envelope, frame) }
            return later(.timerList(scan), envelope, frame)
        case .slots(let list): return self.list(list, envelope, frame)
        case .subscribers(let list):
            let scan = SubscriberScan(app: list.app.map { frame.bytes($0) }, limit: list.limit)
            if isThroughAtOnce({ scan.advance(self, left: &$0) }) {
                return answer(scan, envelope, frame)
            }
            return later(.subscriberList(scan), envelope, frame)
        case .problems(let list):
            let scan = ProblemScan(ProblemFilter(list, frame, engine), limit: list.limit)
            if isThroughAtOnce({ scan.advance(self, left: &$0) }) { return answer(scan, envelope, frame) }
            return later(.problemList(scan), envelope, frame)
        case .find(let find):
            let scan = FindScan(FindFilter(find, frame, engine), limit: find.limit, engine)
            if isThroughAtOnce({ scan.advance(engine, left: &$0) }) { return answer(scan, envelope, frame) }
            return later(.entityFind(scan), envelope, frame)
        }
    }

    /// Figures that take walks: over the timers of one list of the wheel, which may be nearly all, over those that are
    /// overdue, the positions of subscribers and the groups.
    struct WalkedFigures {
        var overdue: Int
        var nextAt: Instant
        var subscribers: SubscriberFigures
        var groupBytes: Int
        /// The number of the command that asked for them last.
        var command: UInt64 = 0
        /// How often they were computed in this turn.
        var walks = 0
    }

    /// The walked figures, computed anew only where another command came since, and not very often in a turn.
    private func walkedInTurn() -> WalkedFigures {
        let walks = walked?.walks ?? 0
        let isKept = walked.map { statistics.commands <= $0.command + 1 } ?? false
        var figures = walked ?? walkedFigures()
        if walks > 0, !isKept, walks < Self.walksOfTurn { figures = walkedFigures() }
        figures.walks = isKept ? walks : walks + 1
        figures.command = statistics.commands
        walked = figures
        return figures
    }

    private func walkedFigures() -> WalkedFigures {
        WalkedFigures(
            overdue: engine.overdueTimers(at: now.domain, limit: Self.maximumOverdue),
            nextAt: engine.earliestDeadline(), subscribers: subscriberFigures(),
            groupBytes: engine.groups.all.reduce(0) { $0 + $1.bytes })
    }

    /// All figures, now.
    package func reading() -> ServiceReading { reading(walkedFigures()) }

    private func reading(_ walked: WalkedFigures) -> ServiceReading {
        let monotonic = now.monotonic
        return ServiceReading(
            now: now.domain, clockAhead: clock.ahead,
            uptime: monotonic - statistics.startedAt, guarantee: card.guarantee.rawValue,
            commands: (
                taken: statistics.commands, applied: statistics.applied, ignored: statistics.ignored,
                refused: statistics.refused
            ),
            events: statistics.events, joins: statistics.joins, apps: engine.apps.apps.count,
            devices: engine.devices.count, activities: engine.countByState, controls: engine.controls.countByState,
            widgets: engine.widgets.countByState, entities: engine.entityCount,
            groups: (groups: engine.groups.groupCount, keys: engine.groups.count, bytes: walked.groupBytes),
            timers: (armed: engine.armedTimers, overdue: walked.overdue, nextAt: walked.nextAt),
            lateness: statistics.lateness.reading(at: monotonic), answers: statistics.answers.reading(at: monotonic),
            commits: statistics.commits.reading(at: monotonic),
            providers: ServiceReading.Providers(
                connected: providers.providerCount, waiting: providers.waitingCalls + heldCalls,
                held: providers.patientCalls + heldCalls, inFlight: providers.callsInFlight,
                dropped: statistics.droppedProviders, totals: providers.totals, spans: providers.spans(at: monotonic)),
            subscribers: walked.subscribers, cutClients: statistics.cutClients,
            connections: statistics.connections, waiting: ledger.figures,
            journal: isDurable ? journalReading() : nil, isDiskFull: flights.isDiskFull, commitAge: commitAge,
            isStopping: isStopping, residentBytes: residentBytes())
    }

    func journalReading() -> JournalReading {
        JournalReading(
            epoch: epoch, committed: flights.committedThrough, snapshot: sweeping.holdsThrough,
            lastCommit: statistics.lastCommit, commits: statistics.commits.reading(at: now.monotonic).all,
            free: flights.isDiskFull ? flights.freeBytes : nil,
            isSegmentDelayed: statistics.isSegmentDelayed)
    }

    // MARK: Timers

    func answer(_ scan: TimerScan, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        answer { writer in scan.write(to: &writer, envelope, frame, self) }
    }

    // MARK: Problems

    func answer(_ scan: ProblemScan, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        answer { writer in scan.write(to: &writer, envelope, frame, self) }
    }

    // MARK: Names

    func answer(_ scan: FindScan, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        answerFromEngine { writer, engine in scan.write(to: &writer, envelope, frame, of: engine) }
    }

    // MARK: Slots

    private func list(_ list: SlotList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let start = list.cursor.map({ cursors.slot(of: frame.text($0)) }) ?? 0 else {
            return refuse(envelope, frame, .badField(.cursor, .badCursor))
        }
        let scan = ListScan(filter: SlotFilter(list, frame, engine), firstRow: start, limit: list.limit, cursors: cursors)
        if isThroughAtOnce({ scan.advance(engine, left: &$0) }) { return answer(scan, envelope, frame) }
        return later(.slotList(scan), envelope, frame)
    }

    func answer(_ scan: ListScan<SlotFilter>, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let rules = engine.rules
        return answer { writer in
            scan.write(to: &writer, envelope, frame) { writer in
                writer.field("maximumPerApp", rules.maximumPerApp)
                writer.field("maximumPerDevice", rules.maximumPerDevice)
            }
        }
    }

    // MARK: Subscribers

    func answer(_ scan: SubscriberScan, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        answerFromEngine { writer, engine in
            scan.write(to: &writer, envelope, frame, subscribers, at: now.monotonic, of: engine)
        }
    }

    /// Those who follow events and report nothing, the one that came first first.
    var silentFollowers: [SilentFollower] {
        subscriptions.silent(at: now.monotonic) { subscribers.reports[$0] != nil }
    }

    private func subscriberFigures() -> SubscriberFigures {
        var figures = subscribers.figures(of: engine, at: now.monotonic)
        figures.silent = subscriptions.silentCount(at: now.monotonic) { subscribers.reports[$0] != nil }
        return figures
    }
}
