/// The Smart Stack of each device: which of its widgets is the first, and when that may change by itself.
extension Engine {
    /// The Smart Stack of a device (apple-semantics 5); empty where it has no widgets.
    package func smartStack(of deviceName: [UInt8], at now: Instant) -> [StackRow] {
        guard let device = devices.find(deviceName) else { return [] }
        return SmartStack.order(candidates(on: device, at: now)).map(\.row)
    }

    /// Those that take part, in the order of their placing.
    private func candidates(on device: DeviceID, at now: Instant) -> [SmartStack.Candidate] {
        var candidates: [SmartStack.Candidate] = []
        for slot in widgets.onDevice[device] ?? [] where widgets.slab[slot].machine.state != .removed {
            guard candidates.count < SmartStack.maximum else { break }
            candidates.append(candidate(slot, at: now))
        }
        return candidates
    }

    private func candidate(_ slot: Slot, at now: Instant) -> SmartStack.Candidate {
        let record = widgets.slab[slot]
        let machine = record.machine
        var candidate = SmartStack.Candidate(
            slot: slot, id: record.id, kind: record.kind, addedAt: record.addedAt,
            ordinal: record.ordinal)
        if machine.score > 0, machine.relevanceEndsAt > now {
            candidate.score = machine.score
            candidate.scoreUntil = machine.relevanceEndsAt
            candidate.changesAt = machine.relevanceEndsAt
        }
        guard let relevance = widgets.sayings.relevance[record.kind] else { return candidate }
        let verdict = payloads.withBytes(record.configuration) { relevance.verdict(of: $0, at: now) }
        if let place = verdict.place {
            candidate.place = place
            candidate.placeUntil = relevance.list[place].to ?? .never
        }
        candidate.changesAt = min(candidate.changesAt, verdict.changesAt)
        return candidate
    }

    /// The order of a device's stack may have changed: it is looked at now, or when all of its present changes are
    /// made.
    mutating func stackMoved(on device: DeviceID, at now: Instant, due: Instant = .never) {
        guard var unsettled = widgets.unsettledStack, unsettled.device == device else {
            return restack(device, at: now, due: due)
        }
        unsettled.isMoved = true
        unsettled.due = min(unsettled.due, due)
        widgets.unsettledStack = unsettled
    }

    /// Changes many widgets of a device, whose stack is looked at once behind all of them and not once for each.
    mutating func settlingStack(of device: DeviceID, at now: Instant, _ body: (inout Engine) -> Void) {
        widgets.unsettledStack = UnsettledStack(device: device)
        body(&self)
        let left = widgets.unsettledStack
        widgets.unsettledStack = nil
        if let left, left.isMoved { restack(device, at: now, due: left.due) }
    }

    /// Finds the first of a device's stack anew. Where another one is first, both tell it.
    ///
    /// - Parameter due: the date that makes it, where one does.
    mutating func restack(_ device: DeviceID, at now: Instant, due: Instant = .never) {
        let candidates = candidates(on: device, at: now)
        for candidate in candidates where widgets.slab[candidate.slot].stackAt != candidate.changesAt {
            widgets.slab[candidate.slot].stackAt = candidate.changesAt
            arm(widget: candidate.slot)
        }
        let first = SmartStack.order(candidates).first?.slot
        let old = widgets.top[device]
        guard old != first else { return }
        widgets.top[device] = first
        if let old { rotate(old, isOnTop: false, at: now, due) }
        if let first { rotate(first, isOnTop: true, at: now, due) }
    }

    private mutating func rotate(_ slot: Slot, isOnTop: Bool, at now: Instant, _ due: Instant) {
        let before = widgets.slab[slot].machine
        let steps = widgets.slab[slot].machine.rotated(isOnTop: isOnTop, due: due)
        take(steps, ofWidget: slot, before: before, asker: .nobody, at: now)
    }

    // MARK: What providers say of their kinds

    /// When and for which configurations a kind is relevant, as its provider says.
    package mutating func setRelevance(
        _ kind: DeclaredKindID, _ list: [WidgetRelevance], json: [UInt8], at now: Instant
    ) {
        let defaults = ConfigurationForm.Defaults(widgets.kinds[kind].declaration?.parameters ?? [])
        let relevance = KindRelevance(list: list, json: json, defaults: defaults)
        guard widgets.sayings.relevance[kind] != relevance, widgets.sayings.keep(relevance, of: kind) else { return }
        note(widgetKind: kind)
        _ = sweepWidgets(app: widgets.kinds.app(of: kind), kind, .stack, at: now)
    }

    /// What a kind's provider said of its relevance, a JSON array; nil: nothing yet.
    package func relevance(of kind: DeclaredKindID) -> [UInt8]? { widgets.sayings.relevance[kind]?.json }

    /// Keeps what a provider recommends, a JSON array, until it is invalidated.
    package mutating func setRecommendations(_ kind: DeclaredKindID, _ json: [UInt8]) {
        let known = widgets.sayings.recommendations[kind]
        guard known != json, widgets.sayings.keep(json, recommendedOf: kind) || known != nil else { return }
        note(widgetKind: kind)
    }

    /// What a kind's provider recommends; nil where it must be asked.
    package func recommendations(of kind: DeclaredKindID) -> [UInt8]? { widgets.sayings.recommendations[kind] }

    /// What is kept of recommendations of an app, or of one kind of it, is forgotten; how many kinds that is about.
    package mutating func dropRecommendations(_ app: AppID, _ kind: DeclaredKindID? = nil) -> Int {
        if let kind {
            dropRecommendations(of: kind)
            return widgets.kinds[kind].declaration == nil ? 0 : 1
        }
        // In the order of their numbers: the same state makes the same notes.
        for kind in widgets.sayings.recommendations.keys.filter({ widgets.kinds.app(of: $0) == app }).sorted() {
            dropRecommendations(of: kind)
        }
        return widgets.kinds.declaredCount(of: app)
    }

    private mutating func dropRecommendations(of kind: DeclaredKindID) {
        guard widgets.sayings.recommendations[kind] != nil else { return }
        widgets.sayings.setRecommendations(nil, of: kind)
        note(widgetKind: kind)
    }

    /// A kind's declaration, relevance or recommendations changed, which no event tells.
    mutating func note(widgetKind kind: DeclaredKindID) {
        widgetKindChanged(kind)
        if isJournalled { notes.append(.widgetKind(kind)) }
    }

    /// The next snapshot writes this kind.
    mutating func widgetKindChanged(_ kind: DeclaredKindID) {
        guard !widgets.kinds[kind].isChanged else { return }
        widgets.kinds[kind].isChanged = true
        widgets.changedKinds.append(kind)
    }
}
