/// What calls to providers came to, and reloads of many controls.
extension Engine {
    /// The text members of an answer have at most as many bytes each, with their quotes.
    package static let controlTextLimit = 512

    /// A provider answered the call that a control waits for, its newest.
    ///
    /// - Parameter isAction: whether the call was for its action.
    /// - Returns: false where the answer is none for this control: nothing happened, and the call failed as `badAnswer`.
    package mutating func controlAnswered(
        _ reference: SlotRef, isAction: Bool, _ answer: ProviderAnswer, _ frame: Span<UInt8>, at now: Instant
    ) -> Bool {
        guard controls.slab.isCurrent(reference) else { return true }
        let slot = reference.slot
        settlePrivacy(ofControl: slot, at: now)
        let before = controls.slab[slot].machine
        guard before.hasCall, isAction == (before.state == .acting) else { return true }
        for text in [answer.status, answer.tint, answer.actionHint] {
            if let text, Int(text.count) > Engine.controlTextLimit { return false }
        }
        switch before.state {
        case .acting:
            var changes = ControlEvent.Changes()
            if answer.status != nil { changes.look = setLook(of: slot, answer, frame, keepsStatus: true) }
            let steps = controls.slab[slot].machine.performed()
            let event = controls.events.count
            take(steps, ofControl: slot, before: before, changes, asker: .nobody, at: now)
            if let url = answer.url, event < controls.events.count { setURL(url, frame, ofEvent: event) }
            reloadSiblings(of: controls.slab[slot].kind, except: slot, at: now)
        case .loading, .reloading:
            var isOn = false
            var changes = ControlEvent.Changes()
            guard let value = answer.value, Int(value.count) <= rules.controlValueLimit else { return false }
            switch before.template {
            case .toggle:
                guard let read = Engine.boolean(value, frame) else { return false }
                isOn = read
            case .button:
                changes.value = payloads.withBytes(controls.slab[slot].value) { !frame.equals(value, $0) }
                payloads.replace(&controls.slab[slot].value, by: value, of: frame)
            }
            // What an action says of itself is shown until the value after the one that follows it.
            changes.look = setLook(of: slot, answer, frame, keepsStatus: before.cause == .action)
            let steps = controls.slab[slot].machine.valueArrived(
                isOn: isOn, isDisabled: answer.isDisabled ?? false, at: now)
            take(steps, ofControl: slot, before: before, changes, asker: .nobody, at: now)
        case .preview, .shown, .authenticating, .disabled, .removed:
            // The call was given up meanwhile.
            break
        }
        return true
    }

    /// The call that a control waits for, its newest, did not end well.
    ///
    /// - Parameters:
    ///   - wasSent: whether any provider got it. An action that was sent may have had its effect, whatever ended it.
    ///   - reason: what the provider said of it that threw: a JSON string with its quotes; empty: nothing.
    package mutating func controlCallFailed(
        _ reference: SlotRef, isAction: Bool, _ failure: CallFailure, wasSent: Bool = true, reason: [UInt8] = [],
        at now: Instant
    ) {
        guard controls.slab.isCurrent(reference) else { return }
        let slot = reference.slot
        settlePrivacy(ofControl: slot, at: now)
        let before = controls.slab[slot].machine
        guard before.hasCall, isAction == (before.state == .acting) else { return }
        let steps: ControlMachine.Steps
        var changes = ControlEvent.Changes()
        if failure == .threw { changes.failureReason = setFailureReason(reason, ofControl: slot) }
        switch before.state {
        case .acting: steps = controls.slab[slot].machine.performFailed(failure)
        case .loading, .reloading:
            // Where nobody provides the kind, only somebody who comes can help.
            let retryAt = failure == .noProvider ? .never : now + retrySpan(of: slot)
            steps = controls.slab[slot].machine.valueFailed(failure, retryAt: retryAt)
        case .preview, .shown, .authenticating, .disabled, .removed: return
        }
        take(steps, ofControl: slot, before: before, changes, asker: .nobody, at: now)
        if isAction, wasSent { reloadSiblings(of: controls.slab[slot].kind, except: slot, at: now) }
    }

    /// An action that nobody waited for any more has ended: what its provider holds by now is asked for, also where its own
    /// control is gone.
    package mutating func controlActedLate(_ reference: SlotRef, of kind: ControlKindID, at now: Instant) {
        var slot: Slot?
        if controls.slab.isCurrent(reference) {
            slot = reference.slot
            reload(control: reference.slot, .action, .nobody, at: now)
        }
        reloadSiblings(of: kind, except: slot, at: now)
    }

    /// An action may have had its effect: the others of a kind that says so are asked for their values.
    mutating func reloadSiblings(of kind: ControlKindID, except slot: Slot?, at now: Instant) {
        guard controls.kinds[kind].declaration?.reloadsSiblings == true else { return }
        // Nobody looks through all slots for one that has no others.
        let itself = slot.map { controls.record(at: $0)?.kind == kind ? 1 : 0 } ?? 0
        guard controls.kinds[kind].placed > itself else { return }
        _ = sweepControls(app: controls.kinds.app(of: kind), kind, .sibling, except: slot, at: now)
    }

    private func retrySpan(of slot: Slot) -> Milliseconds {
        let record = controls.slab[slot]
        return Engine.backoff(
            record.id, failures: Int(record.machine.failures), first: rules.controlRetryFirst,
            longest: rules.controlRetryLongest)
    }

