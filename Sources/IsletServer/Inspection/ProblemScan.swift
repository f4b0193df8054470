import IsletCore
import IsletProtocol

/// `problem.list` on its way through everything that may have a problem, in bounded turns.
///
/// It counts all of them, by severity, and keeps the worst; of those that are equally bad the ones that are about more
/// than one entity, so that no crowd of entities hides them, and then those that have lasted longest. Of an entity it
/// tells the worst alone, and of a kind that nobody serves one for all that is placed. Over several turns problems may
/// come and go under it; then what it says is said to be inexact, and rows of entities that hold no longer are left out.
/// While the disk is full it says so, whatever it was asked for, and looks at nothing that a journal must hold first,
/// which is inexact as well.
final class ProblemScan {
    /// To look at a kind, a group or a provider, or at a position of a subscriber, takes as long as to look at so many
    /// slots.
    private static let slotsPerLook: Slot = 16
    /// A deadline is overdue when it has passed for so long, in milliseconds of real time…
    private static let overdue: Milliseconds = 1_000
    /// …and long overdue here.
    private static let longOverdue: Milliseconds = 10_000
    /// A commit hangs when it takes longer, in milliseconds.
    private static let longestCommit: Milliseconds = 1_000
    /// Domain time is ahead when it is by more, in milliseconds, and far ahead when by more than the other.
    private static let ahead: (Milliseconds, Milliseconds) = (1_000, 10_000)
    /// A provider is silent when nothing was heard of it for so many pings.
    private static let silentPings: Milliseconds = 2

    /// Whose problem it is.
    private enum Subject {
        case entity(EntityPlace)
        case kind(ServedKind)
        case group(GroupID)
        case provider(EntityID)
        case subscriber([UInt8])
        case journal, clock
    }

    private struct Row {
        var problem: Problem
        var subject: Subject
        var since: Instant?
        var until: Instant?
        var failure = CallFailure.none
        var count: Int?
        var state: StaticString?
        var app: AppID?
        /// How many were found before it.
        var number = 0

        private var isOfEntity: Bool {
            if case .entity = subject { true } else { false }
        }

        func isBefore(_ other: Row) -> Bool {
            let (one, two) = (problem.severity, other.problem.severity)
            if one != two { return one < two }
            if isOfEntity != other.isOfEntity { return other.isOfEntity }
            let (mine, others) = (since ?? .never, other.since ?? .never)
            return mine == others ? number < other.number : mine < others
        }
    }

    /// Where problems are looked for, in this order.
    private enum Part: CaseIterable {
        case service, controlKinds, widgetKinds, groups, providers, subscribers, activities, controls, widgets
    }

    private let filter: ProblemFilter?
    private let limit: Int
    private var parts: [Part]
    /// The next place in the part that is looked at.
    private var next: Slot = 0
    /// The subscribers and providers as they were when their part began.
    private var nonces: [[UInt8]] = []
    private var providers: [ProviderRef] = []
    private var turns = 0
    /// Whether it has left out what it was asked for.
    private var isCut = false
    /// Whether it has said that the disk is full.
    private var saysFull = false
    /// The worst that were found; more than `limit` of them until they are sorted out.
    private var rows: [Row] = []
    /// One that comes behind this is none of them.
    private var last: Row?
    private var counts = [Int](repeating: 0, count: Problem.allCases.count)
    private var total: Int { counts.reduce(0, +) }

    /// - Parameter filter: nil where nothing matches.
    init(_ filter: ProblemFilter?, limit: Int) {
        self.filter = filter
        self.limit = limit
        parts = filter == nil ? [] : Part.allCases
    }

    /// Looks at some more; true when it is through.
    func advance(_ partition: Partition) -> Bool {
        var left = ListBounds.slotsPerTurn
        return advance(partition, left: &left)
    }

