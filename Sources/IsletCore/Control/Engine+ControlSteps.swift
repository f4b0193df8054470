/// What turns a control's steps into revisions, events, digests, timers and calls: the one place where a control's record
/// changes its state.
extension Engine {
    /// Takes the steps of a control: the machine in the record is already the last one. Changes belong to the first step.
    mutating func take(
        _ steps: ControlMachine.Steps, ofControl slot: Slot, before: ControlMachine?,
        _ changes: ControlEvent.Changes = ControlEvent.Changes(), asker: Asker, at now: Instant,
        dating: Dating = .whenNoticed, _ frame: Span<UInt8> = Span()
    ) {
        guard let first = steps.first else { return }
        take(first, ofControl: slot, before: before, changes, asker: asker, at: now, dating, frame)
        if let second = steps.second {
            take(
                second, ofControl: slot, before: first.machine, ControlEvent.Changes(), asker: asker, at: now, dating,
                frame)
        }
        arm(control: slot)
        // An action that is given up may have had its effect all the same.
        if first.cancels, before?.state == .acting { reloadSiblings(of: controls.slab[slot].kind, except: slot, at: now) }
    }

    private mutating func take(
        _ step: ControlMachine.Step, ofControl slot: Slot, before: ControlMachine?, _ changes: ControlEvent.Changes,
        asker: Asker, at now: Instant, _ dating: Dating, _ frame: Span<UInt8>
    ) {
        let at = step.due.isSet && dating == .whenDue && !asker.isCommand ? step.due : now
        controls.slab[slot].revision += 1
        var changes = changes
        if step.machine.failure != .threw, controls.slab[slot].failureReason.count > 0 {
            changes.failureReason = setFailureReason([], ofControl: slot)
        }
        if step.givesUpAction { controls.slab[slot].actionGivenUpAt = now }
        controls.slab[slot].dates.take(
            isOtherState: before?.state != step.machine.state, isFailing: step.machine.failure != .none,
            at: min(at, step.due))
        let record = controls.slab[slot]
        let kind = controls.kinds[record.kind]
        let app = kind.app
        let topicHash = kind.topicHash.appending(record.id)
        let isListed = step.machine.state != .removed
        if before != nil { toggle(topicHash, UInt64(record.revision) - 1, app, control: slot, isAdded: false) }
        if isListed { toggle(topicHash, UInt64(record.revision), app, control: slot, isAdded: true) }
        let change = (isListed ? 1 : 0) - (before != nil ? 1 : 0)
        if let before { controls.countByState[Int(before.state.rawValue)] -= 1 }
        if isListed { controls.countByState[Int(step.machine.state.rawValue)] += 1 }
        apps[app].entities += change
        entityCount += change
        apps[app].seq += 1
        let previous = record.lastSeq
        controls.slab[slot].lastSeq = apps[app].seq
        controls.changedSlots.insert(slot)
        appChanged(app)
        controls.events.append(
            ControlEvent(
                name: step.name, slot: slot, id: record.id, kind: record.kind, app: app, seq: apps[app].seq,
                previous: previous, at: at, lateBy: step.due.isSet ? max(0, at - min(at, step.due)) : nil,
                before: before, after: step.machine, revision: record.revision, rule: step.rule,
                isByCommand: asker.isCommand, changes: changes, dates: record.dates, failureReason: record.failureReason,
                position: eventCount))
        log(
            control: slot, step.rule, .applied(name: step.name, seq: apps[app].seq, revision: record.revision),
            from: before?.state, to: step.machine, asker: asker, at: at, frame)
        call(step, slot)
    }

    /// Puts what a provider said of a call that it failed into the place of what one said before, which events that are not
    /// encoded yet may show; false where nothing changed.
    ///
    /// - Parameter reason: a JSON string with its quotes; empty: none.
    mutating func setFailureReason(_ reason: [UInt8], ofControl slot: Slot) -> Bool {
        let old = controls.slab[slot].failureReason
        guard !payloads.holds(old, reason) else { return false }
        if controls.events.isEmpty { payloads.remove(old) } else if old.count > 0 { controls.retired.append(old) }
        controls.slab[slot].failureReason = payloads.insert(bytes: reason)
        return true
    }

