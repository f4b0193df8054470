/// The commands about controls.
extension Engine {
    /// What a command about a control came to.
    package enum ControlOutcome: Equatable, Sendable {
        /// Executed; the control that the answer shows.
        case applied(SlotRef)
        /// So many controls are asked to reload.
        case reloading(count: Int)
        case ignored(SlotRef, IgnoreReason)
        case refused(Refusal)
        /// A value was to be set, and the control is no toggle.
        case notAToggle
    }

    /// The control that a command names, or nil.
    package func findControl(_ address: ControlAddress, _ frame: Span<UInt8>) -> SlotRef? {
        guard let app = apps.find(address.app, of: frame), let slot = controls.slot(of: address.id),
            controls.kinds.app(of: controls.slab[slot].kind) == app
        else { return nil }
        return controls.reference(to: slot)
    }

    /// A kind that was declared, or nil.
    package func findControlKind(_ address: ControlKindAddress, _ frame: Span<UInt8>) -> ControlKindID? {
        guard let app = apps.find(address.app, of: frame),
            let kind = controls.kinds.find(app, frame.bytes(address.kind)), controls.kinds[kind].declaration != nil
        else { return nil }
        return kind
    }

    /// `control.add` (C2). Its configuration was checked.
    package mutating func addControl(
        _ add: ControlAdd, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, freshID: EntityID
    ) -> ControlOutcome {
        let address = ControlKindAddress(app: add.app, kind: add.kind)
        guard let kind = findControlKind(address, frame), let declaration = controls.kinds[kind].declaration else {
            return .refused(.notFound)
        }
        guard envelope.ifRevision == nil else { return .refused(.notFound) }
        let id = add.id ?? freshID
        guard controls.slot(of: id) == nil, slot(of: id) == nil, widgets.slot(of: id) == nil else {
            return .refused(.authorization(.reconnectNotPermitted))
        }
        guard entityCount < rules.maximumEntities else { return .refused(.quotaExceeded(limit: rules.maximumEntities)) }
        var device: DeviceID?
        if let name = add.device {
            guard let known = devices.device(name, of: frame) else {
                return .refused(.quotaExceeded(limit: DeviceTable.maximumDevices))
            }
            guard controls.onDevice[known, default: []].count < DeviceTable.maximumPlaced else {
                return .refused(.quotaExceeded(limit: DeviceTable.maximumPlaced))
            }
            device = known
        }
        let isLocked = device.map { controls.lockedDevices.contains(devices.name($0)) } ?? false
        let (machine, steps) = ControlMachine.added(
            declaration.template, hasValue: declaration.hasValue, previewIsOn: declaration.previewIsOn,
            isRedacted: isLocked && declaration.isPrivacySensitive)
        var record = ControlRecord(id: id, kind: kind, device: device, addedAt: now, machine: machine)
        if let configuration = add.configuration { record.configuration = payloads.insert(configuration, of: frame) }
        record.value = storePreview(of: declaration)
        let slot = controls.slab.insert(record)
        index(control: slot)
        take(
            steps, ofControl: slot, before: nil, asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .applied(controls.reference(to: slot))
    }

    /// Makes a control findable by id and device.
    mutating func index(control slot: Slot) {
        let record = controls.slab[slot]
        controls.byID.insert(record.id.keyedHash, slot)
        controls.kinds[record.kind].placed += 1
        guard let device = record.device else { return }
        controls.onDevice[device, default: []].insert(slot, at: place(of: record, on: device))
        devices[device].references += 1
    }

    /// In the order of their placing, and of their ids where two were placed at once, as a restart finds them again.
    private func place(of record: ControlRecord, on device: DeviceID) -> Int {
        let slots = controls.onDevice[device] ?? []
        var place = slots.count
        while place > 0, record.placing < controls.slab[slots[place - 1]].placing { place -= 1 }
        return place
    }

    /// `control.configure` (C15). The configuration was checked.
    package mutating func configureControl(
        _ configure: ControlConfigure, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> ControlOutcome {
        guard let slot = reach(configure.address, frame, now, dating) else { return .refused(.notFound) }
        if let refused = guarded(slot, envelope, at: now, frame) { return refused }
        let record = controls.slab[slot]
        let isSame = payloads.withBytes(record.configuration) { frame.isConfiguration(configure.configuration, $0) }
        if isSame { return ignore(control: slot, (.unchanged, .unchanged), envelope, at: now, frame) }
        payloads.replace(&controls.slab[slot].configuration, by: configure.configuration, of: frame)
        clearLook(of: slot)
        payloads.remove(controls.slab[slot].value)
        let declaration = controls.kinds[record.kind].declaration
        controls.slab[slot].value = declaration.map { storePreview(of: $0) } ?? .empty
        let steps = controls.slab[slot].machine.configured(
            hasValue: declaration?.hasValue ?? true, previewIsOn: declaration?.previewIsOn ?? false)
        var changes = ControlEvent.Changes()
        (changes.configuration, changes.value, changes.look) = (true, true, true)
        take(
            steps, ofControl: slot, before: record.machine, changes, asker: Asker(envelope: envelope, isCommand: true),
            at: now, frame)
        return .applied(controls.reference(to: slot))
    }

    /// Keeps what a button shows until its provider gives a value. The kind may be declared with another preview
    /// meanwhile, which no event of the control tells.
    mutating func storePreview(of declaration: ControlKindDeclaration) -> PayloadHandle {
        guard declaration.template == .button, declaration.hasValue else { return .empty }
        let preview = declaration.previewValue
        return payloads.insert(bytes: preview)
    }

    /// `control.remove` (C16).
    package mutating func removeControl(
        _ address: ControlAddress, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> ControlOutcome {
        guard let slot = reach(address, frame, now, dating) else { return .refused(.notFound) }
        if let refused = guarded(slot, envelope, at: now, frame) { return refused }
        let before = controls.slab[slot].machine
        let steps = controls.slab[slot].machine.removed(.command)
        take(
            steps, ofControl: slot, before: before, asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .applied(controls.reference(to: slot))
    }

    /// `control.tap` and `control.set` (C8, C12 to C14).
    ///
    /// - Parameter isOn: the value to set; nil for a tap.
    package mutating func tapControl(
        _ address: ControlAddress, isOn: Bool?, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant,
        _ dating: Dating
    ) -> ControlOutcome {
        guard let slot = reach(address, frame, now, dating) else { return .refused(.notFound) }
        let before = controls.slab[slot].machine
        let wish = isOn.map { ControlMachine.Wish(isOn: $0) } ?? before.tapWish
        guard isOn == nil || before.template == .toggle else { return .notAToggle }
        if let ignored = before.ignores(wish) { return ignore(control: slot, ignored, envelope, at: now, frame) }
        let policy = controls.kinds[controls.slab[slot].kind].declaration?.authenticationPolicy ?? .alwaysAllowed
        let waits = policy != .alwaysAllowed && isLocked(slot)
        // It cannot wait in the place of the newest wish, which is performed without asking anybody.
        if waits, before.state == .acting {
            return ignore(control: slot, (.acting, .authenticationRequired), envelope, at: now, frame)
        }
        if let refused = guarded(slot, envelope, at: now, frame) { return refused }
        let steps: ControlMachine.Steps
        if waits {
            steps = controls.slab[slot].machine.awaitAuthentication(
                wish, until: now + rules.authenticationLimit, .person)
        } else {
            steps = controls.slab[slot].machine.act(wish, .person)
        }
        var changes = ControlEvent.Changes()
        changes.look = clearStatus(of: slot)
        take(
            steps, ofControl: slot, before: before, changes, asker: Asker(envelope: envelope, isCommand: true), at: now,
            frame)
        return .applied(controls.reference(to: slot))
    }

    /// `control.reload` (C5).
    package mutating func reloadControls(
        _ reload: ControlReload, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> ControlOutcome {
        let cause: ControlCause = envelope.source == .push ? .push : .request
        switch reload {
        case .one(let address):
            guard let slot = reach(address, frame, now, dating) else { return .refused(.notFound) }
            if let refused = guarded(slot, envelope, at: now, frame) { return refused }
            self.reload(control: slot, cause, Asker(envelope: envelope, isCommand: true), at: now, frame)
            return .applied(controls.reference(to: slot))
        case .kind(let address):
            guard let kind = findControlKind(address, frame) else { return .refused(.notFound) }
            return sweepControls(app: controls.kinds.app(of: kind), kind, cause, at: now)
        case .all(let name):
            guard let app = apps.find(name, of: frame) else { return .reloading(count: 0) }
            return sweepControls(app: app, nil, cause, at: now)
        }
    }

    mutating func reload(
        control slot: Slot, _ cause: ControlCause, _ asker: Asker, at now: Instant, _ frame: Span<UInt8> = Span()
    ) {
        settlePrivacy(ofControl: slot, at: now)
        let before = controls.slab[slot].machine
        let steps = controls.slab[slot].machine.reload(cause)
        take(steps, ofControl: slot, before: before, asker: asker, at: now, frame)
    }

    // MARK: The first checks

    /// The control of a command, after what was due of it took effect.
    private mutating func reach(
        _ address: ControlAddress, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Slot? {
        guard let slot = findControl(address, frame)?.slot else { return nil }
        settle(control: slot, at: now, dating)
        return slot
    }

    private mutating func guarded(
        _ slot: Slot, _ envelope: Envelope, at now: Instant, _ frame: Span<UInt8>
    ) -> ControlOutcome? {
        let record = controls.slab[slot]
        guard let revision = envelope.ifRevision, revision != UInt64(record.revision) else { return nil }
        log(
            control: slot, .revisionGuard, .refused, from: record.machine.state, to: record.machine,
            asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .refused(.revisionConflict(present: UInt64(record.revision)))
    }

    private mutating func ignore(
        control slot: Slot, _ dropped: (reason: IgnoreReason, rule: ControlRule), _ envelope: Envelope,
        at now: Instant, _ frame: Span<UInt8>
    ) -> ControlOutcome {
        let machine = controls.slab[slot].machine
        log(
            control: slot, dropped.rule, .ignored(dropped.reason), from: machine.state, to: machine,
            asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .ignored(controls.reference(to: slot), dropped.reason)
    }

    private func isLocked(_ slot: Slot) -> Bool {
        guard let device = controls.slab[slot].device else { return false }
        return controls.lockedDevices.contains(devices.name(device))
    }

    /// What a reader sees of a control, after what was due of it took effect.
    package mutating func readControl(
        _ address: ControlAddress, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> SlotRef? {
        reach(address, frame, now, dating).map { controls.reference(to: $0) }
    }

    /// Asks for a value because a reader wants a fresh one (C5): whether it is on its way now.
    package mutating func refreshControl(_ reference: SlotRef, at now: Instant) -> Bool {
        guard controls.slab.isCurrent(reference) else { return false }
        let machine = controls.slab[reference.slot].machine
        guard !machine.hasCall else { return true }
        reload(control: reference.slot, .request, .nobody, at: now)
        guard controls.slab[reference.slot].machine.hasCall, let last = controls.calls.indices.last else { return false }
        controls.calls[last].isAwaited = true
        return true
    }
}

extension ControlKindDeclaration {
    /// What a toggle's preview shows.
    package var previewIsOn: Bool { previewValue == Array("true".utf8) }
}
