/// The life of one placed widget (apple-semantics 5): which entry it shows, and what its provider is asked for.
///
///              add, configure            timeline with an entry for now          policy, request, retry …
///   (nothing) ───────────────▶ loading ───────────────────────────────▶ shown ─────────────────────────▶ reloading
///                              │  ▲   │                                 │ ▲ ▲                             │  │
///          failed, or all      │  │   │ the first entry's date          │ │ │  timeline, failed           │  │
///          entries are ahead   ▼  │   ▼                                 │ │ └─────────────────────────────┘  │
///                      placeholder│  reloading              an action  │ │ failed                           │
///                              │  └─ registration, request, retry       ▼ │            an action             │
///                              └───── the first entry's date ─▶ shown  acting ◀───────────────────────────────┘
///                                                                       └─ performed ─▶ reloading
///
/// A reload that its budget or the distance from the last one does not allow is held: it stays what it is until the date
/// when it may be asked for, and whatever asks for a reload meanwhile becomes one with it. Configuring leads from
/// everywhere to loading, removing from everywhere to removed.
///
/// Legal next states: loading → shown, placeholder, reloading, loading; placeholder → loading, shown, placeholder;
/// shown → reloading, acting, shown, loading; reloading → shown, reloading, acting, loading; acting → reloading, shown,
/// acting, loading; all → removed; removed → none. Only an entry's date, a hold, a tap, rendering facts and the Smart
/// Stack lead from a state to itself.
///
/// Loading and reloading mean that a timeline is asked for, acting that an action runs, and no other state that
/// anything is on its way: so a call that ends always finds the state that it was made in, and none hangs once its call
/// has ended.
///
/// The machine is a value. It is told what happened, when, and whether a reload is allowed, and answers with steps.
package struct WidgetMachine: Equatable, Sendable, BitwiseCopyable {
    /// A reload that waits for its budget or its distance from the last one.
    package struct Hold: Equatable, Sendable, BitwiseCopyable {
        package var until: Instant
        package var reason: ReloadHold
        /// Of the first request that was held.
        package var cause: WidgetCause
        /// How many further requests became one with it.
        package var merged: UInt16
    }

    /// What happens next by itself.
    package enum NextCause: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case entry, policy, retry, held, relevance
    }

    package internal(set) var state: WidgetState
    package internal(set) var cause: WidgetCause
    /// Whether an entry is shown.
    package internal(set) var hasEntry = false
    /// The place of the entry that is shown among the timeline's; nil where none is, or one of the timeline before.
    package internal(set) var entryIndex: UInt16?
    /// How many entries the timeline has, without one that was carried over.
    package internal(set) var entryCount: UInt16 = 0
    package internal(set) var policy = TimelineReloadPolicy.atEnd
    /// When the timeline came; `never`: there is none.
    package internal(set) var timelineAt = Instant.never
    /// Whether the entry asks a person to log in.
    package internal(set) var needsLogin = false
    /// Whether it is the first of its device's Smart Stack.
    package internal(set) var isOnTop: Bool
    package internal(set) var failure = CallFailure.none
    /// In a row.
    package internal(set) var failures: UInt8 = 0
    package internal(set) var hold: Hold?
    /// The newest reason for a timeline that the one on its way may be older than.
    package internal(set) var dirtyCause: WidgetCause?
    /// How the timeline that is asked for was paid; while none is, what the next one is owed (``owed``).
    package internal(set) var charge = Charge.none
    /// Whether the timeline is over: the date of its policy is past.
    package internal(set) var isOver = false
    /// The date from which the next entry's distance counts: that of the entry, or when its timeline was asked for.
    package internal(set) var shownAt = Instant.never
    /// When the last reload was asked for, charged or not.
    package internal(set) var lastReloadAt = Instant.never
    /// The same of the one before.
    package internal(set) var previousReloadAt = Instant.never
    /// The dates at which something happens by itself, while nothing else keeps it from happening.
    package internal(set) var nextEntryAt = Instant.never
    package internal(set) var policyAt = Instant.never
    package internal(set) var retryAt = Instant.never
    /// The relevance of the entry that is shown, with 1 for the highest of its timeline; 0: none.
    package internal(set) var score: Float = 0
    /// When that ends; `never`: with the next entry.
    package internal(set) var relevanceEndsAt = Instant.never

    init(at now: Instant, isOnTop: Bool) {
        state = .loading
        cause = .command
        self.isOnTop = isOnTop
        charge = .exempt(.placement)
        lastReloadAt = now
    }

    /// Whether what it shows was invalidated by an action that runs.
    package var isInvalidated: Bool { state == .acting }

    /// Whether the timeline that is on its way may be older than the newest reason for one.
    package var isDirty: Bool { dirtyCause != nil }

    /// Whether a call to a provider is out or waits for one.
    package var hasCall: Bool {
        switch state {
        case .loading, .reloading, .acting: true
        case .placeholder, .shown, .removed: false
        }
    }

    /// Why the next reload costs nothing, whatever it is for: the last one that was to be exempt asked nobody.
    package var owed: ReloadExemption? { hasCall ? nil : charge.exemption }

    /// Whether a timeline is asked for.
    package var isAsking: Bool { state == .loading || state == .reloading }

    /// The earliest date at which something happens by itself, and what.
    ///
    /// A reload that is on its way or held comes before those of policies and retries. The end of a relevance is not
    /// among them: it changes the Smart Stack, and this widget only where its first place goes.
    package var next: (at: Instant, cause: NextCause) {
        var next = (at: nextEntryAt, cause: NextCause.entry)
        guard !hasCall else { return next }
        if let hold {
            if hold.until < next.at { next = (hold.until, .held) }
            return next
        }
        if policyAt < next.at { next = (policyAt, .policy) }
        if retryAt < next.at { next = (retryAt, .retry) }
        return next
    }

    private var asking: WidgetState { hasEntry ? .reloading : .loading }
    private var resting: WidgetState { hasEntry ? .shown : .placeholder }

    // MARK: Placing

    /// A person placed it: its first timeline is asked for.
    package static func added(at now: Instant, isOnTop: Bool) -> (machine: WidgetMachine, steps: Steps) {
        let machine = WidgetMachine(at: now, isOnTop: isOnTop)
        return (machine, Steps(Step(nil, .added, machine, .added, call: .askTimeline, charge: machine.charge)))
    }

    /// A person configured it: what it showed belongs to another configuration.
    package mutating func configured(at now: Instant) -> Steps {
        guard state != .removed else { return Steps() }
        let before = self
        self = WidgetMachine(at: now, isOnTop: before.isOnTop)
        cause = .configuration
        previousReloadAt = before.lastReloadAt
        return Steps(
            Step(
                before.state, .configured, self, .configured, cancels: before.hasCall, call: .askTimeline,
                charge: charge))
    }

    /// It is to be drawn otherwise: nobody is asked.
    package mutating func rendered() -> Steps {
        guard state != .removed else { return Steps() }
        cause = .command
        return Steps(Step(state, .configured, self, .rendered))
    }

    /// It was removed.
    package mutating func removed(_ why: WidgetCause) -> Steps {
        guard state != .removed else { return Steps() }
        let from = state
        let hadCall = hasCall
        state = .removed
        cause = why
        (hold, dirtyCause) = (nil, nil)
        (nextEntryAt, policyAt, retryAt, relevanceEndsAt) = (.never, .never, .never, .never)
        return Steps(Step(from, .removed, self, .removed, cancels: hadCall))
    }

    // MARK: Reloads

    /// Whether a reload for this reason would do anything: what is only good for a widget without an entry, with one
    /// that failed, or with a timeline that is over, does nothing to the others.
    package func needs(_ why: WidgetCause) -> Bool {
        switch why {
        case .registration, .providerLost: !hasEntry && !isAsking || failure != .none || isOver
        case .visible: !hasCall && (failure != .none || isOver)
        case .command, .request, .push, .entry, .atEnd, .after, .retry, .held, .location, .locale, .appearance,
            .foreground, .session, .standBy, .developerMode, .action, .configuration, .provider, .timeout, .person,
            .recovery, .stack, .uninstall:
            true
        }
    }

    /// Whether a reload that was asked for at a date may have done nothing to it: none was asked for later, nor is one held
    /// or to be tried again. One of that very date may have been before it, where the clock stands.
    func missed(reloadAt date: Instant) -> Bool {
        !hasCall && state != .removed && hold == nil && failure == .none && lastReloadAt <= date
    }

    /// Its timeline is to be asked for again, as far as that is allowed. One whose timeline is on its way is asked once
    /// more; one whose action runs is asked anyway when that is through; one that is held waits on.
    package mutating func reload(_ why: WidgetCause, _ admission: Admission, at now: Instant) -> Steps {
        switch state {
        case .acting, .removed: return Steps()
        case .loading, .reloading:
            // A provider that came or went is no newer reason than the call that is on its way.
            guard why != .registration, why != .providerLost else { return Steps() }
            if dirtyCause == nil || why.exemption != nil { dirtyCause = why }
            return Steps()
        case .placeholder, .shown:
            if case .held = admission, hold != nil {
                if let merged = hold?.merged, merged < .max { hold?.merged = merged + 1 }
                return Steps()
            }
            return Steps(ask(why, admission, rule: why.rule, at: now))
        }
    }

    /// Asks, or is held.
    private mutating func ask(
        _ why: WidgetCause, _ admission: Admission, rule: WidgetRule, due: Instant = .never, at now: Instant
    ) -> Step {
        let from = state
        cause = why
        switch admission {
        case .held(let until, let reason, let holding):
            // A hold that must wait on keeps what it was made of.
            hold = Hold(until: until, reason: reason, cause: hold?.cause ?? why, merged: hold?.merged ?? 0)
            retryAt = .never
            return Step(from, .held, self, holding, due: due)
        case .charged: charge = .charged
        case .exempt(let exemption): charge = .exempt(exemption)
        }
        state = asking
        (hold, dirtyCause, retryAt) = (nil, nil, .never)
        (previousReloadAt, lastReloadAt) = (lastReloadAt, now)
        return Step(from, .reloading, self, rule, due: due, call: .askTimeline, charge: charge)
    }

    // MARK: Timelines

    /// The provider's timeline came.
    ///
    /// - Parameters:
    ///   - showing: what of it is shown now; without an entry, what is shown stays until the first one's date.
    ///   - policyAt: when its policy asks for the next one; `never`: not by itself.
    ///
    /// One that is older than the newest reason for a timeline is shown like any other: the owner then reloads it for
    /// ``dirtyCause``, as it was before.
    package mutating func timelineArrived(
        _ timeline: Arrival, policyAt newPolicyAt: Instant, at now: Instant
    ) -> Steps {
        precondition(isAsking, "a timeline that was not asked for")
        let from = state
        let wasFirst = !timelineAt.isSet
        entryCount = timeline.count
        policy = timeline.policy
        needsLogin = timeline.needsLogin
        timelineAt = now
        policyAt = newPolicyAt
        (failure, failures, retryAt, isOver) = (.none, 0, .never, false)
        entryIndex = nil
        take(timeline.showing)
        state = resting
        cause = .provider
        charge = .none
        dirtyCause = nil
        let rule: WidgetRule = needsLogin ? .loginEntry : wasFirst ? .firstTimeline : .newTimeline
        return Steps(Step(from, .timeline, self, rule))
    }

    private mutating func take(_ showing: Showing) {
        nextEntryAt = showing.nextAt
        guard let index = showing.index else { return }
        entryIndex = index
        hasEntry = true
        shownAt = showing.shownAt
        score = showing.score
        relevanceEndsAt = showing.relevanceEndsAt
    }

    /// Its timeline could not be had: what is shown stays, and it is asked for later.
    ///
    /// - Parameters:
    ///   - askedNobody: whether no provider was asked, so that the reload is not charged.
    ///   - retryAt: `never` where only another provider can help.
    ///   - spacing: the least time between two reloads.
    package mutating func timelineFailed(
        _ why: CallFailure, askedNobody: Bool, retryAt newRetryAt: Instant, spacing: Milliseconds, at now: Instant
    ) -> Steps {
        precondition(isAsking, "a timeline that was not asked for")
        let from = state
        failure = why
        if failures < .max { failures += 1 }
        let refund = askedNobody ? charge : .none
        if askedNobody { lastReloadAt = previousReloadAt }
        // What a person did, or what changed on the device, is still to be drawn, whenever somebody can be asked.
        if !askedNobody || charge.exemption?.outlastsFailure != true { charge = .none }
        if charge == .none, timelineAt.isSet, let newer = dirtyCause?.exemption, newer.outlastsFailure {
            charge = .exempt(newer)
        }
        dirtyCause = nil
        retryAt = newRetryAt
        // A policy's date that passed meanwhile must not ask again before the retry does.
        if policyAt <= now {
            (isOver, policyAt) = (true, .never)
        } else if policyAt.isSet, lastReloadAt.isSet {
            policyAt = max(policyAt, lastReloadAt + spacing)
        }
        state = resting
        cause = why.widgetCause
        var step = Step(from, .failed, self, from == .loading ? .firstTimelineFailed : .timelineFailed)
        step.refund = refund
        return Steps(step)
    }

    // MARK: Dates

    /// The next entry's date is there.
    package mutating func entryReached(_ showing: Showing, due: Instant, coalesces: Bool) -> Steps {
        guard state != .removed, showing.index != nil else { return Steps() }
        let from = state
        take(showing)
        cause = .entry
        switch state {
        case .loading: state = .reloading
        case .placeholder: state = .shown
        case .shown, .reloading, .acting, .removed: break
        }
        return Steps(Step(from, .entry, self, coalesces ? .entriesCoalesced : .entryShown, due: due))
    }

    /// The date of its policy, of a try after a failure, or of a reload that was held is there.
    package mutating func reloadReached(_ admission: Admission, at now: Instant) -> Steps {
        let next = next
        switch next.cause {
        case .entry, .relevance: return Steps()
        case .policy:
            (policyAt, isOver) = (.never, true)
            let why: WidgetCause =
                switch policy {
                case .atEnd, .never: .atEnd
                case .after: .after
                }
            return Steps(ask(why, admission, rule: why.rule, due: next.at, at: now))
        case .retry:
            retryAt = .never
            return Steps(ask(.retry, admission, rule: .retried, due: next.at, at: now))
        case .held: return Steps(ask(.held, admission, rule: .heldRun, due: next.at, at: now))
        }
    }

    // MARK: Interaction

    /// A person tapped it or one of its links, which opens its app.
    package mutating func tapped() -> Steps {
        guard state != .removed else { return Steps() }
        cause = .person
        return Steps(Step(state, .tapped, self, .tapped))
    }

    /// A person used a button or toggle in it: the action runs, and what it shows is marked. Only for one that shows an
    /// entry and does not act.
    ///
    /// The reload that comes after it serves whatever is held or was to be tried again.
    package mutating func act() -> Steps {
        precondition(hasEntry && state != .acting && state != .removed, "an action of what is not shown")
        let from = state
        let hadCall = hasCall
        state = .acting
        cause = .person
        (hold, dirtyCause, retryAt, charge) = (nil, nil, .never, .none)
        return Steps(Step(from, .acting, self, .actionBegun, cancels: hadCall, call: .perform))
    }

    /// The action was through: its timeline is asked for, and that costs nothing.
    package mutating func performed(at now: Instant) -> Steps {
        precondition(state == .acting, "an action that did not run")
        failure = .none
        var step = ask(.action, .exempt(.intent), rule: .performed, at: now)
        step.name = .performed
        return Steps(step)
    }

    /// The action failed, or nobody knows what became of it: what its provider holds now is asked for.
    package mutating func performFailed(_ why: CallFailure, at now: Instant) -> Steps {
        precondition(state == .acting, "an action that did not run")
        return failed(why, cause: why.widgetCause, then: .action, .performFailed, at: now)
    }

    private mutating func failed(
        _ why: CallFailure, cause newCause: WidgetCause, then reason: WidgetCause, _ rule: WidgetRule, at now: Instant
    ) -> Steps {
        let from = state
        failure = why
        state = resting
        cause = newCause
        var steps = Steps(Step(from, .failed, self, rule))
        steps.append(ask(reason, .exempt(.intent), rule: .reloadExempt, at: now))
        return steps
    }

    // MARK: The device, restarts

    /// It came to the top of its device's Smart Stack, or left it.
    ///
    /// - Parameter due: the date that made it; `never` where none did.
    package mutating func rotated(isOnTop newIsOnTop: Bool, due: Instant = .never) -> Steps {
        guard state != .removed, isOnTop != newIsOnTop else { return Steps() }
        isOnTop = newIsOnTop
        cause = .stack
        return Steps(Step(state, .rotated, self, .stackRotated, due: due))
    }

    /// The service was restarted, perhaps with other rules: a reload that is held waits no longer than these say.
    ///
    /// - Parameter admission: what they say of it now.
    package mutating func heldAnew(_ admission: Admission, at now: Instant) -> Steps {
        guard let hold else { return Steps() }
        if case .held(let until, _, _) = admission, until >= hold.until { return Steps() }
        return Steps(ask(.held, admission, rule: .heldRun, at: now))
    }

    /// The service was restarted. A timeline that was on its way is asked for again, and not charged twice; an action
    /// that ran may have been performed or not, and is never performed again.
    package mutating func restarted(at now: Instant) -> Steps {
        switch state {
        case .loading, .reloading:
            dirtyCause = nil
            return Steps()
        case .acting:
            return failed(.unknownOutcome, cause: .recovery, then: .recovery, .restartedWhileActing, at: now)
        case .placeholder, .shown, .removed: return Steps()
        }
    }
}
