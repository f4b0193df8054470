extension Engine {
    /// `activity.update` (rows 9, 13 to 18, 20, 21, 35 and 41). The hot path: nothing is allocated.
    mutating func update(
        _ update: ActivityUpdate, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        let slot: Slot
        let before: ActivityRecord
        switch reach(update.address, .newest, envelope, frame, now, dating, dropping: { $0.refusesContent }) {
        case .reached(let reached, let record): (slot, before) = (reached, record)
        case .settled(let outcome): return outcome
        }
        let timestamp = update.timestamp ?? now
        if let dropped = before.machine.drops(timestamp: timestamp, at: now, source: envelope.source, rules) {
            return ignore(slot, dropped, envelope, at: now, frame)
        }
        if let refusal = refusal(ofContent: update.contentState, for: before) {
            return refuse(slot, .contentLimit, refusal, envelope, at: now, frame)
        }
        let staleDate = update.staleDate ?? .never
        let relevance = update.relevanceScore ?? 0
        let relevanceBefore = relevanceScore(of: slot, before)
        let contentChanged = !payloads.withBytes(before.content) { frame.equals(update.contentState, $0) }
        if rules.ignoresUnchangedUpdates, !contentChanged, update.alert == nil, staleDate == before.machine.staleDate,
            relevance == relevanceBefore
        {
            if activities[slot].machine.signOfLife(at: now).isEmpty {
                arm(slot)
                if rules.watchesHeartbeats { note(activity: slot) }
                return ignore(slot, (.unchanged, .unchanged), envelope, at: now, frame)
            }
            // Its silence had made it stale: this update brings it back, so it does change something.
            activities[slot].machine = before.machine
        }
        var changes = Changes(content: contentChanged, relevance: relevance != relevanceBefore)
        if let alert = update.alert { changes.alert = .inFrame(alert) }
        if contentChanged { payloads.replaceSecond(of: &activities[slot].payload, by: update.contentState, of: frame) }
        if changes.relevance { setRelevanceScore(relevance, of: slot) }
        let steps = activities[slot].machine.updated(
            at: now, staleDate: staleDate, timestamp: timestamp, source: envelope.source)
        take(
            steps, of: slot, before: before.machine, changes, asker: Asker(envelope: envelope, isCommand: true),
            at: now, frame)
        return .applied(activities.reference(to: slot))
    }

    /// `activity.heartbeat`: only the heartbeat rules, and only while they are on, make it do anything.
    mutating func heartbeat(
        _ address: ActivityAddress, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        guard rules.watchesHeartbeats else {
            return .refused(.unavailable(.ruleOff))
        }
        let slot: Slot
        let before: ActivityRecord
        switch reach(address, .holder, envelope, frame, now, dating, dropping: { $0.refusesContent }) {
        case .reached(let reached, let record): (slot, before) = (reached, record)
        case .settled(let outcome): return outcome
        }
        let steps = activities[slot].machine.signOfLife(at: now)
        take(steps, of: slot, before: before.machine, asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        if steps.isEmpty { note(activity: slot) }
        arm(slot)
        return .applied(activities.reference(to: slot))
    }

    /// `activity.tap`: opens its app; an event, and nothing else.
    mutating func tap(
        _ tap: ActivityTap, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        let slot: Slot
        let before: ActivityRecord
        switch reach(tap.address, .newest, envelope, frame, now, dating, dropping: { $0.refusesContent }) {
        case .reached(let reached, let record): (slot, before) = (reached, record)
        case .settled(let outcome): return outcome
        }
        var changes = Changes()
        if let url = tap.url {
            changes.url = FrameRange(offset: interactionBytes.count, count: Int(url.count))
            interactionBytes += frame.bytes(url)
        }
        let steps = activities[slot].machine.tapped()
        take(
            steps, of: slot, before: before.machine, changes, asker: Asker(envelope: envelope, isCommand: true),
            at: now, frame)
        return .applied(activities.reference(to: slot))
    }

    /// Why a content state is too large beside the attributes (apple-semantics 2.5), or nil.
    func refusal(ofContent content: FrameRange, for record: ActivityRecord) -> Refusal? {
        let bytes = Int(record.attributesCount) + Int(content.count)
        guard bytes > rules.contentLimit else { return nil }
        return .authorization(.attributesTooLarge(bytes: bytes, limit: rules.contentLimit))
    }
}
