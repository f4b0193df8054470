/// The life of one Live Activity: Apple's states, and the dates that move it (apple-semantics 1.2).
///
///                  start                 staleDate, or an update with one that has passed
///     (nothing) ──────────▶ active ─────────────────────────────────────────▶ stale
///         │                 ▲    │ ◀─────────────────────────────────────────   │
///         │ start(startDate)│    │      update with no stale date, or a later   │
///         ▼                 │    │                                              │
///      pending ─────────────┘    │ end, 8 hours, settings        end, 8 hours   │
///         │      startDate       ▼                                              ▼
///         │                    ended ◀──────────────────────────────────────────┘
///         │ end, settings        │ dismissal date, end(immediate), person, system, settings
///         ▼                      ▼
///      dismissed ◀───────────────┘   (also straight from active and stale: person, system, settings)
///
/// Legal next states: pending → active, dismissed; active → stale, ended, dismissed; stale → active, ended,
/// dismissed; ended → dismissed; dismissed → none.
///
/// The machine is a value. It is told what happened and when, and answers with the steps that it took; it reads no
/// clock and owns no timer: its one timer is ``nextDeadline(_:)``, which the owner arms.
package struct ActivityMachine: Equatable, Sendable, BitwiseCopyable {
    // A million of them are kept, and every event carries two: so it is packed into 33 bytes.
    private var dates: PackedDates
    package private(set) var state: ActivityState
    /// Why it is in this state.
    package private(set) var cause: Cause
    private let traits: Traits

    /// What it was started with.
    private struct Traits: OptionSet, Equatable, BitwiseCopyable {
        let rawValue: UInt8

        static let isTransient = Traits(rawValue: 1)
        static let isScheduled = Traits(rawValue: 2)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ style: ActivityStyle, isScheduled: Bool) {
            self = isScheduled ? .isScheduled : []
            switch style {
            case .standard: break
            case .transient: insert(.isTransient)
            }
        }
    }

    package var style: ActivityStyle { traits.contains(.isTransient) ? .transient : .standard }

    /// Whether it was started with a start date.
    package var isScheduled: Bool { traits.contains(.isScheduled) }

    /// When it started, or is due to start while pending.
    package var startedAt: Instant { @inline(__always) get { dates.startedAt } }

    package var staleDate: Instant { @inline(__always) get { dates.staleDate } }

    package var endedAt: Instant { @inline(__always) get { state.isOpen ? .never : dates.signOrEnd } }

    /// When it will be or was removed.
    package var dismissAt: Instant { @inline(__always) get { dates.dismissAt } }

    /// The highest timestamp that was accepted.
    package var timestamp: Instant { @inline(__always) get { dates.timestamp } }

    /// The last sign of life of its publisher, for the heartbeat rules. Only of an open one.
    private var lastSign: Instant { dates.signOrEnd }

    /// Since when it is stale, as far as its dates tell; `never` where it is not.
    package func staleSince(_ rules: RuleSet, _ unheard: Unheard = .never) -> Instant {
        guard state == .stale else { return .never }
        let bySilence = rules.heartbeatStaleAfter.map { span in
            // It was so before, or its silence counts anew.
            lastSign + span <= unheard.since ? lastSign + span : max(lastSign, unheard.until) + span
        }
        // A stale date may have passed before it started.
        return max(startedAt, min(staleDate, bySilence ?? .never))
    }

    private init(
        state: ActivityState, style: ActivityStyle, isScheduled: Bool, startedAt: Instant, staleDate: Instant,
        timestamp: Instant, cause: Cause
    ) {
        dates = PackedDates(
            startedAt: startedAt, staleDate: staleDate, timestamp: timestamp, signOrEnd: timestamp, dismissAt: .never)
        self.state = state
        self.cause = cause
        traits = Traits(style, isScheduled: isScheduled)
    }

    // MARK: Start

    /// A start that passed all checks (rows 1, 2 and 5).
    ///
    /// - Parameter startDate: a date to come makes it pending; nil or a date that has passed starts it now.
    package static func started(
        at now: Instant, startDate: Instant? = nil, staleDate: Instant = .never, style: ActivityStyle = .standard,
        cause: Cause = .command
    ) -> (machine: ActivityMachine, steps: Steps) {
        if let startDate, startDate > now {
            let machine = ActivityMachine(
                state: .pending, style: style, isScheduled: true, startedAt: startDate, staleDate: staleDate,
                timestamp: now, cause: cause)
            return (machine, Steps(Step(nil, .scheduled, machine, .scheduled)))
        }
        var machine = ActivityMachine(
            state: .active, style: style, isScheduled: startDate != nil, startedAt: now, staleDate: staleDate,
            timestamp: now, cause: cause)
        var steps = Steps(Step(nil, .started, machine, .startedAtOnce))
        if staleDate <= now { steps.append(machine.becomeStale(.staleAtStart, due: now)) }
        return (machine, steps)
    }

    // MARK: Updates

    /// Why an update or a renewal reaches nothing here: it is over (rows 35 and 41); nil while it is open.
    package var refusesContent: (reason: IgnoreReason, rule: Rule)? {
        switch state {
        case .pending, .active, .stale: nil
        case .ended: (.ended, .endedUpdateDropped)
        case .dismissed: (.dismissed, .dismissedDropsAll)
        }
    }

    /// Why a command with this timestamp is dropped (rows 15 to 17), or nil.
    package func drops(
        timestamp: Instant, at now: Instant, source: Source, _ rules: RuleSet
    ) -> (reason: IgnoreReason, rule: Rule)? {
        if source == .push, timestamp > now + rules.futureTimestampLimit { return (.futureTimestamp, .futureTimestamp) }
        return timestamp < self.timestamp ? (.olderTimestamp, .olderTimestamp) : nil
    }

    /// The content was replaced (rows 9, 13, 14, 20 and 21). Only for an open one.
    package mutating func updated(
        at now: Instant, staleDate newStaleDate: Instant, timestamp newTimestamp: Instant, source: Source
    ) -> Steps {
        precondition(state.isOpen, "only an open activity is updated")
        let from = state
        // In a copy: the step takes the dates over, and to load them right behind the stores of their halves would wait
        // until all stores before those are done (5 % of the bus thread's samples).
        var next = self
        next.dates.staleDate = newStaleDate
        next.dates.timestamp = newTimestamp
        next.dates.signOrEnd = now
        next.cause = source.cause
        defer { self = next }
        switch from {
        case .pending:
            return Steps(Step(from, .updated, next, .pendingUpdated))
        case .active:
            var steps = Steps(Step(from, .updated, next, .updated))
            if newStaleDate <= now { steps.append(next.becomeStale(.updatedPastStaleDate, due: now)) }
            return steps
        case .stale:
            guard newStaleDate > now else { return Steps(Step(from, .updated, next, .updatedStillStale)) }
            next.state = .active
            return Steps(Step(from, .updated, next, .updatedFromStale))
        case .ended, .dismissed:
            return Steps()
        }
    }

    /// The publisher lives (the heartbeat rules). Returns from a staleness that only its silence made.
    package mutating func signOfLife(at now: Instant) -> Steps {
        if state.isOpen { dates.signOrEnd = now }
        guard state == .stale, cause == .heartbeat, staleDate > now else { return Steps() }
        state = .active
        return Steps(Step(.stale, .updated, self, .heartbeatReturned))
    }

    /// A person tapped it, which opens its app (apple-semantics 5, deep links). Only for an open one.
    ///
    /// Its cause stays: it says why it is in this state.
    package mutating func tapped() -> Steps {
        precondition(state.isOpen, "only an open activity is tapped")
        return Steps(Step(state, .tapped, self, .tapped))
    }

    // MARK: End and removal

    /// Why an `end` does nothing here (rows 37 and 41), or nil.
    package func dropsEnd(_ policy: DismissalPolicy) -> (reason: IgnoreReason, rule: Rule)? {
        switch (state, policy) {
        case (.pending, _), (.active, _), (.stale, _), (.ended, .immediate): nil
        case (.ended, .default), (.ended, .after): (.ended, .endedAgain)
        case (.dismissed, _): (.dismissed, .dismissedDropsAll)
        }
    }

    /// Why an `end` with this timestamp is dropped (rows 17 and 26), or nil.
    package func dropsEnd(
        timestamp: Instant, at now: Instant, source: Source, _ rules: RuleSet
    ) -> (reason: IgnoreReason, rule: Rule)? {
        guard let dropped = drops(timestamp: timestamp, at: now, source: source, rules) else { return nil }
        let mayBeOlder = source == .push && rules.pushEndAcceptsOlderTimestamp
        return dropped.reason == .olderTimestamp && mayBeOlder ? nil : dropped
    }

    /// Ended by a command (rows 10, 22 to 26 and 36). Only where neither `dropsEnd` objects.
    package mutating func ended(
        at now: Instant, policy: DismissalPolicy, timestamp newTimestamp: Instant, source: Source, _ rules: RuleSet
    ) -> Steps {
        let from = state
        let isOlder = newTimestamp < timestamp
        dates.timestamp = max(timestamp, newTimestamp)
        switch from {
        case .pending:
            return Steps(dismiss(.pendingEnded, cause: source.cause, due: now))
        case .ended:
            return Steps(dismiss(.endedAgainImmediately, cause: .dismissalPolicy, due: now))
        case .active, .stale:
            let rule: Rule
            switch policy {
            case .default: (rule, dates.dismissAt) = (.endedByDefault, now + rules.dismissalLimit)
            case .immediate: (rule, dates.dismissAt) = (.endedImmediately, now)
            case .after(let date) where date > now:
                (rule, dates.dismissAt) = (.endedAfterDate, min(date, now + rules.dismissalLimit))
            case .after: (rule, dates.dismissAt) = (.endedAfterPastDate, now)
            }
            var steps = Steps(end(isOlder ? .endedByOlderPush : rule, cause: source.cause, due: now))
            if dismissAt <= now { steps.append(dismiss(rule, cause: .dismissalPolicy, due: now)) }
            return steps
        case .dismissed:
            return Steps()
        }
    }

    /// Why a removal does nothing here (row 41), or nil.
    package var dropsRemoval: (reason: IgnoreReason, rule: Rule)? {
        state == .dismissed ? (.dismissed, .dismissedDropsAll) : nil
    }

    /// Removed by a person or the system (rows 28 and 39). Nothing happens to one that is dismissed.
    package mutating func removed(at now: Instant, by dismisser: Dismisser) -> Steps {
        let rule: Rule =
            switch (dismisser, state) {
            case (_, .ended): .endedDismissed
            case (.person, _): .dismissedByPerson
            case (.system, _): .dismissedBySystem
            }
        return removed(at: now, rule, cause: dismisser == .person ? .person : .system)
    }

    /// The person switched the app's Live Activities off (rows 12 and 29, section 8).
    package mutating func switchedOff(at now: Instant) -> Steps {
        removed(at: now, state == .pending ? .pendingSwitchedOff : .switchedOff, cause: .settings)
    }

    /// The app was removed from the device (row 34).
    package mutating func uninstalled(at now: Instant) -> Steps {
        removed(at: now, .uninstalled, cause: .system)
    }

    /// The person changed the frequent updates setting, which ends all that run (row 30).
    package mutating func frequentPushesChanged(at now: Instant, _ rules: RuleSet) -> Steps {
        guard state == .active || state == .stale else { return Steps() }
        dates.dismissAt = now + rules.dismissalLimit
        return Steps(end(.frequentPushesChanged, cause: .settings, due: now))
    }

    /// The device was locked or left, or the expanded view collapsed: a transient one goes (row 31).
    package mutating func leftBehind(at now: Instant) -> Steps {
        guard style == .transient, state == .active || state == .stale else { return Steps() }
        return endedAndRemoved(at: now, .transientGone, cause: .transient)
    }

    /// Renewed: this one makes room for its successor. Only for an open one.
    package mutating func renewed(at now: Instant) -> Steps {
        state == .pending
            ? Steps(dismiss(.renewed, cause: .renewal, due: now))
            : endedAndRemoved(at: now, .renewed, cause: .renewal)
    }

    // MARK: Deadlines

    /// The date at which the system ends it; `never` unless it runs (row 27).
    @inline(__always) package func expiresAt(_ rules: RuleSet) -> Instant {
        state == .active || state == .stale ? startedAt + rules.activeLimit : .never
    }

    /// The earliest date at which it moves by itself, and why; `never` where it does not.
    ///
    /// At one and the same instant the end comes before staleness: an ended activity does not go stale.
    ///
    /// Inlined, because a call is handed a copy of the rule set's 300 bytes: seven of them an update were 450 instructions.
    @inline(__always)
    package func nextDeadline(_ rules: RuleSet, _ unheard: Unheard = .never) -> (at: Instant, cause: Cause) {
        switch state {
        case .pending: return (startedAt, .startDate)
        case .active:
            var next = endDeadline(rules, unheard)
            if staleDate < next.at { next = (staleDate, .staleDate) }
            if let silence = rules.heartbeatStaleAfter, silentSince(unheard) + silence < next.at {
                next = (silentSince(unheard) + silence, .heartbeat)
            }
            return next
        case .stale: return endDeadline(rules, unheard)
        case .ended: return (dismissAt, .dismissalPolicy)
        case .dismissed: return (.never, .dismissalPolicy)
        }
    }

    /// The deadline passed; the dates that result come from the deadline and not from when it was noticed (rows 8, 11,
    /// 19, 27 and 38). Nothing happens where no deadline is due: a late or doubled firing is harmless.
    package mutating func deadlineReached(at now: Instant, _ rules: RuleSet, _ unheard: Unheard = .never) -> Steps {
        let next = nextDeadline(rules, unheard)
        guard next.at <= now else { return Steps() }
        switch state {
        case .pending:
            state = .active
            cause = .startDate
            dates.timestamp = max(timestamp, next.at)
            dates.signOrEnd = next.at
            var steps = Steps(Step(.pending, .started, self, .startDateReached, due: next.at))
            if staleDate <= next.at { steps.append(becomeStale(.staleBeforeStart, due: next.at)) }
            return steps
        case .active where next.cause == .staleDate:
            return Steps(becomeStale(.staleDateReached, due: next.at))
        case .active where next.cause == .heartbeat && !endsBySilence(at: next.at, rules, unheard):
            return Steps(becomeStale(.heartbeatMissed, due: next.at, cause: .heartbeat))
        case .active, .stale:
            dates.dismissAt = next.at + rules.dismissalLimit
            let rule: Rule = next.cause == .heartbeat ? .heartbeatEnded : .activeLimitReached
            return Steps(end(rule, cause: next.cause, due: next.at))
        case .ended:
            return Steps(dismiss(.dismissDateReached, cause: .dismissalPolicy, due: next.at))
        case .dismissed:
            return Steps()
        }
    }

    @inline(__always)
    private func endDeadline(_ rules: RuleSet, _ unheard: Unheard) -> (at: Instant, cause: Cause) {
        let limit = startedAt + rules.activeLimit
        guard let silence = rules.heartbeatEndAfter, silentSince(unheard) + silence < limit else {
            return (limit, .activeLimit)
        }
        return (silentSince(unheard) + silence, .heartbeat)
    }

    private func endsBySilence(at due: Instant, _ rules: RuleSet, _ unheard: Unheard) -> Bool {
        guard let silence = rules.heartbeatEndAfter else { return false }
        return silentSince(unheard) + silence <= due
    }

    /// From when the silence of its publisher counts.
    @inline(__always) private func silentSince(_ unheard: Unheard) -> Instant { max(lastSign, unheard.until) }

    // MARK: Edges

    private mutating func becomeStale(_ rule: Rule, due: Instant, cause newCause: Cause = .staleDate) -> Step {
        let from = state
        state = .stale
        cause = newCause
        return Step(from, .stale, self, rule, due: due)
    }

    private mutating func end(_ rule: Rule, cause newCause: Cause, due: Instant) -> Step {
        let from = state
        state = .ended
        cause = newCause
        dates.signOrEnd = due
        return Step(from, .ended, self, rule, due: due)
    }

    private mutating func dismiss(_ rule: Rule, cause newCause: Cause, due: Instant) -> Step {
        let from = state
        switch from {
        case .pending: dates.signOrEnd = .never
        case .active, .stale: dates.signOrEnd = due
        case .ended, .dismissed: break
        }
        state = .dismissed
        cause = newCause
        dates.dismissAt = due
        return Step(from, .dismissed, self, rule, due: due)
    }

    private mutating func removed(at now: Instant, _ rule: Rule, cause: Cause) -> Steps {
        state == .dismissed ? Steps() : Steps(dismiss(rule, cause: cause, due: now))
    }

    private mutating func endedAndRemoved(at now: Instant, _ rule: Rule, cause: Cause) -> Steps {
        dates.dismissAt = now
        var steps = Steps(end(rule, cause: cause, due: now))
        steps.append(dismiss(rule, cause: cause, due: now))
        return steps
    }
}

