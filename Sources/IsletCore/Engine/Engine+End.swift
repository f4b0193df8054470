extension Engine {
    /// `activity.end` (rows 10, 22 to 26, 36, 37 and 41).
    mutating func end(
        _ end: ActivityEnd, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        let slot: Slot
        let before: ActivityRecord
        let policy = end.dismissalPolicy
        switch reach(end.address, .newest, envelope, frame, now, dating, dropping: { $0.dropsEnd(policy) }) {
        case .reached(let reached, let record): (slot, before) = (reached, record)
        case .settled(let outcome): return outcome
        }
        let timestamp = end.timestamp ?? now
        let isRunning = before.state == .active || before.state == .stale
        if isRunning,
            let dropped = before.machine.dropsEnd(timestamp: timestamp, at: now, source: envelope.source, rules)
        {
            return ignore(slot, dropped, envelope, at: now, frame)
        }
        var changes = Changes()
        // An ended card shows its last content for good (row 35), so only one that runs takes a final content.
        if isRunning, let content = end.contentState {
            if let refusal = refusal(ofContent: content, for: before) {
                return refuse(slot, .contentLimit, refusal, envelope, at: now, frame)
            }
            changes.content = !payloads.withBytes(before.content) { frame.equals(content, $0) }
            if changes.content { payloads.replaceSecond(of: &activities[slot].payload, by: content, of: frame) }
        }
        let steps = activities[slot].machine.ended(
            at: now, policy: end.dismissalPolicy, timestamp: timestamp, source: envelope.source, rules)
        take(
            steps, of: slot, before: before.machine, changes, asker: Asker(envelope: envelope, isCommand: true),
            at: now, frame)
        return .applied(activities.reference(to: slot))
    }

    /// `activity.dismiss` (rows 28 and 39).
    mutating func dismiss(
        _ dismiss: ActivityDismiss, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        let slot: Slot
        let before: ActivityRecord
        switch reach(dismiss.address, .newest, envelope, frame, now, dating, dropping: { $0.dropsRemoval }) {
        case .reached(let reached, let record): (slot, before) = (reached, record)
        case .settled(let outcome): return outcome
        }
        let steps = activities[slot].machine.removed(at: now, by: dismiss.by)
        take(steps, of: slot, before: before.machine, asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .applied(activities.reference(to: slot))
    }

    /// `activity.renew`: ends one at once and starts a linked one with the same attributes, before the 8 hours are over.
    mutating func renew(
        _ renew: ActivityRenew, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating,
        _ freshID: EntityID
    ) -> Outcome {
        let slot: Slot
        let before: ActivityRecord
        switch reach(renew.address, .holder, envelope, frame, now, dating, dropping: { $0.refusesContent }) {
        case .reached(let reached, let record): (slot, before) = (reached, record)
        case .settled(let outcome): return outcome
        }
        // What it goes on with may be too large by now: a rule set of a later start has another limit.
        let content = renew.contentState ?? FrameRange(offset: 0, count: before.content.count)
        if let refusal = refusal(ofContent: content, for: before) {
            return refuse(slot, .contentLimit, refusal, envelope, at: now, frame)
        }
        let asker = Asker(envelope: envelope, isCommand: true)
        renewals[slot, default: RenewalLinks()].renewedBy = freshID
        activities[slot].hasRenewalLinks = true
        let ending = activities[slot].machine.renewed(at: now)
        take(ending, of: slot, before: before.machine, Changes(renewal: true), asker: asker, at: now, frame)

        let (machine, steps) = ActivityMachine.started(
            at: now, staleDate: renew.staleDate ?? .never, style: before.machine.style, cause: .renewal)
        var payload = duplicate(activities[slot].payload, first: activities[slot].alertRange.lowerBound)
        if let content = renew.contentState { payloads.replaceSecond(of: &payload, by: content, of: frame) }
        var successor = ActivityRecord(
            id: freshID, machine: machine, payload: payload, revision: 0, kind: before.kind, device: before.device,
            ordinal: nextOrdinal(), attributesCount: before.attributesCount, keyCount: before.keyCount,
            pushTypeCount: before.pushTypeCount)
        successor.hasRenewalLinks = true
        let newSlot = index(successor)
        setRelevanceScore(relevanceScore(of: slot, before), of: newSlot)
        renewals[newSlot] = RenewalLinks(renews: before.id, renewedBy: nil)
        take(steps, of: newSlot, before: nil, Changes(content: true, relevance: true), asker: asker, at: now, frame)
        return .applied(activities.reference(to: newSlot))
    }
}
