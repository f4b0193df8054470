extension Engine {
    /// `device.event` (rows 31, 33 and 34; foreground and background for row 3).
    mutating func deviceReported(
        _ event: DeviceEvent, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Outcome {
        let known = devices.find(event.device, of: frame)
        let asker = Asker(envelope: envelope, isCommand: true)
        if event.kind == .lock, !mayLock(frame.bytes(event.device)) {
            return .refused(.quotaExceeded(limit: DeviceTable.maximumDevices))
        }
        let knownApp = event.app.flatMap { apps.find($0, of: frame) }
        if let limit = conditionsLimit(event.kind, of: frame.bytes(event.device), knownApp) {
            return .refused(.quotaExceeded(limit: limit))
        }
        // At its first start an app may not be known yet, and what it then places is exempt.
        let app = event.app.flatMap { event.kind.isRemembered ? apps.app($0, of: frame) : apps.find($0, of: frame) }
        if event.kind.isRemembered, event.app != nil, app == nil {
            return .refused(.quotaExceeded(limit: AppTable.maximumApps))
        }
        if let known, event.app != nil, !mayReport(event.kind, of: knownApp, on: known) {
            return .refused(.tooManyAppsOnDevice(limit: DeviceTable.maximumApps))
        }
        switch event.kind {
        case .lock: deviceLock(true, named: frame.bytes(event.device), known, asker, at: now, dating, frame)
        case .unlock: deviceLock(false, named: frame.bytes(event.device), known, asker, at: now, dating, frame)
        case .collapse, .leave: break
        case .reboot, .appForeground, .appBackground, .uninstall, .standByStart, .standByEnd, .developerModeOn,
            .developerModeOff, .localeChange, .appearanceChange, .locationChange, .sessionStart, .sessionEnd:
            deviceConditions(
                event.kind, named: frame.bytes(event.device), known, app, asker, at: now, dating, frame)
        }
        switch event.kind {
        case .lock, .collapse, .leave:
            guard let known else { return .applied(nil) }
            settleDevice(known, .open, at: now, dating)
            forEach(.open, on: known) { engine, slot in
                let before = engine.activities[slot].machine
                let steps = engine.activities[slot].machine.leftBehind(at: now)
                engine.take(steps, of: slot, before: before, asker: asker, at: now, frame)
            }
        case .unlock, .reboot, .standByStart, .standByEnd, .developerModeOn, .developerModeOff, .localeChange,
            .appearanceChange, .locationChange, .sessionStart, .sessionEnd:
            break
        case .appForeground:
            guard let known, let app, var there = devices[known].apps[app] else { return .applied(nil) }
            there.isInBackground = false
            set(there, of: app, on: known)
            devices.forgetIfEmpty(known)
        case .appBackground:
            guard let name = event.app, let app = apps.app(name, of: frame) else {
                return .refused(.quotaExceeded(limit: AppTable.maximumApps))
            }
            guard let device = devices.device(event.device, of: frame) else {
                return .refused(.quotaExceeded(limit: DeviceTable.maximumDevices))
            }
            dropOverriddenSettings(of: device)
            var there = devices[device].apps[app] ?? DeviceApp()
            there.isInBackground = true
            set(there, of: app, on: device)
        case .uninstall:
            guard let known, let app else { return .applied(nil) }
            settleDevice(known, .listed, at: now, dating)
            let isThrough = forEach(.listed, on: known) { engine, slot in
                guard engine.app(of: engine.activities[slot]) == app else { return }
                engine.settle(slot, at: now, dating)
                let before = engine.activities[slot]
                guard before.state.isListed else { return }
                let steps = engine.activities[slot].machine.uninstalled(at: now)
                engine.take(steps, of: slot, before: before.machine, asker: asker, at: now, frame)
            }
            removeControls(of: app, on: known, asker, at: now, frame)
            removeWidgets(of: app, on: known, asker, at: now, frame)
            var there = DeviceApp()
            there.departure = devices[known].apps[app]?.departure
            set(there, of: app, on: known)
            if !isThrough { depart(app, from: known, isUninstall: true, at: now, dating) }
            devices.forgetIfEmpty(known)
        }
        return .applied(nil)
    }

    /// Whether there is room to know, now or later, that an app is in the background of a device.
    ///
    /// One that is in the foreground always finds it: else it would stay exempt for good. So that these do not become
    /// ever more, none that needs a place of its own comes to the foreground while there are more than the limit.
    private func mayReport(_ kind: DeviceEventKind, of app: AppID?, on device: DeviceID) -> Bool {
        let isInForeground = app.flatMap { app in
            widgets.conditions[devices.name(device)]?.foregroundApps.contains(app)
        } ?? false
        switch kind {
        case .appBackground: return isInForeground || mayKnow(app, on: device)
        case .appForeground: return isInForeground || mayKnow(app, on: device, most: DeviceTable.maximumApps + 1)
        case .lock, .unlock, .collapse, .leave, .reboot, .uninstall, .standByStart, .standByEnd, .developerModeOn,
            .developerModeOff, .localeChange, .appearanceChange, .locationChange, .sessionStart, .sessionEnd:
            return true
        }
    }

    /// Which activities of a device something is about.
    enum DeviceShare {
        /// A few: the maxima bound them, whatever has ended there in the last hours.
        case open
        case listed
    }

    /// How many activities of a device that have ended one turn looks at: hours of them may lie there.
    static var endedPerTurn: Int { 1_024 }

    /// Calls with each activity of a share on a device, and of the ended ones with so many as a turn looks at; the body may
    /// end it or take it off the list.
    ///
    /// One that ends goes to the end of the list, where it is met a second time if all listed ones are asked for.
    /// - Returns: whether these were all.
    @discardableResult
    mutating func forEach(
        _ share: DeviceShare, on device: DeviceID, _ body: (inout Engine, Slot) -> Void
    ) -> Bool {
        var slot = devices[device].first
        var ended = 0
        while slot != .max {
            if !activities[slot].state.isOpen {
                guard share == .listed else { return true }
                guard ended < Engine.endedPerTurn else { return false }
                ended += 1
            }
            visits += 1
            let next = deviceLinks[slot].next
            body(&self, slot)
            slot = next
        }
        return true
    }

    /// Puts an open activity on its device's list.
    mutating func link(_ slot: Slot, on device: DeviceID) {
        linkFirst(slot, on: device)
        devices[device].references += 1
    }

    /// Puts an activity that has started before all others of its device: the newest comes first, as a restart finds it.
    mutating func linkBefore(_ slot: Slot, on device: DeviceID) {
        unlink(slot, from: device)
        linkFirst(slot, on: device)
    }

    private mutating func linkFirst(_ slot: Slot, on device: DeviceID) {
        let first = devices[device].first
        deviceLinks[slot] = DeviceLinks(next: first)
        if first != .max { deviceLinks[first].previous = slot } else { devices[device].last = slot }
        devices[device].first = slot
    }

    /// Puts an activity that has ended behind the open ones of its device.
    mutating func linkBehind(_ slot: Slot, on device: DeviceID) {
        unlink(slot, from: device)
        let last = devices[device].last
        deviceLinks[slot].previous = last
        if last != .max { deviceLinks[last].next = slot } else { devices[device].first = slot }
        devices[device].last = slot
    }

    /// Takes an activity off its device's list; it still keeps the device known.
    mutating func unlink(_ slot: Slot, from device: DeviceID) {
        let (next, previous) = (deviceLinks[slot].next, deviceLinks[slot].previous)
        if next != .max { deviceLinks[next].previous = previous } else { devices[device].last = previous }
        if previous != .max { deviceLinks[previous].next = next } else { devices[device].first = next }
        deviceLinks[slot] = DeviceLinks()
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

extension DeviceEventKind {
    /// Whether it makes something known of its device that must be remembered, with its app where it names one.
    var isRemembered: Bool {
        switch self {
        case .standByStart, .developerModeOn, .appForeground, .sessionStart: true
        case .lock, .unlock, .collapse, .leave, .reboot, .standByEnd, .developerModeOff, .localeChange,
            .appearanceChange, .locationChange, .appBackground, .uninstall, .sessionEnd:
            false
        }
    }
}
