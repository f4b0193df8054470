/// Settings, what devices report, lists, and forgetting.
extension NaiveService {
    func set(_ app: String, _ device: String?, enabled: Bool?, frequent: Bool?) {
        let reached = device.map { device in ids(on: device).filter { activities[$0]?.app == app } } ?? ids(of: app)
        for id in device.map({ ids(on: $0) }) ?? reached { settle(id) }
        if let device {
            var own = ownSwitches["\(app) \(device)"] ?? (nil, nil)
            own.enabled = enabled ?? own.enabled
            own.frequent = frequent ?? own.frequent
            ownSwitches["\(app) \(device)"] = own
        } else {
            var all = switches[app] ?? (true, true)
            all.enabled = enabled ?? all.enabled
            all.frequent = frequent ?? all.frequent
            switches[app] = all
            // What holds for all overrides what a device said of the same switch.
            for name in ownSwitches.keys where name.hasPrefix(app + " ") {
                if enabled != nil { ownSwitches[name]?.enabled = nil }
                if frequent != nil { ownSwitches[name]?.frequent = nil }
            }
        }
        for id in reached {
            guard var activity = activities[id], activity.isListed else { continue }
            let holds = effective(app, activity.device)
            if !holds.enabled {
                remove(id, "settings", ends: false, isByCommand: false)
            } else if activity.runs, holds.frequent != activity.frequent {
                let from = activity.state
                activity.state = "ended"
                activity.cause = "settings"
                activity.endedAt = now
                activity.dismissAt = now + rules.dismissalLimit
                note(&activity, "ended", from: from, isByCommand: false)
            }
        }
    }

    func report(_ device: String, _ event: String, _ app: String) {
        let there = ids(on: device)
        switch event {
        case "lock", "collapse", "leave":
            for id in there where activities[id]?.isOpen ?? false { settle(id) }
            for id in there where activities[id].map({ $0.isTransient && $0.runs }) ?? false {
                remove(id, "transient", ends: true, isByCommand: true)
            }
        case "appBackground": background.insert("\(app) \(device)")
        case "appForeground": background.remove("\(app) \(device)")
        case "uninstall":
            for id in there { settle(id) }
            for id in there where activities[id]?.app == app {
                remove(id, "system", ends: false, isByCommand: true)
            }
            background.remove("\(app) \(device)")
            ownSwitches["\(app) \(device)"] = nil
        default: break
        }
    }

    /// The Lock Screen of a device.
    func presentation(_ device: String) -> [String] {
        for id in ids(on: device) { settle(id) }
        let shown = ids(on: device).compactMap { activities[$0] }
        let sorted = shown.sorted {
            ($1.relevance, $0.startedAt, $0.order) < ($0.relevance, $1.startedAt, $1.order)
        }
        let visible = sorted.filter { $0.state != "pending" }
        let hidden = sorted.filter { $0.state == "pending" }
        let running = visible.filter(\.runs).map(\.id)
        var lines: [String] = []
        for (index, activity) in visible.enumerated() {
            var line = "#\(activity.id) \(index + 1)"
            if running.prefix(2).contains(activity.id) { line += running.count == 1 ? " compact" : " minimal" }
            lines.append(line)
        }
        return lines + hidden.map { "#\($0.id) -" }
    }

    func list(_ app: String, type: String?, state: String?, device: String?, key: String?) -> Set<UInt64> {
        let matching = activities.values.filter { activity in
            activity.app == app && (type == nil || activity.type == type)
                && (state == nil ? activity.isListed : activity.state == state)
                && (device == nil || activity.device == device)
                && (key.map { (activity.key ?? "").hasPrefix($0) } ?? true)
        }
        return Set(matching.map(\.id))
    }

    /// Whether the retention of a dismissed one is over, or there was no room for it.
    func mayForget(_ id: UInt64) -> Bool {
        guard let activity = activities[id], let when = activity.dismissedWhen else { return false }
        // The first to go is the one that was dismissed first, and of one date the one that was started first.
        let newer = retained.count { other in
            guard let other = activities[other], let date = other.dismissedWhen else { return false }
            return (date, other.order) > (when, activity.order)
        }
        return when + rules.retention <= now || newer >= rules.maximumRetained
    }

    /// Forgets one that the service has forgotten.
    func forget(_ id: UInt64) {
        activities[id] = nil
        for key in holders.keys { holders[key]?.removeAll { $0 == id } }
        retained.removeAll { $0 == id }
    }
}
