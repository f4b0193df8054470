/// What turns a widget's steps into revisions, events, digests, timers, ledgers and calls: the one place where a
/// widget's record changes its state.
extension Engine {
    /// Takes the steps of a widget: the machine in the record is already the last one. Changes and interaction belong
    /// to the first step.
    ///
    /// - Parameter now: the date of the steps: that of the deadline where one made them and the clock stops at each.
    mutating func take(
        _ steps: WidgetMachine.Steps, ofWidget slot: Slot, before: WidgetMachine?,
        _ changes: WidgetEvent.Changes = WidgetEvent.Changes(), _ interaction: WidgetEvent.Interaction? = nil,
        asker: Asker, at now: Instant, _ frame: Span<UInt8> = Span()
    ) {
        guard let first = steps.first else { return }
        take(first, ofWidget: slot, before: before, changes, interaction, asker: asker, at: now, frame)
        if let second = steps.second {
            take(
                second, ofWidget: slot, before: first.machine, WidgetEvent.Changes(), nil, asker: asker, at: now, frame)
        }
        arm(widget: slot)
        if first.name.movesStack, let device = widgets.slab[slot].device { stackMoved(on: device, at: now) }
    }

    private mutating func take(
        _ step: WidgetMachine.Step, ofWidget slot: Slot, before: WidgetMachine?, _ changes: WidgetEvent.Changes,
        _ interaction: WidgetEvent.Interaction?, asker: Asker, at now: Instant, _ frame: Span<UInt8>
    ) {
        var changes = changes
        if pay(step, slot, at: now) { changes.ledger = true }
        if step.machine.failure != .threw, widgets.slab[slot].failureReason.count > 0 {
            changes.failureReason = setFailureReason([], ofWidget: slot)
        }
        widgets.slab[slot].revision += 1
        if step.givesUpAction { widgets.slab[slot].actionGivenUpAt = now }
        widgets.slab[slot].dates.take(
            isOtherState: before?.state != step.machine.state, isFailing: step.machine.failure != .none,
            at: min(now, step.due))
        let record = widgets.slab[slot]
        let kind = widgets.kinds[record.kind]
        let app = kind.app
        let topicHash = kind.topicHash.appending(record.id)
        let isListed = step.machine.state != .removed
        if before != nil { toggle(topicHash, UInt64(record.revision) - 1, app, widget: slot, isAdded: false) }
        if isListed { toggle(topicHash, UInt64(record.revision), app, widget: slot, isAdded: true) }
        let change = (isListed ? 1 : 0) - (before != nil ? 1 : 0)
        if let before { widgets.countByState[Int(before.state.rawValue)] -= 1 }
        if isListed { widgets.countByState[Int(step.machine.state.rawValue)] += 1 }
        apps[app].entities += change
        entityCount += change
        apps[app].seq += 1
        let previous = record.lastSeq
        widgets.slab[slot].lastSeq = apps[app].seq
        widgets.changedSlots.insert(slot)
        appChanged(app)
        widgets.events.append(
            WidgetEvent(
                name: step.name, slot: slot, id: record.id, kind: record.kind, app: app, seq: apps[app].seq,
                previous: previous, at: now, lateBy: step.due.isSet ? max(0, now - min(now, step.due)) : nil,
                before: before, after: step.machine, revision: record.revision, rule: step.rule,
                isByCommand: asker.isCommand, changes: changes, timeline: record.timeline, carried: record.carried,
                dates: record.dates, failureReason: record.failureReason, exemption: step.exemption,
                interaction: interaction, position: eventCount))
        log(
            widget: slot, step.rule, .applied(name: step.name, seq: apps[app].seq, revision: record.revision),
            from: before?.state, to: step.machine, exemption: step.exemption, asker: asker, at: now, frame)
        call(step, slot)
    }

    /// Charges what a step asks for, or gives back what it could not have; whether the ledger changed.
    private mutating func pay(_ step: WidgetMachine.Step, _ slot: Slot, at now: Instant) -> Bool {
        guard step.charge != .none || step.refund != .none else { return false }
        var ledger = ledger(of: widgets.slab[slot])
        switch step.charge {
        case .none: break
        case .charged: ledger.charge(at: now)
        case .exempt(let exemption): ledger.note(exemption)
        }
        ledger.refund(step.refund)
        let bytes = ledger.bytes
        payloads.replace(&widgets.slab[slot].ledger, by: FrameRange(0..<bytes.count), of: bytes.span)
        return true
    }

    /// What a step wants of providers.
    private mutating func call(_ step: WidgetMachine.Step, _ slot: Slot) {
        let isAwaited = step.machine.cause.isSomebodys
        if step.cancels { append(.cancel(isRemoved: step.machine.state == .removed), widget: slot, isAwaited) }
        switch step.call {
        case nil: break
        case .askTimeline: append(.askTimeline, widget: slot, isAwaited)
        case .perform: append(.perform, widget: slot, isAwaited)
        }
    }

