/// Settings, and what devices report.
extension Oracle {
    func set(_ app: String, _ device: String?, enabled: Bool?, frequent: Bool?) {
        let before = device.map { own(app, $0) }
        switches.append(SwitchChange(order: order, app: app, device: device, enabled: enabled, frequent: frequent))
        // What a device says that holds without it, too, is nothing to keep.
        let isNews = if let device, let before { before != own(app, device) } else { true }
        if isNews { tookEffect() }
        for handle in listed(app) {
            guard let citizen = citizens[handle], device == nil || citizen.birth.device == device else { continue }
            let holds = settings(app, citizen.birth.device)
            if !holds.enabled {
                add(.switchedOff, to: handle, nil)
            } else if holds.frequent != citizen.life.shape.frequent {
                add(.frequentPushes(holds.frequent), to: handle, nil)
            }
        }
    }

    func report(_ device: String, _ event: String, _ app: String, _ asker: Asker) {
        if event == "lock" || event == "unlock" { noteLock(device, event == "lock") }
        noteCondition(device, event, app)
        switch event {
        case "lock", "collapse", "leave":
            for handle in listed(on: device) {
                guard let citizen = citizens[handle], citizen.birth.isTransient, citizen.life.shape.state.runs else {
                    continue
                }
                add(.leftBehind, to: handle, asker)
            }
        case "appForeground", "appBackground":
            noteBackground(app, device, event == "appBackground")
        case "uninstall":
            for handle in listed(on: device) where self.app(handle) == app {
                add(.removed(cause: "system"), to: handle, asker)
            }
            noteBackground(app, device, false)
            guard own(app, device) != (nil, nil) else { break }
            switches.append(SwitchChange(order: order, app: app, device: device, isUninstall: true))
            tookEffect()
        default: break
        }
    }

    /// Whether a device was locked last.
    package func isLocked(_ device: String) -> Bool { locks.last { $0.device == device }?.isLocked ?? false }

    /// The devices that are locked.
    package var lockedDevices: Set<String> { Set(locks.map(\.device).filter { isLocked($0) }) }

    private func noteLock(_ device: String, _ isLocked: Bool) {
        guard isLocked != self.isLocked(device) else { return }
        locks.append(LockChange(order: order, device: device, isLocked: isLocked))
        tookEffect()
    }

    private func noteBackground(_ app: String, _ device: String, _ isBackground: Bool) {
        guard isBackground != isInBackground(app, device) else { return }
        backgrounds.append(BackgroundChange(order: order, app: app, device: device, isBackground: isBackground))
        tookEffect()
    }
}