    /// What a step wants of providers.
    private mutating func call(_ step: ControlMachine.Step, _ slot: Slot) {
        let isAwaited = step.machine.cause.isSomebodys
        if step.cancels { append(.cancel(isRemoved: step.machine.state == .removed), slot, isAwaited) }
        switch step.call {
        case nil: break
        case .askValue: append(.askValue, slot, isAwaited)
        case .perform(let wish): append(.perform(wish), slot, isAwaited)
        }
    }

    /// Wants something of a provider, which replaces whatever was wanted before.
    ///
    /// - Parameter isAwaited: whether somebody waits for it.
    mutating func append(_ call: ControlCall.Kind, _ slot: Slot, _ isAwaited: Bool) {
        controls.slab[slot].callSerial &+= 1
        let record = controls.slab[slot]
        controls.calls.append(
            ControlCall(
                control: controls.reference(to: slot), controlKind: record.kind, serial: record.callSerial, kind: call,
                isAwaited: isAwaited))
    }

    /// Arms the control's one timer, or disarms it.
    mutating func arm(control slot: Slot) {
        let next = controls.slab[slot].machine.next.at
        if next.isSet { controls.wheel.arm(slot, at: next) } else { controls.wheel.cancel(slot) }
    }

    /// Notes a decision for `control.explain`.
    mutating func log(
        control slot: Slot, _ rule: ControlRule, _ outcome: ControlDecision.Outcome, from: ControlState?,
        to: ControlMachine, asker: Asker, at: Instant, _ frame: Span<UInt8>
    ) {
        var req = InlineText()
        if asker.isCommand, let range = asker.envelope.req { req = InlineText(range, of: frame) }
        controls.decisions.append(
            ControlDecision(
                id: controls.slab[slot].id, app: controls.kinds.app(of: controls.slab[slot].kind), at: at, rule: rule,
                outcome: outcome, from: from, to: to.state,
                cause: to.cause, failure: to.failure, client: asker.isCommand ? asker.envelope.client : nil, req: req))
    }

    /// The events were encoded: removed controls give back their slots.
    mutating func releaseControlEvents() {
        var left: [DeviceID] = []
        for event in controls.events where event.name == .removed {
            if let device = freeControl(event.slot), device != left.last { left.append(device) }
        }
        for device in left {
            controls.onDevice.removeFreed(of: device, from: controls.slab)
            devices.forgetIfEmpty(device)
        }
        controls.events.removeAll(keepingCapacity: true)
        for handle in controls.retired { payloads.remove(handle) }
        controls.retired.removeAll(keepingCapacity: true)
        controls.interactionBytes.removeAll(keepingCapacity: true)
    }

    /// A control leaves the slab and the indexes, but for the list of its device.
    ///
    /// - Returns: the device that it was on.
    private mutating func freeControl(_ slot: Slot) -> DeviceID? {
        guard controls.slab.isUsed(slot) else { return nil }
        let record = controls.slab[slot]
        controls.byID.remove(record.id.keyedHash, slot)
        for handle in record.payloads { payloads.remove(handle) }
        controls.kinds[record.kind].placed -= 1
        if let device = record.device { devices[device].references -= 1 }
        controls.wheel.cancel(slot)
        controls.slab.remove(slot)
        controls.changedSlots.insert(slot)
        return record.device
    }

    /// A listed entity came, changed or went: the digest of its app follows, and those that are being computed.
    private mutating func toggle(
        _ topicHash: TopicHash, _ revision: UInt64, _ app: AppID, control slot: Slot, isAdded: Bool
    ) {
        apps[app].digest.toggle(topicHash: topicHash, revision: revision)
        if !digestScans.isEmpty {
            changedDuringScans(topicHash, revision, app, EntityPlace(.control, slot), isAdded: isAdded)
        }
    }
}

extension ControlCause {
    /// Whether it is what somebody has done with this very control, and waits to see.
    fileprivate var isSomebodys: Bool {
        switch self {
        case .command, .person, .action, .configuration, .authentication: true
        case .request, .push, .sibling, .registration, .retry, .provider, .timeout, .providerLost, .lock, .unlock,
            .recovery, .uninstall:
            false
        }
    }
}
