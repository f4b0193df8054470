/// A setting for all devices on its way through the slab: one that reaches a million activities may not stop the rest.
struct SettingsSweep: Sendable {
    var app: AppID
    var nextSlot: Slot
}

extension Engine {
    /// What holds for an app on a device, or for activities without one.
    package func settings(of app: AppID, on device: DeviceID?) -> ActivitySettings {
        var settings = apps[app].settings
        if let own = ownSettings(of: app, on: device) {
            if let enabled = own.activitiesEnabled { settings.activitiesEnabled = enabled }
            if let enabled = own.frequentPushesEnabled { settings.frequentPushesEnabled = enabled }
        }
        return settings
    }

    /// `settings.get`: what holds for an app that nobody knows is the default.
    package func settings(at address: SettingsAddress, of frame: Span<UInt8>) -> ActivitySettings {
        guard let app = apps.find(address.app, of: frame) else { return ActivitySettings() }
        return settings(of: app, on: address.device.flatMap { devices.find($0, of: frame) })
    }

    /// `settings.set` (rows 12, 29 and 30): new starts feel it at once; what runs is told in bounded turns, and each
    /// activity at the latest before the next command on it.
    mutating func setSettings(
        _ set: SettingsSet, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        // Two sweeps of one app may not overtake each other.
        while continueSweeps(at: now) {}
        guard let app = apps.app(set.address.app, of: frame) else {
            return .refused(.quotaExceeded(limit: AppTable.maximumApps))
        }
        guard let name = set.address.device else {
            let before = apps[app].settings
            if let enabled = set.activitiesEnabled { apps[app].settings.activitiesEnabled = enabled }
            if let enabled = set.frequentPushesEnabled { apps[app].settings.frequentPushesEnabled = enabled }
            apps[app].settingsVersion += 1
            if before.frequentPushesEnabled != apps[app].settings.frequentPushesEnabled {
                apps[app].frequentPushesChangedAt = nextOrdinal()
            }
            if !apps[app].settings.activitiesEnabled || before != apps[app].settings {
                sweeps.append(SettingsSweep(app: app, nextSlot: 0))
                _ = continueSweeps(at: now)
            }
            return .applied(nil)
        }
        guard let device = devices.device(name, of: frame) else {
            return .refused(.quotaExceeded(limit: DeviceTable.maximumDevices))
        }
        let before = settings(of: app, on: device)
        var own =
            ownSettings(of: app, on: device)
            ?? DeviceSettings(app: app, version: apps[app].settingsVersion)
        if let enabled = set.activitiesEnabled { own.activitiesEnabled = enabled }
        if let enabled = set.frequentPushesEnabled { own.frequentPushesEnabled = enabled }
        if let enabled = set.frequentPushesEnabled, enabled != before.frequentPushesEnabled {
            own.frequentPushesChangedAt = nextOrdinal()
        }
        devices[device].settings.removeAll { $0.app == app }
        devices[device].settings.append(own)
        forEach(on: device) { engine, slot in
            engine.settle(slot, at: now, dating)
            engine.applySettings(to: slot, at: now)
        }
        return .applied(nil)
    }

    private func ownSettings(of app: AppID, on device: DeviceID?) -> DeviceSettings? {
        guard let device else { return nil }
        return devices[device].settings.first { $0.app == app && $0.version == apps[app].settingsVersion }
    }

    /// Goes on with settings that reach many; true while any is left.
    mutating func continueSweeps(at now: Instant) -> Bool {
        guard let sweep = sweeps.first else { return false }
        let end = min(UInt64(activities.capacity), UInt64(sweep.nextSlot) + UInt64(Engine.sweepBudget))
        for slot in sweep.nextSlot..<Slot(end) where activities.isUsed(slot) {
            if apps.kinds[Int(activities[slot].kind)].app == sweep.app { applySettings(to: slot, at: now) }
        }
        if Slot(end) == activities.capacity { sweeps.removeFirst() } else { sweeps[0].nextSlot = Slot(end) }
        return !sweeps.isEmpty
    }

    /// Lets the settings of its app have their effect on one activity.
    mutating func applySettings(to slot: Slot, at now: Instant) {
        let record = activities[slot]
        guard record.state.isListed else { return }
        let app = apps.kinds[Int(record.kind)].app
        var steps = ActivityMachine.Steps()
        if !settings(of: app, on: record.device).activitiesEnabled {
            steps = activities[slot].machine.switchedOff(at: now)
        } else {
            let changedAt = max(
                apps[app].frequentPushesChangedAt, ownSettings(of: app, on: record.device)?.frequentPushesChangedAt ?? 0
            )
            if record.ordinal < changedAt {
                steps = activities[slot].machine.frequentPushesChanged(at: now, rules)
            }
        }
        take(steps, of: slot, before: record.machine, asker: .nobody, at: now, Span())
    }
}
