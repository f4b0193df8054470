/// Reloads with their budget, and what calls to providers came to.
extension Engine {
    /// The least time between a reload and the one that a policy asks for, whatever the rules say: a provider whose
    /// policies are always past must not be asked without end at one date.
    static let shortestPolicySpan: Milliseconds = 1_000

    // MARK: One reload

    mutating func reload(
        widget slot: Slot, _ cause: WidgetCause, _ asker: Asker, at now: Instant, _ frame: Span<UInt8> = Span()
    ) {
        let before = widgets.slab[slot].machine
        let admission = admission(of: slot, cause, at: now)
        let steps = widgets.slab[slot].machine.reload(cause, admission, at: now)
        let after = widgets.slab[slot].machine
        if steps.isEmpty, after.hold?.merged != before.hold?.merged {
            widgets.changedSlots.insert(slot)
            if isJournalled { notes.append(.heldReload(slot)) }
            log(widget: slot, .heldMerged, .merged, from: before.state, to: after, asker: asker, at: now, frame)
        }
        take(steps, ofWidget: slot, before: before, asker: asker, at: now, frame)
    }

    /// Whether a widget may be reloaded now (apple-semantics 5, budget, learning, exempt, not enforced).
    func admission(of slot: Slot, _ cause: WidgetCause, at now: Instant) -> WidgetMachine.Admission {
        let record = widgets.slab[slot]
        if let exemption = exemption(of: record, cause) { return .exempt(exemption) }
        let free = ledger(of: record).freeAt(now, addedAt: record.addedAt, rules)
        let last = record.machine.lastReloadAt
        let spaced = last.isSet ? last + rules.widgetReloadSpacing : now
        if free > now {
            let isLearning = ReloadLedger.isLearning(at: now, addedAt: record.addedAt, rules)
            return .held(until: max(free, spaced), .budget, by: isLearning ? .learningBudget : .budgetSpent)
        }
        return spaced > now ? .held(until: spaced, .spacing, by: .reloadSpacing) : .charged
    }

    /// Why a reload is not charged: its reason itself, that there is nothing to show yet, or what the app does on the
    /// device and how the device stands.
    private func exemption(of record: WidgetRecord, _ cause: WidgetCause) -> ReloadExemption? {
        if let exemption = cause.exemption ?? record.machine.owed { return exemption }
        // A provider that has given a timeline was asked for its placement, be all its entries ahead.
        if !record.machine.hasEntry, !record.machine.timelineAt.isSet { return .placement }
        if let conditions = conditions(of: record) {
            let app = widgets.kinds.app(of: record.kind)
            if conditions.foregroundApps.contains(app) { return .foreground }
            if conditions.sessionApps.contains(app) { return .session }
            if conditions.isInStandBy { return .standBy }
        }
        return isInDeveloperMode(record) ? .developerMode : nil
    }

    private func conditions(of record: WidgetRecord) -> DeviceConditions? {
        guard !widgets.conditions.isEmpty, let device = record.device else { return nil }
        return widgets.conditions[devices.name(device)]
    }

    func isInDeveloperMode(_ record: WidgetRecord) -> Bool {
        rules.widgetDeveloperMode || conditions(of: record)?.isInDeveloperMode == true
    }

    func entrySpacing(of record: WidgetRecord) -> Milliseconds {
        isInDeveloperMode(record) ? 0 : rules.widgetEntrySpacing
    }

    private func policySpacing(of record: WidgetRecord) -> Milliseconds {
        isInDeveloperMode(record) ? Self.shortestPolicySpan : max(rules.widgetReloadSpacing, Self.shortestPolicySpan)
    }

    // MARK: What calls came to

