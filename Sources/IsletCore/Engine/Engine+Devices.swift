extension Engine {
    /// `device.event` (rows 31, 33 and 34; foreground and background for row 3).
    mutating func deviceReported(
        _ event: DeviceEvent, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        let known = devices.find(event.device, of: frame)
        if let known { settleDevice(known, at: now, dating) }
        let asker = Asker(envelope: envelope, isCommand: true)
        switch event.kind {
        case .lock, .collapse, .leave:
            guard let known else { return .applied(nil) }
            forEach(on: known) { engine, slot in
                let before = engine.activities[slot].machine
                let steps = engine.activities[slot].machine.leftBehind(at: now)
                engine.take(steps, of: slot, before: before, asker: asker, at: now, frame)
            }
        case .unlock, .reboot:
            break
        case .appForeground:
            guard let known, let app = event.app.flatMap({ apps.find($0, of: frame) }) else { return .applied(nil) }
            devices[known].backgroundApps.remove(app)
            devices.forgetIfEmpty(known)
        case .appBackground:
            guard let name = event.app, let app = apps.app(name, of: frame) else {
                return .refused(.quotaExceeded(limit: AppTable.maximumApps))
            }
            guard let device = devices.device(event.device, of: frame) else {
                return .refused(.quotaExceeded(limit: DeviceTable.maximumDevices))
            }
            devices[device].backgroundApps.insert(app)
        case .uninstall:
            guard let known, let app = event.app.flatMap({ apps.find($0, of: frame) }) else { return .applied(nil) }
            forEach(on: known) { engine, slot in
                let before = engine.activities[slot]
                guard engine.apps.kinds[Int(before.kind)].app == app else { return }
                let steps = engine.activities[slot].machine.uninstalled(at: now)
                engine.take(steps, of: slot, before: before.machine, asker: asker, at: now, frame)
            }
            devices[known].backgroundApps.remove(app)
            devices[known].settings.removeAll { $0.app == app }
            devices.forgetIfEmpty(known)
        }
        return .applied(nil)
    }

    /// Calls with each listed activity on a device; the body may take it off the list.
    mutating func forEach(on device: DeviceID, _ body: (inout Engine, Slot) -> Void) {
        var slot = devices[device].first
        while slot != .max {
            let next = activities[slot].nextOnDevice
            body(&self, slot)
            slot = next
        }
    }

    /// Puts an activity on its device's list.
    mutating func link(_ slot: Slot, on device: DeviceID) {
        let first = devices[device].first
        activities[slot].nextOnDevice = first
        activities[slot].previousOnDevice = .max
        if first != .max { activities[first].previousOnDevice = slot }
        devices[device].first = slot
        devices[device].references += 1
    }

    /// Takes an activity off its device's list; it still keeps the device known.
    mutating func unlink(_ slot: Slot, from device: DeviceID) {
        let next = activities[slot].nextOnDevice
        let previous = activities[slot].previousOnDevice
        if next != .max { activities[next].previousOnDevice = previous }
        if previous != .max { activities[previous].nextOnDevice = next } else { devices[device].first = next }
        activities[slot].nextOnDevice = .max
        activities[slot].previousOnDevice = .max
    }

    /// Keeps the numbers that the maxima are compared with.
    mutating func count(
        _ record: ActivityRecord, on device: DeviceID, app: AppID, from: ActivityState?, to: ActivityState
    ) {
        var change = counts(to) ? 1 : 0
        if let from, counts(from) { change -= 1 }
        guard change != 0 else { return }
        devices[device].counted += change
        let share = devices[device].countedByApp[app, default: 0] + change
        devices[device].countedByApp[app] = share == 0 ? nil : share
    }

    private func counts(_ state: ActivityState) -> Bool {
        state.isOpen || state == .ended && rules.endedCountTowardMaxima
    }
}
