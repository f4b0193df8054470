/// Settings for all devices on their way through the slab: what reaches a million activities may not stop the rest.
///
/// One walk serves all apps, since what it does to an activity follows from the activity and its app alone: another
/// setting on the way only lets it go once around again.
struct SettingsSweep: Sendable {
    /// Which walk it is: apps whose settings it carries have the same number.
    var number: UInt64 = 0
    var nextSlot: Slot = 0
    /// Where it goes on with slot 0: what was put behind since started by the settings as they are.
    var end: Slot = 0
    /// How many slots it has still to look at.
    var left: Slot = 0
    /// The devices that have departures.
    var devices: Set<DeviceID> = []

    var isUnderway: Bool { left > 0 }
}

extension Engine {
    /// How many slots of a settings sweep one step looks at. A turn takes such steps as long as its batch has room.
    package static let sweepBudget: Slot = 1_024
    /// How many events a settings sweep makes in one step, and a few more.
    package static let sweepEvents = 64

    /// What holds for an app on a device, or for activities without one.
    package func settings(of app: AppID, on device: DeviceID?) -> ActivitySettings {
        let record = apps[app]
        var settings = record.settings
        guard let device, let own = devices[device].apps[app] else { return settings }
        if let own = own.activitiesEnabled, own.version == record.enabledVersion {
            settings.activitiesEnabled = own.isOn
        }
        if let own = own.frequentPushesEnabled, own.version == record.frequentPushesVersion {
            settings.frequentPushesEnabled = own.isOn
        }
        return settings
    }

    /// `settings.get`: what holds for an app that nobody knows is the default.
    package func settings(at address: SettingsAddress, of frame: Span<UInt8>) -> ActivitySettings {
        guard let app = apps.find(address.app, of: frame) else { return ActivitySettings() }
        return settings(of: app, on: address.device.flatMap { devices.find($0, of: frame) })
    }

    /// `settings.set` (rows 12, 29 and 30): new starts feel it at once; what runs is told in bounded turns, and each
    /// activity at the latest before the next command or deadline of its own.
    mutating func setSettings(
        _ set: SettingsSet, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        if isOneTooMany(set, frame) { return .refused(.tooManyAppsOnDevice(limit: DeviceTable.maximumApps)) }
        guard let app = apps.app(set.address.app, of: frame) else {
            return .refused(.quotaExceeded(limit: AppTable.maximumApps))
        }
        guard let name = set.address.device else {
            setForAll(set, app, now, dating)
            return .applied(nil)
        }
        guard let device = devices.device(name, of: frame) else {
            return .refused(.quotaExceeded(limit: DeviceTable.maximumDevices))
        }
        settleDevice(device, .listed, at: now, dating)
        setOwn(set, app, device)
        let isThrough = forEach(.listed, on: device) { engine, slot in
            guard engine.app(of: engine.activities[slot]) == app else { return }
            engine.settle(slot, at: now, dating)
            engine.applySettings(to: slot, startedAs: engine.activities[slot].ordinal, at: now)
        }
        // The rest has ended: of these, only switching off says something.
        if !isThrough, set.activitiesEnabled == false {
            depart(app, from: device, isUninstall: false, at: now, dating)
        }
        devices.forgetIfEmpty(device)
        return .applied(nil)
    }

    /// Whether an app would get settings of its own on a device where as many have them as may.
    private func isOneTooMany(_ set: SettingsSet, _ frame: Span<UInt8>) -> Bool {
        guard let name = set.address.device, let device = devices.find(name, of: frame) else { return false }
        let app = apps.find(set.address.app, of: frame)
        let general = app.map { apps[$0].settings } ?? ActivitySettings()
        let differs =
            set.activitiesEnabled.map { $0 != general.activitiesEnabled } ?? false
            || set.frequentPushesEnabled.map { $0 != general.frequentPushesEnabled } ?? false
        return differs && !mayKnow(app, on: device)
    }

    /// Whether there is room to know something of an app on a device, as of those of which something is known already.
    ///
    /// - Parameters:
    ///   - app: nil: one that nobody knows.
    ///   - most: how many there may be with this one.
    func mayKnow(_ app: AppID?, on device: DeviceID, most: Int = DeviceTable.maximumApps) -> Bool {
        guard devices[device].apps.count >= most else { return true }
        var others = 0
        for (other, known) in devices[device].apps {
            var known = known
            known.dropWhatHoldsAnyway(apps[other])
            guard known.isSet else { continue }
            // Of more, which older releases took, each may still be changed.
            if other == app { return true }
            others += 1
        }
        return others < most
    }

    /// Lets the activities of an app on a device go in turns, behind those for which this one had room.
    mutating func depart(
        _ app: AppID, from device: DeviceID, isUninstall: Bool, at now: Instant, _ dating: Dating
    ) {
        var known = devices[device].apps[app] ?? DeviceApp()
        known.departure = Departure(before: nextOrdinal(), isUninstall: isUninstall)
        self.set(known, of: app, on: device)
        sweep.devices.insert(device)
        beginSweep(of: app, at: now, dating)
    }

    /// Lets the walk through all activities reach those of one app.
    private mutating func beginSweep(of app: AppID, at now: Instant, _ dating: Dating) {
        let wasUnderway = sweep.isUnderway
        if !wasUnderway { sweep.number += 1 }
        apps[app].sweepNumber = sweep.number
        apps[app].setAt = now
        sweep.end = activities.capacity
        sweep.left = sweep.end
        note(app: app)
        // The first step is now, so that a small service is through at once; a walk that is underway has its own turns.
        if !wasUnderway { continueSweep(at: now, dating) }
    }