    /// A provider answered the call that a widget waits for, its newest.
    ///
    /// - Parameter timeline: nil for an action. It was checked, and its entries lie in the frame.
    package mutating func widgetAnswered(
        _ reference: SlotRef, isAction: Bool, timeline: WidgetTimeline?, _ frame: Span<UInt8>, at now: Instant
    ) {
        guard widgets.slab.isCurrent(reference) else { return }
        let slot = reference.slot
        settle(widget: slot, at: now, .whenNoticed)
        let before = widgets.slab[slot].machine
        guard before.hasCall, isAction == (before.state == .acting) else { return }
        guard !isAction else {
            let steps = widgets.slab[slot].machine.performed(at: now)
            return take(steps, ofWidget: slot, before: before, asker: .nobody, at: now)
        }
        guard let timeline, let last = timeline.entries.last else {
            return widgetCallFailed(reference, isAction: false, .badAnswer, at: now)
        }
        let record = widgets.slab[slot]
        let entries = timeline.entries
        let spacing = entrySpacing(of: record)
        let course = TimelineCourse(entries, at: now, askedAt: before.lastReloadAt, spacing: spacing)
        guard keep(timeline, course, of: slot, frame) else {
            return widgetCallFailed(reference, isAction: false, .badAnswer, at: now)
        }
        let arrival = WidgetMachine.Arrival(
            count: UInt16(entries.count), policy: timeline.effectivePolicy, needsLogin: timeline.needsLogin,
            showing: WidgetMachine.Showing(course, of: entries))
        var changes = WidgetEvent.Changes()
        (changes.timeline, changes.entry) = (true, course.index != nil)
        changes.pastEntriesDropped = course.index.map { $0 > 0 } ?? false
        var future = course
        changes.entriesCoalesced =
            future.advance(entries, to: last.date + spacing, spacing: spacing)?.coalesces ?? false
        let steps = widgets.slab[slot].machine.timelineArrived(
            arrival, policyAt: policyDate(of: record, timeline.effectivePolicy, last: last.date, at: now), at: now)
        take(steps, ofWidget: slot, before: before, changes, asker: .nobody, at: now)
        if changes.pastEntriesDropped { noteTimeline(of: slot, .pastEntriesDropped, at: now) }
        if changes.entriesCoalesced { noteTimeline(of: slot, .entriesCoalesced, at: now) }
        // It may be older than the newest reason for one.
        if let cause = before.dirtyCause { reload(widget: slot, cause, .nobody, at: now) }
    }

    /// Stores a timeline, and keeps the entry that is shown where all of the new ones are ahead; false where it does
    /// not fit.
    private mutating func keep(
        _ timeline: WidgetTimeline, _ course: TimelineCourse, of slot: Slot, _ frame: Span<UInt8>
    ) -> Bool {
        let bytes = TimelineBlob.bytes(
            of: timeline, frame, firstIndex: course.index, firstShownAt: course.shownAt)
        guard let bytes else { return false }
        let record = widgets.slab[slot]
        if course.index != nil {
            dropCarried(of: slot)
        } else if record.machine.entryIndex != nil {
            replace(\.carried, of: slot, by: withEntry(of: record) { [UInt8]($0) })
        }
        replace(\.timeline, of: slot, by: bytes)
        return true
    }

    /// An entry of the present timeline is shown: the one that was carried over is not any more.
    mutating func dropCarried(of slot: Slot) {
        if widgets.slab[slot].carried.count > 0 { replace(\.carried, of: slot, by: []) }
    }

    /// When the next timeline is asked for by itself (apple-semantics 5, the policies and the herd effect): at the end
    /// or after a date and never before it, and not closer to the last reload than two of them may be.
    private func policyDate(
        of record: WidgetRecord, _ policy: TimelineReloadPolicy, last: Instant, at now: Instant
    ) -> Instant {
        let asked = record.machine.lastReloadAt.isSet ? record.machine.lastReloadAt : now
        // What came late may be over already; it is not asked for in the past.
        let earliest = max(now, asked + policySpacing(of: record))
        // Nor beyond all dates: no clock comes there.
        guard earliest < .endOfDates else { return .never }
        switch policy {
        case .never: return .never
        case .atEnd: return max(last, earliest)
        case .after(let date): return max(min(date + jitter(record.id, date, at: now), .lastDate), earliest)
        }
    }

    /// A widget's own span, so that those with one date do not all ask at once: at most a tenth of the way there.
    private func jitter(_ id: EntityID, _ date: Instant, at now: Instant) -> Milliseconds {
        guard date.isSet, date > now else { return 0 }
        let range = min(max(0, rules.widgetReloadJitter), (date - now) / 10)
        var hash = TopicHash().appending(id)
        withUnsafeBytes(of: date.milliseconds.littleEndian) { for byte in $0 { hash.combine(byte) } }
        return Milliseconds(hash.value % UInt64(range + 1))
    }

    private mutating func noteTimeline(of slot: Slot, _ rule: WidgetRule, at now: Instant) {
        // Behind its own event it may have been rotated.
        guard let event = widgets.events.last(where: { $0.slot == slot && $0.name == .timeline }) else { return }
        log(
            widget: slot, rule, .applied(name: .timeline, seq: event.seq, revision: event.revision),
            from: event.after.state, to: event.after, asker: .nobody, at: now, Span())
    }