    /// - Parameter left: how many slots' time it may take; what is left of it afterwards.
    func advance(_ partition: Partition, left: inout Slot) -> Bool {
        if partition.flights.isDiskFull, !saysFull {
            saysFull = true
            take(Row(problem: .diskFull, subject: .journal))
        }
        guard let filter else { return true }
        turns += 1
        while let part = parts.first {
            if next == 0 { begin(part, partition) }
            var count: Slot = 0
            if isWanted(part, filter) {
                if partition.flights.isDiskFull, Self.needsJournal(part) {
                    isCut = true
                } else {
                    count = self.count(of: part, partition)
                }
            }
            while next < count {
                guard left > 0 else {
                    // Nothing that takes several turns goes on while the disk is full: it says what it has seen.
                    guard partition.flights.isDiskFull else { return false }
                    isCut = true
                    return true
                }
                look(part, Int(next), filter, partition, left: &left)
                next += 1
            }
            parts.removeFirst()
            next = 0
        }
        return true
    }

    private func isWanted(_ part: Part, _ filter: ProblemFilter) -> Bool {
        switch part {
        // Neither journal nor clock is of an app.
        case .service: filter.app == nil
        case .controlKinds, .widgetKinds: filter.wants(.kind)
        case .groups: filter.wants(.group)
        case .providers: filter.wants(.provider)
        case .subscribers: filter.wants(.subscriber)
        case .activities: filter.wants(.activity)
        case .controls: filter.wants(.control)
        case .widgets: filter.wants(.widget)
        }
    }

    /// Whether a part shows what changes have made, and a full disk may yet lose.
    private static func needsJournal(_ part: Part) -> Bool {
        switch part {
        case .service, .providers, .subscribers: false
        case .controlKinds, .widgetKinds, .groups, .activities, .controls, .widgets: true
        }
    }

    private func begin(_ part: Part, _ partition: Partition) {
        switch part {
        case .providers: providers = partition.providers.allProviders()
        case .subscribers: nonces = Array(partition.subscribers.reports.keys)
        case .service, .controlKinds, .widgetKinds, .groups, .activities, .controls, .widgets: break
        }
    }

    private func count(of part: Part, _ partition: Partition) -> Slot {
        switch part {
        case .service: 1
        case .controlKinds: Slot(partition.engine.controls.kinds.records.count)
        case .widgetKinds: Slot(partition.engine.widgets.kinds.records.count)
        case .groups: Slot(partition.engine.groups.all.count)
        case .providers: Slot(providers.count)
        case .subscribers: Slot(nonces.count)
        case .activities: partition.engine.slotCount(of: .activity)
        case .controls: partition.engine.slotCount(of: .control)
        case .widgets: partition.engine.slotCount(of: .widget)
        }
    }

    private func look(
        _ part: Part, _ index: Int, _ filter: ProblemFilter, _ partition: Partition, left: inout Slot
    ) {
        var looks: Slot = 1
        switch part {
        case .activities: lookAtEntity(EntityPlace(.activity, Slot(index)), filter, partition)
        case .controls: lookAtEntity(EntityPlace(.control, Slot(index)), filter, partition)
        case .widgets: lookAtEntity(EntityPlace(.widget, Slot(index)), filter, partition)
        case .service: lookAtService(filter, partition)
        case .controlKinds:
            looks = Self.slotsPerLook
            let kind = partition.engine.controls.kinds.records[index]
            lookAtKind(.control(ControlKindID(index)), kind.app, placed: kind.placed, filter, partition)
        case .widgetKinds:
            looks = Self.slotsPerLook
            let kind = partition.engine.widgets.kinds.records[index]
            lookAtKind(.widget(DeclaredKindID(index)), kind.app, placed: kind.placed, filter, partition)
        case .groups:
            looks = Self.slotsPerLook
            lookAtGroup(GroupID(index), filter, partition)
        case .providers:
            looks = Self.slotsPerLook
            lookAtProvider(providers[index], filter, partition)
        case .subscribers:
            let positions = lookAtSubscriber(nonces[index], filter, partition)
            looks = Slot(positions + 1) * Self.slotsPerLook
        }
        left -= min(left, looks)
    }

    // MARK: Rows

