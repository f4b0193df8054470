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
        if isLocked { controls.lockedDevices.insert(name) } else { controls.lockedDevices.remove(name) }
        controls.changedLocks.insert(name)
        if isJournalled { notes.append(.lock(name)) }
        guard let device, let slots = controls.onDevice[device] else { return }
        for slot in slots {
            settle(control: slot, at: now, dating)
            let record = controls.slab[slot]
            if controls.kinds[record.kind].declaration?.isPrivacySensitive == true || record.machine.isRedacted {
                let steps = controls.slab[slot].machine.redact(isLocked)
                take(steps, ofControl: slot, before: record.machine, asker: asker, at: now, frame)
            }
            guard !isLocked else { continue }
            let before = controls.slab[slot].machine
            let steps = controls.slab[slot].machine.authenticated()
            take(steps, ofControl: slot, before: before, asker: asker, at: now, frame)
        }
    }

    /// Hides or shows a control by what its kind calls sensitive and whether its device is locked.
    mutating func redactAsDeclared(control slot: Slot, _ why: ControlCause, at now: Instant) {
        let record = controls.slab[slot]
        // It may have been removed in this turn, and keep its slot until its events are encoded.
        guard record.machine.state != .removed else { return }
        let isSensitive = controls.kinds[record.kind].declaration?.isPrivacySensitive ?? false
        let isHidden = isSensitive && record.device.map { controls.lockedDevices.contains(devices.name($0)) } ?? false
        let steps = controls.slab[slot].machine.redact(isHidden, why)
        take(steps, ofControl: slot, before: record.machine, asker: .nobody, at: now)
    }

    /// An app was uninstalled from a device: its controls there go.
    mutating func removeControls(of app: AppID, on device: DeviceID, _ asker: Asker, at now: Instant, _ frame: Span<UInt8>) {
        for slot in controls.onDevice[device] ?? [] {
            let record = controls.slab[slot]
            guard controls.kinds[record.kind].app == app else { continue }
            let steps = controls.slab[slot].machine.removed(.uninstall)
            take(steps, ofControl: slot, before: record.machine, asker: asker, at: now, frame)
        }
    }

    /// What is due of one control takes effect, before a command on it. A deadline that passed is not set again at once.
    mutating func settle(control slot: Slot, at now: Instant, _ dating: Dating) {
        guard controls.slab[slot].machine.next.at <= now else { return }
        fire(control: slot, at: now, dating)
    }

    mutating func fire(control slot: Slot, at now: Instant, _ dating: Dating) {
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
