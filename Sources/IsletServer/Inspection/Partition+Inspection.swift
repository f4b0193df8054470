import IsletCore
import IsletJournal
import IsletProtocol

/// Reads for who runs the service.
extension Partition {
    /// `timers.overdue` counts at most so many of each family.
    private static let maximumOverdue = 65_536

    func inspect(_ operation: InspectionOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        switch operation {
        case .stats:
            let reading = reading()
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.stats(reading)
                writer.endObject()
            }
        case .timers(let list):
            let scan = TimerScan(TimerFilter(list, frame, engine), limit: list.limit, at: now.domain)
            if scan.advance(engine, slots: ListBounds.slotsAtOnce) { return answer(scan, envelope, frame) }
            return later(.timerList(scan), envelope, frame)
        case .slots(let list): return self.list(list, envelope, frame)
        case .subscribers(let list):
            let scan = SubscriberScan(subscribers, app: list.app.map { frame.bytes($0) }, limit: list.limit)
            if scan.advance(subscribers, engine) { return answer(scan, envelope, frame) }
            return later(.subscriberList(scan), envelope, frame)
        }
    }

    /// All figures, now. Takes time for the timers of one list of the wheel, for those that are overdue, and for the
    /// positions of subscribers, each within a bound.
    package func reading() -> ServiceReading {
        let monotonic = now.monotonic
        let bytes = engine.groups.all.reduce(0) { $0 + $1.bytes }
        return ServiceReading(
            now: now.domain, uptime: monotonic - statistics.startedAt, guarantee: card.guarantee.rawValue,
            commands: (
                taken: statistics.commands, applied: statistics.applied, ignored: statistics.ignored,
                refused: statistics.refused
            ),
            events: statistics.events, joins: statistics.joins, apps: engine.apps.apps.count,
            devices: engine.devices.count, activities: engine.countByState, controls: engine.controls.countByState,
            widgets: engine.widgets.countByState,
            groups: (groups: engine.groups.all.count, keys: engine.groups.count, bytes: bytes),
            timers: (
                armed: engine.armedTimers,
                overdue: engine.overdueTimers(at: now.domain, limit: Self.maximumOverdue),
                nextAt: engine.earliestDeadline()
            ),
            lateness: statistics.lateness.reading(at: monotonic), answers: statistics.answers.reading(at: monotonic),
            commits: statistics.commits.reading(at: monotonic),
            providers: ServiceReading.Providers(
                connected: providers.providerCount, waiting: providers.waitingCalls,
                inFlight: providers.callsInFlight, dropped: statistics.droppedProviders, totals: providers.totals,
                spans: providers.spans(at: monotonic)),
            subscribers: subscribers.figures(of: engine), cutClients: statistics.cutClients,
            connections: statistics.connections, waiting: ledger.figures,
            journal: isDurable ? journalReading() : nil, isDiskFull: flights.isDiskFull, isStopping: isStopping,
            residentBytes: residentBytes())
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
        answerFromEngine { writer, engine in scan.write(to: &writer, envelope, frame, of: engine) }
    }

    // MARK: Slots

    private func list(_ list: SlotList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let start = list.cursor.map({ cursors.slot(of: frame.text($0)) }) ?? 0 else {
            return refuse(envelope, frame, .badField(.cursor, .badCursor))
        }
        let scan = ListScan(filter: SlotFilter(list, frame, engine), firstRow: start, limit: list.limit, cursors: cursors)
        if scan.advance(engine, slots: ListBounds.slotsAtOnce) { return answer(scan, envelope, frame) }
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
}