    private func take(_ row: Row) {
        var row = row
        row.number = total
        counts[Int(row.problem.rawValue)] += 1
        if let last, !row.isBefore(last) { return }
        rows.append(row)
        if rows.count == 2 * limit { sortOut() }
    }

    /// Keeps the worst `limit`.
    private func sortOut() {
        rows.sort { $0.isBefore($1) }
        guard rows.count > limit else { return }
        rows.removeSubrange(limit...)
        last = rows.last
    }

    /// How many there are of some.
    private func count(where isWanted: (Problem) -> Bool) -> Int {
        Problem.allCases.reduce(0) { isWanted($1) ? $0 + counts[Int($1.rawValue)] : $0 }
    }

    // MARK: Entities

    private func lookAtEntity(_ place: EntityPlace, _ filter: ProblemFilter, _ partition: Partition) {
        guard let row = row(of: place, partition) else { return }
        if let app = filter.app, partition.engine.owner(at: place)?.app != app { return }
        take(row)
    }

    /// The worst problem of the entity at a place; nil where it has none, or nothing is there.
    private func row(of place: EntityPlace, _ partition: Partition) -> Row? {
        let slot = place.slot
        if let timer = partition.engine.timer(at: place), timer.at < partition.now.domain {
            let late = Double(partition.now.domain - timer.at) / partition.clock.factor
            if late > Double(Self.overdue) {
                let problem = late > Double(Self.longOverdue) ? Problem.longOverdue : .overdue
                return Row(problem: problem, subject: .entity(place), since: timer.at)
            }
        }
        switch place.family {
        case .activity:
            guard let record = partition.engine.record(at: slot), !record.isKeyOnly, record.state == .stale else {
                return nil
            }
            // An earlier release did not keep it.
            let since = record.stateAt.isSet ? record.stateAt : partition.engine.staleSince(record.machine)
            return Row(problem: .activityStale, subject: .entity(place), since: since.shown)
        case .control:
            guard let record = partition.engine.controls.record(at: slot), record.machine.state != .removed else {
                return nil
            }
            // Of a button without a value a tap that failed is past: it shows nothing that could be wrong.
            if record.machine.failure != .none, record.machine.hasValue,
                partition.providers.isServed(ServedKind.control(record.kind).number)
            {
                return Row(
                    problem: .controlFailed, subject: .entity(place), since: record.dates.failingSince.shown,
                    until: nextTry(of: place, partition), failure: record.machine.failure)
            }
            guard record.machine.state == .authenticating else { return nil }
            return Row(
                problem: .authenticationAwaited, subject: .entity(place), since: record.dates.stateAt.shown,
                until: nextTry(of: place, partition))
        case .widget:
            guard let record = partition.engine.widgets.record(at: slot), record.machine.state != .removed else {
                return nil
            }
            if record.machine.failure != .none, partition.providers.isServed(ServedKind.widget(record.kind).number) {
                return Row(
                    problem: .widgetFailed, subject: .entity(place), since: record.dates.failingSince.shown,
                    until: nextTry(of: place, partition), failure: record.machine.failure)
            }
            guard let hold = record.machine.hold else { return nil }
            let problem: Problem =
                switch hold.reason {
                case .budget: .heldByBudget
                case .spacing: .heldBySpacing
                }
            return Row(problem: problem, subject: .entity(place), until: hold.until)
        case .group: return nil
        }
    }

    /// When it is tried again, or nobody waits any more.
    private func nextTry(of place: EntityPlace, _ partition: Partition) -> Instant? {
        partition.engine.timer(at: place)?.at
    }

    // MARK: What entities need

    private func lookAtKind(
        _ kind: ServedKind, _ app: AppID, placed: Int, _ filter: ProblemFilter, _ partition: Partition
    ) {
        if let wanted = filter.app, app != wanted { return }
        guard partition.providers.isServed(kind.number) else {
            guard placed > 0 else { return }
            let problem: Problem =
                switch kind {
                case .control: .controlKindUnserved
                case .widget: .widgetKindUnserved
                }
            return take(Row(problem: problem, subject: .kind(kind), count: placed))
        }
        let waiting = partition.providers.waitingCalls(of: kind.number) + partition.heldCalls(of: [kind.number])
        if waiting > 0 { take(Row(problem: .callsWait, subject: .kind(kind), count: waiting)) }
    }