    /// The call that a widget waits for, its newest, did not end well.
    ///
    /// - Parameters:
    ///   - wasSent: whether any provider got it. One that nobody got is not charged, whatever ended it.
    ///   - reason: what the provider said of it that threw: a JSON string with its quotes; empty: nothing.
    package mutating func widgetCallFailed(
        _ reference: SlotRef, isAction: Bool, _ failure: CallFailure, wasSent: Bool = true, reason: [UInt8] = [],
        at now: Instant
    ) {
        guard widgets.slab.isCurrent(reference) else { return }
        let slot = reference.slot
        let record = widgets.slab[slot]
        let before = record.machine
        guard before.hasCall, isAction == (before.state == .acting) else { return }
        let steps: WidgetMachine.Steps
        var changes = WidgetEvent.Changes()
        if failure == .threw { changes.failureReason = setFailureReason(reason, ofWidget: slot) }
        if isAction {
            steps = widgets.slab[slot].machine.performFailed(failure, at: now)
        } else {
            let spacing = isInDeveloperMode(record) ? 0 : rules.widgetReloadSpacing
            let askedNobody = !wasSent || failure.askedNobody
            var retryAt = Instant.never
            // Where nobody provides the kind, only somebody who comes can help.
            if failure != .noProvider {
                retryAt = now + Engine.backoff(
                    record.id, failures: Int(before.failures), first: rules.widgetRetryFirst,
                    longest: rules.widgetRetryLongest)
                let last = askedNobody ? before.previousReloadAt : before.lastReloadAt
                if before.timelineAt.isSet, last.isSet { retryAt = max(retryAt, last + spacing) }
            }
            steps = widgets.slab[slot].machine.timelineFailed(
                failure, askedNobody: askedNobody, retryAt: retryAt, spacing: spacing, at: now)
        }
        take(steps, ofWidget: slot, before: before, changes, asker: .nobody, at: now)
    }

    /// Doubled with each failure, and a fifth more or less, so that what failed together does not come back together.
    package static func backoff(
        _ id: EntityID, failures: Int, first: Milliseconds, longest: Milliseconds
    ) -> Milliseconds {
        let span = min(longest, first << min(failures, 20))
        var hash = TopicHash().appending(id)
        hash.combine(UInt8(truncatingIfNeeded: failures))
        let permille = 800 + Milliseconds(hash.value % 401)
        let jittered = span * permille / 1_000
        // What would be longer than the longest is as much shorter: cut off, half of them would come back together.
        return max(1, jittered > longest ? 2 * longest - jittered : jittered)
    }

    /// An action that nobody waited for any more has ended: what its provider holds by now is asked for.
    package mutating func widgetActedLate(_ reference: SlotRef, at now: Instant) {
        guard widgets.slab.isCurrent(reference) else { return }
        reload(widget: reference.slot, .action, .nobody, at: now)
    }

    // MARK: Kinds

    /// What a kind is, as a provider declares it.
    ///
    /// - Parameter mayReplace: whether nobody else provides it as it was declared before.
    /// - Returns: its number, or the member in which the declaration differs from the one that holds.
    package mutating func declareWidgetKind(
        _ declaration: WidgetKindDeclaration, app name: FrameRange, _ frame: Span<UInt8>, mayReplace: Bool,
        at now: Instant
    ) -> WidgetKindVerdict {
        guard let app = apps.app(name, of: frame),
            let kind = widgets.kinds.kind(app, named: apps[app].name, declaration.kind)
        else { return .tooMany }
        if let known = widgets.kinds[kind].declaration {
            guard let member = declaration.difference(from: known) else { return .declared(kind) }
            let isFixed = widgets.placed(of: kind, lackedBy: declaration) > 0
            guard mayReplace, !isFixed else { return .differs(kind, member) }
        }
        let known = widgets.kinds[kind].declaration
        widgets.kinds.declare(kind, declaration)
        // What was recommended are configurations of these parameters.
        let areOthers = known.map { known in
            !known.parameters.elementsEqual(declaration.parameters, by: { $0.isAlike($1) })
        }
        if !declaration.providesRecommendations || areOthers ?? false {
            widgets.sayings.setRecommendations(nil, of: kind)
        }
        if let relevance = widgets.sayings.relevance[kind] {
            // What configurations leave out is from now on what is declared here.
            let defaults = ConfigurationForm.Defaults(declaration.parameters)
            let new = declaration.providesRelevance ? relevance.fillingIn(defaults) : nil
            if new != relevance {
                widgets.sayings.setRelevance(new, of: kind)
                _ = sweepWidgets(app: app, kind, .stack, at: now)
            }
        }
        note(widgetKind: kind)
        return .declared(kind)
    }

    /// A provider of a kind came, and there was none: the widgets ask that have no entry, failed, or are over.
    package mutating func widgetKindIsProvided(_ kind: DeclaredKindID, at now: Instant) {
        _ = sweepWidgets(app: widgets.kinds.app(of: kind), kind, .registration, at: now)
    }

    /// A provider of a kind was lost while others take its calls: the same widgets ask these.
    package mutating func widgetProviderIsLost(_ kind: DeclaredKindID, at now: Instant) {
        _ = sweepWidgets(app: widgets.kinds.app(of: kind), kind, .providerLost, at: now)
    }
}

/// What became of a declaration.
package enum WidgetKindVerdict: Equatable, Sendable {
    case declared(DeclaredKindID)
    /// Another one holds, and differs in this member.
    case differs(DeclaredKindID, WidgetKindDeclaration.Member)
    /// There are as many kinds or apps as there may be.
    case tooMany
}
