/// Settings, and what devices report.
extension Oracle {
    func set(_ app: String, _ device: String?, enabled: Bool?, frequent: Bool?) {
        switches.append(SwitchChange(order: order, app: app, device: device, enabled: enabled, frequent: frequent))
        tookEffect()
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
        switch event {
        case "lock", "collapse", "leave":
            for handle in listed(on: device) {
                guard let citizen = citizens[handle], citizen.birth.isTransient, citizen.life.shape.state.runs else {
                    continue
                }
                add(.leftBehind, to: handle, asker)
            }
        case "appForeground", "appBackground":
            backgrounds.append(
                BackgroundChange(order: order, app: app, device: device, isBackground: event == "appBackground"))
            tookEffect()
        case "uninstall":
            for handle in listed(on: device) where self.app(handle) == app {
                add(.removed(cause: "system"), to: handle, asker)
            }
            backgrounds.append(BackgroundChange(order: order, app: app, device: device, isBackground: false))
            switches.append(SwitchChange(order: order, app: app, device: device, isUninstall: true))
            tookEffect()
        default: break
        }
    }
}