    /// Wants something of a provider, which replaces whatever was wanted before.
    ///
    /// - Parameter isAwaited: whether somebody waits for it.
    mutating func append(_ call: WidgetCall.Kind, widget slot: Slot, _ isAwaited: Bool) {
        widgets.slab[slot].callSerial &+= 1
        let record = widgets.slab[slot]
        widgets.calls.append(
            WidgetCall(
                widget: widgets.reference(to: slot), widgetKind: record.kind, serial: record.callSerial, kind: call,
                isAwaited: isAwaited))
    }

    /// Arms the widget's one timer, or disarms it.
    mutating func arm(widget slot: Slot) {
        let next = widgets.slab[slot].deadline
        if next.isSet { widgets.wheel.arm(slot, at: next) } else { widgets.wheel.cancel(slot) }
    }

    /// Notes a decision for `widget.explain`.
    mutating func log(
        widget slot: Slot, _ rule: WidgetRule, _ outcome: WidgetDecision.Outcome, from: WidgetState?,
        to: WidgetMachine, exemption: ReloadExemption? = nil, asker: Asker, at: Instant, _ frame: Span<UInt8>
    ) {
        var req = InlineText()
        if asker.isCommand, let range = asker.envelope.req { req = InlineText(range, of: frame) }
        widgets.decisions.append(
            WidgetDecision(
                id: widgets.slab[slot].id, app: widgets.kinds.app(of: widgets.slab[slot].kind), at: at, rule: rule,
                outcome: outcome, from: from, to: to.state,
                cause: to.cause, failure: to.failure, exemption: exemption,
                client: asker.isCommand ? asker.envelope.client : nil, req: req))
    }

    /// The events were encoded: removed widgets give back their slots.
    mutating func releaseWidgetEvents() {
        var left: [DeviceID] = []
        for event in widgets.events where event.name == .removed {
            if let device = freeWidget(event.slot), device != left.last { left.append(device) }
        }
        for device in left {
            widgets.onDevice.removeFreed(of: device, from: widgets.slab)
            devices.forgetIfEmpty(device)
        }
        widgets.events.removeAll(keepingCapacity: true)
        for handle in widgets.retired { payloads.remove(handle) }
        widgets.retired.removeAll(keepingCapacity: true)
        widgets.interactionBytes.removeAll(keepingCapacity: true)
    }

    /// Puts a timeline, an entry that is carried over, or a provider's reason into the place of another one. Events that
    /// were not encoded yet may be of that one, so it is not overwritten.
    mutating func replace(_ path: WritableKeyPath<WidgetRecord, PayloadHandle>, of slot: Slot, by bytes: [UInt8]) {
        let old = widgets.slab[slot][keyPath: path]
        if widgets.events.isEmpty { payloads.remove(old) } else if old.count > 0 { widgets.retired.append(old) }
        widgets.slab[slot][keyPath: path] = payloads.insert(bytes: bytes)
    }

    /// As ``setFailureReason(_:ofControl:)``.
    mutating func setFailureReason(_ reason: [UInt8], ofWidget slot: Slot) -> Bool {
        guard !payloads.holds(widgets.slab[slot].failureReason, reason) else { return false }
        replace(\.failureReason, of: slot, by: reason)
        return true
    }

    /// A widget leaves the slab and the indexes, but for the list of its device.
    ///
    /// - Returns: the device that it was on.
    private mutating func freeWidget(_ slot: Slot) -> DeviceID? {
        guard widgets.slab.isUsed(slot) else { return nil }
        let record = widgets.slab[slot]
        widgets.byID.remove(record.id.keyedHash, slot)
        for handle in record.payloads { payloads.remove(handle) }
        widgets.kinds[record.kind].placed -= 1
        widgets.placedFamilies.remove(record.family, of: record.kind)
        if let device = record.device { devices[device].references -= 1 }
        widgets.wheel.cancel(slot)
        widgets.slab.remove(slot)
        widgets.changedSlots.insert(slot)
        return record.device
    }

    /// A listed entity came, changed or went: the digest of its app follows, and those that are being computed.
    private mutating func toggle(
        _ topicHash: TopicHash, _ revision: UInt64, _ app: AppID, widget slot: Slot, isAdded: Bool
    ) {
        apps[app].digest.toggle(topicHash: topicHash, revision: revision)
        if !digestScans.isEmpty {
            changedDuringScans(topicHash, revision, app, EntityPlace(.widget, slot), isAdded: isAdded)
        }
    }
}

extension WidgetEventName {
    /// Whether it may change the order of the device's Smart Stack.
    var movesStack: Bool {
        switch self {
        case .added, .configured, .timeline, .entry, .removed: true
        case .reloading, .held, .failed, .acting, .performed, .tapped, .rotated: false
        }
    }
}

extension WidgetCause {
    /// Whether it is what somebody has done with this very widget, and waits to see.
    fileprivate var isSomebodys: Bool {
        switch self {
        case .command, .person, .action, .configuration, .visible: true
        case .request, .push, .entry, .atEnd, .after, .retry, .held, .location, .locale, .appearance, .foreground,
            .session, .standBy, .developerMode, .registration, .provider, .timeout, .providerLost, .recovery, .stack,
            .uninstall:
            false
        }
    }
}
