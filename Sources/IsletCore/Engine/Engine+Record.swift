/// What turns a machine's steps into revisions, events, digests, timers and counts: the one place where an activity's
/// record changes its state.
extension Engine {
    /// How an event that a deadline made is dated.
    package enum Dating: Sendable {
        /// By the present: the clock of a running service, whose lateness is the truth.
        case whenNoticed
        /// By its own due date: the manual clock, which stops at every deadline on its way.
        case whenDue
    }

    /// What a step changed beside the machine.
    struct Changes {
        var content = false
        var relevance = false
        var renewal = false
        var alert = ActivityEvent.Alert.none
        var url: FrameRange?
    }

    /// Takes the steps of an activity that is in the slab: the machine in the record is already the last one.
    ///
    /// Content, relevance and alert belong to the first step.
    mutating func take(
        _ steps: ActivityMachine.Steps, of slot: Slot, before: ActivityMachine?, _ changes: Changes = Changes(),
        asker: Asker, at now: Instant, dating: Dating = .whenNoticed, _ frame: Span<UInt8>
    ) {
        guard let first = steps.first else { return }
        take(first, of: slot, before: before, changes, asker: asker, at: now, dating, frame)
        if let second = steps.second {
            take(second, of: slot, before: first.machine, Changes(), asker: asker, at: now, dating, frame)
        }
        arm(slot)
    }

    private mutating func take(
        _ step: ActivityMachine.Step, of slot: Slot, before: ActivityMachine?, _ changes: Changes, asker: Asker,
        at now: Instant, _ dating: Dating, _ frame: Span<UInt8>
    ) {
        let isDeadline = step.machine.cause.isDeadline && step.due.isSet && step.name != .updated
        let isDatedByDue = isDeadline && dating == .whenDue && !asker.isCommand
        let at = isDatedByDue ? max(step.due, ranUntil) : now
        var changes = changes
        if step.rule == .startDateReached {
            if !activities[slot].alertRange.isEmpty { changes.alert = .stored }
            activities[slot].ordinal = nextOrdinal()
            if let device = activities[slot].device { linkBefore(slot, on: device) }
        }
        var record = activities[slot]
        record.revision += 1
        let app = apps.kinds[Int(record.kind)].app
        let topicHash = apps.kinds[Int(record.kind)].topicHash.appending(record.id)
        let wasListed = before?.state.isListed ?? false
        let isListed = step.machine.state.isListed
        let seq = apps[app].takeStep(
            topicHash, from: wasListed ? record.revision - 1 : nil, to: isListed ? record.revision : nil)
        if !digestScans.isEmpty {
            let place = EntityPlace(.activity, slot)
            if wasListed { changedDuringScans(topicHash, UInt64(record.revision) - 1, app, place, isAdded: false) }
            if isListed { changedDuringScans(topicHash, UInt64(record.revision), app, place, isAdded: true) }
        }
        entityCount += (isListed ? 1 : 0) - (wasListed ? 1 : 0)
        if before?.state != step.machine.state {
            if let before { countByState[Int(before.state.rawValue)] -= 1 }
            countByState[Int(step.machine.state.rawValue)] += 1
        }
        let previous = record.lastSeq
        activities[slot].stepped(to: record.revision, seq: seq)
        let lateBy = isDeadline ? isDatedByDue ? 0 : lateness(of: step, at: at) : nil
        if before?.state != step.machine.state { activities[slot].stateAt = at + -(lateBy ?? 0) }
        changedSlots.insert(slot)
        appChanged(app)
        if let device = record.device {
            count(record, on: device, app: app, from: before?.state, to: step.machine.state)
            if step.machine.state == .ended { linkBehind(slot, on: device) }
        }
        // From its own date on and not from when it was noticed, since only that date comes back after a restart.
        if wasListed, !isListed { retire(slot, at: step.machine.dismissAt) }
        events.append(
            ActivityEvent(
                name: step.name, slot: slot, id: record.id, kind: record.kind, app: app, seq: seq, previous: previous, at: at,
                lateBy: lateBy, before: before, after: step.machine,
                revision: record.revision, rule: step.rule, isByCommand: asker.isCommand,
                contentChanged: changes.content, relevanceChanged: changes.relevance, renewalChanged: changes.renewal,
                alert: changes.alert, url: changes.url))
        log(
            record.id, of: app, step.rule, .applied(name: step.name, seq: seq, revision: record.revision),
            from: before?.state, to: step.machine.state, cause: step.machine.cause, asker: asker, at: at, frame)
    }

