import IsletCore

/// A machine in each state, one hour after it was made, and the dates that the table speaks in.
enum MachineSample {
    static let minute: Milliseconds = 60_000
    static let hour: Milliseconds = 3_600_000
    /// 2026-01-01T00:00Z: when every sample starts, or is scheduled.
    static let start = Instant(1_767_225_600_000)
    /// The moment of the event.
    static let now = start + hour

    /// One machine for each state.
    ///
    /// Pending: starts at 2 h, stale date 3 h. Active: stale date 3 h. Stale: since 0:30. Ended: at 0:30 by default, so
    /// it goes at 4:30. Dismissed: at 0:30 by a person.
    static func machine(_ state: ActivityState, style: ActivityStyle = .standard) -> ActivityMachine {
        switch state {
        case .pending:
            return ActivityMachine.started(
                at: start, startDate: start + 2 * hour, staleDate: start + 3 * hour, style: style
            ).machine
        case .active:
            return ActivityMachine.started(at: start, staleDate: start + 3 * hour, style: style).machine
        case .stale:
            var machine = ActivityMachine.started(at: start, staleDate: start + 30 * minute, style: style).machine
            _ = machine.deadlineReached(at: start + 30 * minute, .standard)
            return machine
        case .ended:
            var machine = self.machine(.active, style: style)
            _ = machine.ended(
                at: start + 30 * minute, policy: .default, timestamp: start + 30 * minute, source: .local, .standard)
            return machine
        case .dismissed:
            var machine = self.machine(.active, style: style)
            _ = machine.removed(at: start + 30 * minute, by: .person)
            return machine
        }
    }
}

/// What may happen to an activity.
enum MachineEvent: CustomStringConvertible {
    /// An update at ``MachineSample/now``; dates are spans from then, nil clears.
    case update(staleIn: Milliseconds?, stamped: Stamp, Source)
    case end(Policy, stamped: Stamp, Source)
    case removed(Dismisser)
    case switchedOff
    case frequentPushesChanged
    case leftBehind(ActivityStyle)
    case uninstalled
    case renewed
    case signOfLife
    /// Its own next deadline is reached, to the millisecond.
    case deadlineReached
    /// One millisecond is left until its next deadline.
    case deadlineNear

    enum Stamp: String {
        case now
        /// Equal to the highest that was accepted.
        case equal
        /// One millisecond older than the highest that was accepted.
        case older
        /// The latest that a push may have: now + 8 h.
        case latest
        /// One millisecond later than that.
        case tooLate
    }

    enum Policy: Equatable {
        case `default`
        case immediate
        /// After a span from now.
        case after(Milliseconds)
    }

    var description: String {
        switch self {
        case .update(let staleIn, let stamp, let source):
            "update, stale date \(staleIn.map { "now + \($0)" } ?? "nil"), timestamp \(stamp.rawValue), \(source)"
        case .end(let policy, let stamp, let source): "end \(policy), timestamp \(stamp.rawValue), \(source)"
        case .removed(let dismisser): "removed by \(dismisser)"
        case .switchedOff: "switched off"
        case .frequentPushesChanged: "frequent pushes changed"
        case .leftBehind(let style): "left behind, \(style)"
        case .uninstalled: "uninstalled"
        case .renewed: "renewed"
        case .signOfLife: "sign of life"
        case .deadlineReached: "deadline reached"
        case .deadlineNear: "deadline near"
        }
    }

    var style: ActivityStyle {
        if case .leftBehind(let style) = self { return style }
        return .standard
    }
}

/// What an event came to.
enum MachineOutcome: Equatable {
    case ignored(IgnoreReason, Rule)
    case steps(ActivityMachine.Steps)
}

extension ActivityMachine {
    /// Feeds an event as the engine does: first the questions, then the change.
    mutating func feed(_ event: MachineEvent, _ rules: RuleSet = .standard) -> MachineOutcome {
        let now = MachineSample.now
        switch event {
        case .update(let staleIn, let stamp, let source):
            if let dropped = refusesContent { return .ignored(dropped.reason, dropped.rule) }
            let timestamp = instant(stamp)
            if let dropped = drops(timestamp: timestamp, at: now, source: source, rules) {
                return .ignored(dropped.reason, dropped.rule)
            }
            let stale = staleIn.map { now + $0 } ?? .never
            return .steps(updated(at: now, staleDate: stale, timestamp: timestamp, source: source))
        case .end(let policy, let stamp, let source):
            let policy: DismissalPolicy =
                switch policy {
                case .default: .default
                case .immediate: .immediate
                case .after(let span): .after(now + span)
                }
            if let dropped = dropsEnd(policy) { return .ignored(dropped.reason, dropped.rule) }
            let timestamp = instant(stamp)
            if state == .active || state == .stale,
                let dropped = dropsEnd(timestamp: timestamp, at: now, source: source, rules)
            {
                return .ignored(dropped.reason, dropped.rule)
            }
            return .steps(ended(at: now, policy: policy, timestamp: timestamp, source: source, rules))
        case .removed(let dismisser): return .steps(removed(at: now, by: dismisser))
        case .switchedOff: return .steps(switchedOff(at: now))
        case .frequentPushesChanged: return .steps(frequentPushesChanged(at: now, rules))
        case .leftBehind: return .steps(leftBehind(at: now))
        case .uninstalled: return .steps(uninstalled(at: now))
        case .renewed:
            if let dropped = refusesContent { return .ignored(dropped.reason, dropped.rule) }
            return .steps(renewed(at: now))
        case .signOfLife: return .steps(signOfLife(at: now))
        case .deadlineReached: return .steps(deadlineReached(at: nextDeadline(rules).at, rules))
        case .deadlineNear: return .steps(deadlineReached(at: nextDeadline(rules).at + -1, rules))
        }
    }

    private func instant(_ stamp: MachineEvent.Stamp) -> Instant {
        switch stamp {
        case .now: MachineSample.now
        case .equal: timestamp
        case .older: timestamp + -1
        case .latest: MachineSample.now + 8 * MachineSample.hour
        case .tooLate: MachineSample.now + 8 * MachineSample.hour + 1
        }
    }
}
