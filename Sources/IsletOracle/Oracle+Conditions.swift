/// What decides on devices whether reloads of widgets are charged.
extension Oracle {
    struct ConditionChange {
        var order: Int
        var at: Int64
        var device: String
        var name: String
        /// nil: of the whole device.
        var app: String?
        var isOn: Bool
    }

    /// What devices report of it, by the contract.
    func noteCondition(_ device: String, _ event: String, _ app: String) {
        switch event {
        case "appForeground": set("foreground", device, app, true)
        case "appBackground": set("foreground", device, app, false)
        case "sessionStart": set("session", device, app, true)
        case "sessionEnd": set("session", device, app, false)
        case "standByStart": set("standBy", device, nil, true)
        case "standByEnd": set("standBy", device, nil, false)
        case "developerModeOn": set("developerMode", device, nil, true)
        case "developerModeOff": set("developerMode", device, nil, false)
        case "uninstall":
            set("foreground", device, app, false)
            set("session", device, app, false)
        case "reboot":
            let apps = Set(conditions.filter { $0.device == device }.compactMap(\.app))
            for app in apps.sorted() {
                set("foreground", device, app, false)
                set("session", device, app, false)
            }
            set("standBy", device, nil, false)
        case "localeChange", "appearanceChange": changes.append((now, device, String(event.dropLast(6))))
        default: break
        }
    }

    private func set(_ name: String, _ device: String, _ app: String?, _ isOn: Bool) {
        let last = conditions.last { $0.name == name && $0.device == device && $0.app == app }
        guard last?.isOn ?? false != isOn else { return }
        conditions.append(
            ConditionChange(order: order, at: now, device: device, name: name, app: app, isOn: isOn))
        tookEffect()
    }

    /// Whether a condition held on a device at some time from a date until now, and whether all the time.
    ///
    /// What is told at the very millisecond of that date may have come before or after.
    func condition(_ name: String, _ device: String?, app: String, since date: Int64) -> (ever: Bool, always: Bool) {
        guard let device else { return (false, false) }
        let owner = name == "foreground" || name == "session" ? app : nil
        let own = conditions.filter { $0.name == name && $0.device == device && $0.app == owner }
        let before = own.last { $0.at < date }?.isOn ?? false
        let stands = [before] + own.filter { $0.at >= date }.map(\.isOn)
        return (stands.contains(true), !stands.contains(false))
    }

    /// Whether a device reported a change of its locale or appearance until a date.
    func hasChanged(_ name: String, _ device: String?, until date: Int64) -> Bool {
        changes.contains { $0.device == device && $0.name == name && $0.at <= date }
    }
}