    /// What a kind is, as a provider declares it.
    ///
    /// - Parameter mayReplace: whether nobody else provides it as it was declared before.
    /// - Returns: its number, or the member in which the declaration differs from the one that holds.
    package mutating func declareControlKind(
        _ declaration: ControlKindDeclaration, app name: FrameRange, _ frame: Span<UInt8>, mayReplace: Bool,
        at now: Instant
    ) -> ControlKindVerdict {
        guard let app = apps.app(name, of: frame),
            let kind = controls.kinds.kind(app, named: apps[app].name, declaration.kind)
        else { return .tooMany }
        if let known = controls.kinds[kind].declaration {
            guard let member = declaration.difference(from: known) else { return .declared(kind) }
            // What is placed was drawn and called by these.
            let isFixed = controls.kinds[kind].placed > 0 && (member == .template || member == .hasValue)
            guard mayReplace, !isFixed else { return .differs(kind, member) }
        }
        let wasSensitive = controls.kinds[kind].declaration?.isPrivacySensitive ?? false
        controls.kinds.declare(kind, declaration)
        kindChanged(kind)
        if isJournalled { notes.append(.controlKind(kind)) }
        if declaration.isPrivacySensitive != wasSensitive { sweepPrivacy(of: kind, at: now) }
        return .declared(kind)
    }

    mutating func kindChanged(_ kind: ControlKindID) {
        guard !controls.kinds[kind].isChanged else { return }
        controls.kinds[kind].isChanged = true
        controls.changedKinds.append(kind)
    }

    /// A provider of a kind came, and there was none: all its controls ask for their value.
    package mutating func controlKindIsProvided(_ kind: ControlKindID, at now: Instant) {
        _ = sweepControls(app: controls.kinds.app(of: kind), kind, .registration, at: now)
    }

    /// A provider of a kind was lost while others take its calls: it may have held another truth than they do.
    package mutating func controlProviderIsLost(_ kind: ControlKindID, at now: Instant) {
        _ = sweepControls(app: controls.kinds.app(of: kind), kind, .providerLost, at: now)
    }

    /// What an action opens (`OpenIntent`) is nothing that the control keeps: its event alone says it.
    private mutating func setURL(_ url: FrameRange, _ frame: Span<UInt8>, ofEvent event: Int) {
        let start = controls.interactionBytes.count
        controls.interactionBytes += frame.bytes(url)
        controls.events[event].url = FrameRange(start..<controls.interactionBytes.count)
    }

    // MARK: Looks

    /// Puts the texts of an answer into a control; false where nothing changed.
    ///
    /// - Parameter keepsStatus: whether the status stays where the answer has none.
    private mutating func setLook(
        of slot: Slot, _ answer: ProviderAnswer, _ frame: Span<UInt8>, keepsStatus: Bool
    ) -> Bool {
        let record = controls.slab[slot]
        let isPerform = record.machine.state == .acting
        let old = payloads.withBytes(record.texts) { [UInt8]($0) }
        let counts = record.textCounts
        let newStatus = answer.status.map { frame.bytes($0) } ?? (keepsStatus ? Array(old[counts.statusRange]) : [])
        let tint = isPerform ? Array(old[counts.tintRange]) : answer.tint.map { frame.bytes($0) } ?? []
        let hint = isPerform ? Array(old[counts.actionHintRange]) : answer.actionHint.map { frame.bytes($0) } ?? []
        let isActive = isPerform ? record.isActive : answer.isActive
        let texts = newStatus + tint + hint
        var newCounts = ControlTextCounts()
        newCounts.status = UInt16(newStatus.count)
        newCounts.tint = UInt16(tint.count)
        newCounts.actionHint = UInt16(hint.count)
        guard texts != old || newCounts != counts || isActive != record.isActive else { return false }
        setTexts(texts, newCounts, of: slot)
        controls.slab[slot].isActive = isActive
        return true
    }

    /// The status is shown momentarily after an action: the next one clears it.
    mutating func clearStatus(of slot: Slot) -> Bool {
        let record = controls.slab[slot]
        guard record.textCounts.status > 0 else { return false }
        let rest = payloads.withBytes(record.texts) { [UInt8]($0[record.textCounts.statusRange.upperBound...]) }
        var counts = record.textCounts
        counts.status = 0
        setTexts(rest, counts, of: slot)
        return true
    }

    mutating func clearLook(of slot: Slot) {
        setTexts([], ControlTextCounts(), of: slot)
        controls.slab[slot].isActive = nil
    }

    private mutating func setTexts(_ texts: [UInt8], _ counts: ControlTextCounts, of slot: Slot) {
        payloads.remove(controls.slab[slot].texts)
        controls.slab[slot].texts = payloads.insert(bytes: texts)
        controls.slab[slot].textCounts = counts
    }

    private static func boolean(_ value: FrameRange, _ frame: Span<UInt8>) -> Bool? {
        let bytes = frame.bytes(value)
        if bytes == Array("true".utf8) { return true }
        return bytes == Array("false".utf8) ? false : nil
    }
}

/// What became of a declaration.
package enum ControlKindVerdict: Equatable, Sendable {
    case declared(ControlKindID)
    /// Another one holds, and differs in this member.
    case differs(ControlKindID, ControlKindDeclaration.Member)
    /// There are as many kinds or apps as there may be.
    case tooMany
}