    private func lookAtGroup(_ group: GroupID, _ filter: ProblemFilter, _ partition: Partition) {
        let (record, rules) = (partition.engine.groups[group], partition.engine.rules)
        if let app = filter.app, record.owner != app { return }
        // Nine tenths of either.
        guard record.keys.count * 10 >= rules.maximumGroupKeys * 9 || record.bytes * 10 >= rules.groupLimit * 9 else {
            return
        }
        take(Row(problem: .groupNearlyFull, subject: .group(group), count: record.keys.count))
    }

    private func lookAtProvider(_ reference: ProviderRef, _ filter: ProblemFilter, _ partition: Partition) {
        guard let provider = partition.providers.statistics(of: reference) else { return }
        let app = provider.kinds.first.map { partition.engine.app(ofKind: ServedKind(number: $0)) }
        if let wanted = filter.app, app != wanted { return }
        var row = Row(problem: .providerSilent, subject: .provider(provider.id), app: app)
        let silence = Self.silentPings * partition.providers.limits.pingEvery
        switch provider.state {
        case .open(let span):
            (row.problem, row.state) = (.providerFails, "open")
            row.until = partition.date(atMonotonic: partition.now.monotonic + span)
            row.since = provider.failingSince.flatMap { partition.date(atMonotonic: $0) }
        case .halfOpen
        where provider.isConcern(at: partition.now.monotonic) || partition.heldCalls(of: provider.kinds) > 0:
            (row.problem, row.state) = (.providerIsTried, "halfOpen")
            row.since = provider.failingSince.flatMap { partition.date(atMonotonic: $0) }
        case .live, .draining, .halfOpen:
            let isDraining = provider.state == .draining
            row.state = isDraining ? "draining" : provider.state == .halfOpen ? "halfOpen" : "live"
            if partition.now.monotonic - provider.lastHeard > silence {
                row.since = partition.date(atMonotonic: provider.lastHeard)
            } else if isDraining, provider.inFlight > 0 {
                row.problem = .providerDrains
                row.count = provider.inFlight
            } else {
                return
            }
        }
        take(row)
    }

    /// - Returns: how many positions it looked at.
    private func lookAtSubscriber(_ nonce: [UInt8], _ filter: ProblemFilter, _ partition: Partition) -> Int {
        guard let report = partition.subscribers.reports[nonce] else { return 0 }
        let app = filter.app.map { partition.engine.apps[$0].name }
        if report.isLagging(in: partition.engine, app: app, at: partition.now.monotonic) {
            let count = report.backlog(in: partition.engine, app: app)
            take(Row(problem: .subscriberLags, subject: .subscriber(nonce), count: Int(clamping: count)))
        }
        return report.positions.count
    }

    // MARK: The service itself

    private func lookAtService(_ filter: ProblemFilter, _ partition: Partition) {
        if filter.wants(.journal) {
            let age = partition.commitAge
            if !partition.flights.isDiskFull, age > Self.longestCommit {
                let since = partition.date(atMonotonic: partition.now.monotonic - age)
                take(Row(problem: .commitHangs, subject: .journal, since: since))
            }
            if partition.statistics.isSegmentDelayed { take(Row(problem: .segmentDelayed, subject: .journal)) }
        }
        if filter.wants(.clock) {
            let ahead = partition.clock.ahead
            if ahead > Self.ahead.0 {
                take(Row(problem: ahead > Self.ahead.1 ? .clockFarAhead : .clockAhead, subject: .clock))
            }
            if partition.clock.heldBack > 0 { take(Row(problem: .clockHeldBack, subject: .clock)) }
        }
    }

    // MARK: The answer