extension ActivityMachine {
    /// The bytes of an image: four of one byte, and six dates.
    static var imageSize: Int { 52 }

    /// Writes every field, for recovery.
    @inline(__always) func write(to numbers: inout ImageWriter.Numbers) {
        numbers.put(state.rawValue)
        numbers.put(cause.rawValue)
        numbers.put(style.rawValue)
        numbers.put(isScheduled)
        numbers.put(startedAt)
        numbers.put(staleDate)
        numbers.put(endedAt)
        numbers.put(dismissAt)
        numbers.put(timestamp)
        // One that is over has no sign of life that matters; the field stays, as files of any release have it.
        numbers.put(state.isOpen ? lastSign : timestamp)
    }

    /// Reads what ``write(to:)`` wrote.
    init(_ reader: inout ImageReader) throws(ImageError) {
        state = try reader.value()
        cause = try reader.value()
        let style: ActivityStyle = try reader.value()
        traits = Traits(style, isScheduled: try reader.flag())
        let startedAt = try reader.packable()
        let staleDate = try reader.packable()
        let endedAt = try reader.packable()
        let dismissAt = try reader.packable()
        let timestamp = try reader.packable()
        let lastSign = try reader.packable()
        dates = PackedDates(
            startedAt: startedAt, staleDate: staleDate, timestamp: timestamp,
            signOrEnd: state.isOpen ? lastSign : endedAt, dismissAt: dismissAt)
    }
}

extension Source {
    /// The cause that a command from here gives to its transition.
    package var cause: Cause {
        switch self {
        case .local: .command
        case .push: .push
        }
    }
}

extension ImageReader {
    /// A date as ``PackedDates`` keeps it: no release has stored another one.
    fileprivate mutating func packable() throws(ImageError) -> Instant {
        let date = try instant()
        guard date.isPackable else { throw .contradiction("a date in no century") }
        return date
    }
}