    /// Counted from the deadline, or from the moment when it was set where that is later.
    private func lateness(of step: ActivityMachine.Step, at now: Instant) -> Milliseconds {
        // Silence counts from the start at the earliest, by which rules ever.
        let followsFromRules = step.machine.cause == .activeLimit
        let from = followsFromRules && step.due < ranUntil ? max(step.due, rulesSetAt) : step.due
        return max(0, now - min(now, from))
    }

    /// Notes a decision for `explain`.
    mutating func log(
        _ id: EntityID, of app: AppID, _ rule: Rule, _ outcome: Decision.Outcome, from: ActivityState?, to: ActivityState,
        cause: Cause? = nil, asker: Asker, at: Instant, _ frame: Span<UInt8>
    ) {
        var req = InlineText()
        if asker.isCommand, let range = asker.envelope.req { req = InlineText(range, of: frame) }
        decisions.append(
            Decision(
                id: id, app: app, at: at, rule: rule, outcome: outcome, from: from, to: to, cause: cause,
                client: asker.isCommand ? asker.envelope.client : nil, req: req))
    }

    /// A command was dropped as ActivityKit drops it.
    mutating func ignore(
        _ slot: Slot, _ dropped: (reason: IgnoreReason, rule: Rule), _ envelope: Envelope, at now: Instant,
        _ frame: Span<UInt8>
    ) -> Outcome {
        let state = activities[slot].state
        log(
            activities[slot].id, of: app(of: activities[slot]), dropped.rule, .ignored(dropped.reason), from: state, to: state,
            asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .ignored(activities.reference(to: slot), dropped.reason)
    }

    /// A command about an activity was refused.
    mutating func refuse(
        _ slot: Slot, _ rule: Rule, _ refusal: Refusal, _ envelope: Envelope, at now: Instant, _ frame: Span<UInt8>
    ) -> Outcome {
        let state = activities[slot].state
        log(
            activities[slot].id, of: app(of: activities[slot]), rule, .refused, from: state, to: state,
            asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .refused(refusal)
    }

    /// Arms the activity's one timer with its earliest deadline, or disarms it.
    mutating func arm(_ slot: Slot) {
        let next = activities[slot].machine.nextDeadline(rules, unheard).at
        if next.isSet { wheel.arm(slot, at: next) } else { wheel.cancel(slot) }
    }

    /// The next snapshot writes this app.
    mutating func appChanged(_ app: AppID) {
        guard !apps[app].isChanged else { return }
        apps[app].isChanged = true
        changedApps.append(app)
    }

    /// Something of an app changed that no event tells.
    mutating func note(app: AppID) {
        appChanged(app)
        if isJournalled { notes.append(.app(app)) }
    }

    /// What is known of an app on a device is this now, which no event tells.
    mutating func set(_ known: DeviceApp, of app: AppID, on device: DeviceID) {
        guard devices[device].apps[app] ?? DeviceApp() != known else { return }
        devices[device].apps[app] = known.isEmpty ? nil : known
        guard isJournalled else { return }
        let place = AppOnDevice(app: app, device: devices[device].name)
        changedAppsOnDevices.insert(place)
        notes.append(.appOnDevice(place))
    }

    /// Something of an activity changed that no event tells.
    mutating func note(activity slot: Slot) {
        changedSlots.insert(slot)
        if isJournalled { notes.append(.activity(slot)) }
    }

    mutating func nextOrdinal() -> UInt64 {
        startOrdinal += 1
        return startOrdinal
    }
}

extension Cause {
    /// Whether a date made it, so that lateness means something.
    package var isDeadline: Bool {
        switch self {
        case .staleDate, .startDate, .activeLimit, .dismissalPolicy, .heartbeat: true
        case .command, .push, .person, .system, .settings, .transient, .renewal: false
        }
    }
}