    private mutating func setForAll(_ set: SettingsSet, _ app: AppID, _ now: Instant, _ dating: Dating) {
        let wasUnderway = sweep.isUnderway
        if let enabled = set.activitiesEnabled {
            apps[app].settings.activitiesEnabled = enabled
            apps[app].enabledVersion += 1
            if !enabled { apps[app].switchedOffAt = nextOrdinal() }
        }
        if let enabled = set.frequentPushesEnabled {
            let isFlipped = enabled != apps[app].settings.frequentPushesEnabled
            apps[app].settings.frequentPushesEnabled = enabled
            apps[app].frequentPushesVersion += 1
            // A first change within a walk is seen at each activity; a second one undoes it at those not reached yet.
            if isFlipped, wasUnderway, apps[app].frequentPushesFlippedOn.isSet {
                apps[app].frequentPushesFlippedAt = nextOrdinal()
            }
            if isFlipped { apps[app].frequentPushesFlippedOn = now }
        }
        beginSweep(of: app, at: now, dating)
    }

    /// Keeps what was set on one device; what says nothing of its own goes.
    private mutating func setOwn(_ set: SettingsSet, _ app: AppID, _ device: DeviceID) {
        dropOverriddenSettings(of: device)
        var known = devices[device].apps[app] ?? DeviceApp()
        if let enabled = set.activitiesEnabled {
            known.activitiesEnabled = DeviceApp.Switch(isOn: enabled, version: apps[app].enabledVersion)
        }
        if let enabled = set.frequentPushesEnabled {
            known.frequentPushesEnabled = DeviceApp.Switch(isOn: enabled, version: apps[app].frequentPushesVersion)
        }
        known.dropWhatHoldsAnyway(apps[app])
        self.set(known, of: app, on: device)
    }

    /// Forgets what a device said of its own before it was set for all devices, or that is as for all devices by now.
    mutating func dropOverriddenSettings(of device: DeviceID) {
        // In the order of their numbers: the same state makes the same notes.
        for app in devices[device].apps.keys.sorted() {
            guard var known = devices[device].apps[app] else { continue }
            known.dropWhatHoldsAnyway(apps[app])
            self.set(known, of: app, on: device)
        }
    }

    /// Goes on with settings that reach many, one step.
    mutating func continueSweep(at now: Instant, _ dating: Dating) {
        guard sweep.isUnderway else { return }
        let lastEvent = events.count + Engine.sweepEvents
        var budget = min(sweep.left, Engine.sweepBudget)
        while budget > 0, events.count < lastEvent {
            if sweep.nextSlot >= sweep.end { sweep.nextSlot = 0 }
            if activities.isUsed(sweep.nextSlot) { catchUp(sweep.nextSlot, at: now, dating) }
            sweep.nextSlot += 1
            sweep.left -= 1
            budget -= 1
        }
        guard !sweep.isUnderway else { return }
        for app in AppID(0)..<AppID(apps.apps.count) where apps[app].sweepNumber == sweep.number {
            // It reached all that ran then; a later sweep does not apply it to what started since.
            apps[app].frequentPushesFlippedAt = 0
            apps[app].frequentPushesFlippedOn = .never
            note(app: app)
        }
        for device in sweep.devices.sorted() where devices.record(device) != nil {
            for app in devices[device].apps.keys.sorted() {
                guard var known = devices[device].apps[app], known.departure != nil else { continue }
                known.departure = nil
                set(known, of: app, on: device)
            }
            devices.forgetIfEmpty(device)
        }
        sweep.devices.removeAll()
    }

    /// Lets the settings of its app have their effect on one activity.
    ///
    /// - Parameters:
    ///   - ordinal: its place in the order of starting when they were set.
    ///   - startedAfterFlip: whether its start was due only after the frequent updates setting was changed.
    mutating func applySettings(
        to slot: Slot, startedAs ordinal: UInt64, startedAfterFlip: Bool = false, at now: Instant
    ) {
        let record = activities[slot]
        guard record.state.isListed else { return }
        let app = app(of: record)
        let settings = settings(of: app, on: record.device)
        var steps = ActivityMachine.Steps()
        let departure = sweep.devices.isEmpty ? nil : departure(of: app, from: record.device, startedAs: ordinal)
        if let departure, departure.isUninstall {
            steps = activities[slot].machine.uninstalled(at: now)
        } else if departure != nil {
            steps = activities[slot].machine.switchedOff(at: now)
        } else if !settings.activitiesEnabled || ordinal < apps[app].switchedOffAt {
            steps = activities[slot].machine.switchedOff(at: now)
        } else if record.state.isOpen,
            settings.frequentPushesEnabled != record.frequentPushes
                || !startedAfterFlip && ordinal < apps[app].frequentPushesFlippedAt
        {
            // What has ended sends nothing any more: thousands of them on a device are not written anew for it.
            if !startedAfterFlip { steps = activities[slot].machine.frequentPushesChanged(at: now, rules) }
            activities[slot].frequentPushes = settings.frequentPushesEnabled
            if steps.isEmpty { note(activity: slot) }
        }
        take(steps, of: slot, before: record.machine, asker: .nobody, at: now, Span())
    }

    private func departure(of app: AppID, from device: DeviceID?, startedAs ordinal: UInt64) -> Departure? {
        guard let device, sweep.devices.contains(device) else { return nil }
        return devices[device].apps[app]?.departure.flatMap { ordinal < $0.before ? $0 : nil }
    }
}