    /// Writes the answer.
    func write(to writer: inout JSONWriter, _ envelope: Envelope, _ frame: Span<UInt8>, _ partition: Partition) {
        sortOut()
        writer.beginAnswer(envelope, frame, ok: true)
        let start = writer.count
        writer.key("problems")
        writer.beginArray()
        for row in rows {
            if turns > 1, case .entity(let place) = row.subject, self.row(of: place, partition)?.problem != row.problem
            {
                continue
            }
            let end = writer.count
            write(row, to: &writer, partition)
            if writer.count - start > ListBounds.maximumBytes {
                writer.truncate(to: end)
                break
            }
        }
        writer.endArray()
        writer.key("counts")
        writer.beginObject()
        for severity in Problem.Severity.allCases { writer.field(severity.name, count { $0.severity == severity }) }
        writer.endObject()
        writer.key("byWhat")
        writer.beginObject()
        var names: Set<String> = []
        for problem in Problem.allCases where names.insert("\(problem.what)").inserted {
            let count = count { "\($0.what)" == "\(problem.what)" }
            if count > 0 { writer.field(problem.what, count) }
        }
        writer.endObject()
        writer.field("total", total)
        writer.field("exact", turns <= 1 && !isCut)
        writer.endObject()
    }

    private func write(_ row: Row, to writer: inout JSONWriter, _ partition: Partition) {
        writer.beginObject()
        writer.field("severity", name: row.problem.severity.name)
        writer.field("what", name: row.problem.what)
        switch row.subject {
        case .entity(let place): writer.identity(of: place, of: partition.engine)
        case .kind(let kind):
            writer.field("family", name: ProblemFamily.kind.name)
            writer.kind(kind, of: partition.engine)
        case .group(let group):
            writer.field("family", name: ProblemFamily.group.name)
            writer.app(partition.engine.groups[group].owner, of: partition.engine)
            writer.field("id", plain: partition.engine.groups[group].name)
        case .provider(let id):
            writer.field("family", name: ProblemFamily.provider.name)
            if let app = row.app { writer.app(app, of: partition.engine) }
            writer.field("id", id)
        case .subscriber(let nonce):
            writer.field("family", name: ProblemFamily.subscriber.name)
            writer.field("id", plain: nonce)
        case .journal: writer.field("family", name: ProblemFamily.journal.name)
        case .clock: writer.field("family", name: ProblemFamily.clock.name)
        }
        if let state = row.state { writer.field("state", name: state) }
        if let since = row.since { writer.field("since", since) }
        if let until = row.until { writer.field("until", until) }
        if row.failure != .none { writer.field("failure", name: row.failure.wireName) }
        if case .entity(let place) = row.subject, row.failure == .threw {
            writer.failureReason(of: place, in: partition.engine)
        }
        if let count = row.count { writer.field("count", count) }
        writer.field("text", name: row.problem.text)
        writer.field("advice", name: row.problem.advice)
        writer.endObject()
    }
}

extension Instant {
    /// Nil where it is not set.
    fileprivate var shown: Instant? { isSet ? self : nil }
}

extension Partition {
    /// The date of a reading of the monotonic clock, as far as real time tells; nil where that tells nothing of dates.
    fileprivate func date(atMonotonic time: Milliseconds) -> Instant? {
        guard !clock.isManual else { return nil }
        let span = Double(time - now.monotonic) * clock.factor
        return Milliseconds(exactly: span.rounded()).map { now.domain + $0 }
    }
}

/// Which problems `problem.list` asks for, with its names resolved.
struct ProblemFilter {
    let app: AppID?
    private let family: ProblemFamily?

    /// nil where a name is unknown, so that nothing matches.
    init?(_ list: ProblemList, _ frame: Span<UInt8>, _ engine: borrowing Engine) {
        family = list.family
        guard let name = list.app else {
            app = nil
            return
        }
        guard let app = engine.apps.find(name, of: frame) else { return nil }
        self.app = app
    }

    /// Whether it asks for those of a family.
    func wants(_ family: ProblemFamily) -> Bool { self.family == nil || self.family == family }
}
