/// What devices and dates do to controls.
extension Engine {
    /// Whether there is room to remember that a device is locked.
    func mayLock(_ name: [UInt8]) -> Bool {
        controls.lockedDevices.count < DeviceTable.maximumDevices || controls.lockedDevices.contains(name)
    }

    /// A device was locked (`isLocked`) or unlocked: sensitive controls hide or show, and actions that waited run (C13).
    mutating func deviceLock(
        _ isLocked: Bool, named name: [UInt8], _ device: DeviceID?, _ asker: Asker, at now: Instant, _ dating: Dating,
        _ frame: Span<UInt8>
    ) {
        guard controls.lockedDevices.contains(name) != isLocked else { return }
        let slots = device.flatMap { controls.onDevice[$0] } ?? []
        visits += slots.count
        let isSwept = slots.count > LockSweep.controlsPerStep
        if !isSwept {
            // What was due before is told as it was then.
            for slot in slots { settle(control: slot, at: now, dating) }
        }
        controls.lockedDevices.set(isLocked ? () : nil, of: name, isWritten: !isJournalled)
        if isJournalled { notes.append(.lock(name)) }
        guard let device else { return }
        if isSwept { sweepLock(of: device, slots, at: now) }
        for slot in slots {
            // Only what waits for the unlock is told with it, as far as others have a turn of theirs.
            guard !isSwept || !isLocked && controls.slab[slot].machine.state == .authenticating else { continue }
            if isSwept { settle(control: slot, at: now, dating) }
            redactAsDeclared(control: slot, nil, asker, at: now, frame)
            guard !isLocked else { continue }
            let before = controls.slab[slot].machine
            let steps = controls.slab[slot].machine.authenticated()
            take(steps, ofControl: slot, before: before, asker: asker, at: now, frame)
        }
    }

    /// Lets the controls of a device hide or show in turns.
    private mutating func sweepLock(of device: DeviceID, _ slots: [Slot], at now: Instant) {
        guard let known = controls.lockSweeps.firstIndex(where: { $0.device == device }) else {
            return controls.lockSweeps.append(LockSweep(device: device, setAt: now, slots: slots, left: slots.count))
        }
        controls.lockSweeps[known].setAt = now
        controls.lockSweeps[known].slots = slots
        controls.lockSweeps[known].left = slots.count
    }

    /// Goes on with the controls of devices that were locked or unlocked, one step.
    mutating func continueLockSweeps(at now: Instant, _ dating: Dating) {
        var budget = LockSweep.controlsPerStep
        while budget > 0, var sweep = controls.lockSweeps.first {
            let date = dating == .whenDue ? sweep.setAt : now
            while budget > 0, sweep.left > 0 {
                if sweep.next >= sweep.slots.count { sweep.next = 0 }
                let slot = sweep.slots[sweep.next]
                sweep.next += 1
                sweep.left -= 1
                budget -= 1
                guard controls.slab.isUsed(slot) else { continue }
                if controls.slab[slot].machine.next.at <= date { fire(control: slot, at: date, dating) }
                redactAsDeclared(control: slot, nil, at: date)
            }
            guard sweep.left == 0 else { return controls.lockSweeps[0] = sweep }
            controls.lockSweeps.removeFirst()
        }
    }

    /// Hides or shows a control by what its kind calls sensitive and whether its device is locked.
    ///
    /// - Parameter why: nil where its device was locked or unlocked.
    mutating func redactAsDeclared(
        control slot: Slot, _ why: ControlCause?, _ asker: Asker = .nobody, at now: Instant,
        _ frame: Span<UInt8> = Span()
    ) {
        let record = controls.slab[slot]
        // It may have been removed in this turn, and keep its slot until its events are encoded.
        guard record.machine.state != .removed else { return }
        let steps = controls.slab[slot].machine.redact(hides(record), why)
        take(steps, ofControl: slot, before: record.machine, asker: asker, at: now, frame)
    }

    /// Whether a control's content is hidden: its kind calls it sensitive, and its device is locked.
    ///
    /// Readers ask it beside the machine, which very many controls are told of one after another.
    package func hides(_ record: ControlRecord) -> Bool {
        guard let device = record.device, !controls.lockedDevices.isEmpty,
            controls.kinds[record.kind].declaration?.isPrivacySensitive == true
        else { return false }
        return controls.lockedDevices.contains(devices.name(device))
    }

    /// What its provider said of the call that it failed, as readers may have it; empty: nothing.
    package func shownFailureReason(of record: ControlRecord) -> PayloadHandle {
        record.machine.isRedacted || hides(record) ? .empty : record.failureReason
    }

    /// An app was uninstalled from a device: its controls there go.
    mutating func removeControls(of app: AppID, on device: DeviceID, _ asker: Asker, at now: Instant, _ frame: Span<UInt8>) {
        let slots = controls.onDevice[device] ?? []
        visits += slots.count
        for slot in slots {
            let record = controls.slab[slot]
            guard controls.kinds.app(of: record.kind) == app else { continue }
            let steps = controls.slab[slot].machine.removed(.uninstall)
            take(steps, ofControl: slot, before: record.machine, asker: asker, at: now, frame)
        }
    }

    /// What is due of one control takes effect, before a command on it. A deadline that passed is not set again at once.
    mutating func settle(control slot: Slot, at now: Instant, _ dating: Dating) {
        guard controls.slab[slot].machine.next.at <= now else { return settlePrivacy(ofControl: slot, at: now) }
        fire(control: slot, at: now, dating)
    }

    /// Hides or shows a control that a walk has yet to reach, before anything else happens to it: events and snapshots tell
    /// a revision as it is, so that whoever follows them has the same as whoever asks.
    mutating func settlePrivacy(ofControl slot: Slot, at now: Instant) {
        let record = controls.slab[slot]
        guard record.machine.isRedacted != hides(record) else { return }
        let isByDevice = controls.lockSweeps.contains { $0.device == record.device }
        let app = controls.kinds.app(of: record.kind)
        let isByKind = controls.sweeps.contains { $0.cause == .lock && $0.covers(app: app, record.kind) }
        redactAsDeclared(control: slot, isByKind && !isByDevice ? .registration : nil, at: now)
    }

    mutating func fire(control slot: Slot, at now: Instant, _ dating: Dating) {
        settlePrivacy(ofControl: slot, at: now)
        let before = controls.slab[slot].machine
        let steps = controls.slab[slot].machine.deadlineReached()
        take(steps, ofControl: slot, before: before, asker: .nobody, at: now, dating: dating)
        if steps.isEmpty { arm(control: slot) }
    }
}

extension Engine {
    /// The earliest deadline of a control takes effect; there is one.
    mutating func fireNextControl(at now: Instant, _ dating: Dating) {
        guard let due = controls.wheel.popDue(now: now) else { return }
        fire(control: due.slot, at: now, dating)
    }
}

extension ControlTable {
    /// The earliest deadline of a control where it is not after a date, else `never`.
    mutating func nextDue(by now: Instant) -> Instant { wheel.nextWork() <= now ? wheel.nextDue(by: now) : .never }
}
