import IsletClient

/// What a recording has told of devices so far. No event is about a device: what it has reported shows in events of
/// what it holds, once in each of them.
struct ReplayDevices {
    private var locked: Set<String> = []
    /// When a device reported something that leaves no state behind.
    private var reports: [[String]: Int64] = [:]
    /// What makes reloads free: the device's condition, or an app's on it.
    private var conditions: Set<[String]> = []
    /// The apps that were told to be in the background.
    private var backgroundApps: Set<[String]> = []

    mutating func lock(_ device: String, at date: Int64) -> [Command] {
        guard locked.insert(device).inserted else { return [] }
        // What is transient goes with the lock.
        reports[["leave", device]] = date
        return [Self.report("lock", device)]
    }

    mutating func unlock(_ device: String) -> [Command] {
        locked.remove(device) == nil ? [] : [Self.report("unlock", device)]
    }

    /// A report of a moment, which may show in many events of that moment.
    mutating func once(_ event: String, _ device: String, at date: Int64) -> [Command] {
        guard reports.updateValue(date, forKey: [event, device]) != date else { return [] }
        return [Self.report(event, device)]
    }

    // MARK: Conditions

    private struct Condition {
        let begin: String
        let end: String
        var isOfApp = false
    }

    private static let byExemption = [
        "foreground": Condition(begin: "appForeground", end: "appBackground", isOfApp: true),
        "session": Condition(begin: "sessionStart", end: "sessionEnd", isOfApp: true),
        "standBy": Condition(begin: "standByStart", end: "standByEnd"),
        "developerMode": Condition(begin: "developerModeOn", end: "developerModeOff"),
    ]

    /// What the device must have reported so that a reload is exempt for this reason, or for none where it was charged.
    mutating func conditions(for exemption: String?, app: String, on device: String) -> [Command] {
        if let exemption {
            guard let condition = Self.byExemption[exemption] else { return [] }
            let app = condition.isOfApp ? app : nil
            guard conditions.insert([exemption, device, app ?? ""]).inserted else { return [] }
            if let app, exemption == "foreground" { backgroundApps.remove([app, device]) }
            return [Self.report(condition.begin, device, app: app)]
        }
        var ended: [Command] = []
        for (name, condition) in Self.byExemption.sorted(by: { $0.key < $1.key }) {
            let app = condition.isOfApp ? app : nil
            guard conditions.remove([name, device, app ?? ""]) != nil else { continue }
            if let app, name == "foreground" { backgroundApps.insert([app, device]) }
            ended.append(Self.report(condition.end, device, app: app))
        }
        return ended
    }

    /// A start from the background would be refused, and the recorded one was not.
    mutating func allowStart(app: String, device: String?) -> [Command] {
        guard let device, backgroundApps.remove([app, device]) != nil else { return [] }
        return conditions(for: "foreground", app: app, on: device)
    }

    private static func report(_ event: String, _ device: String, app: String? = nil) -> Command {
        Command("device.event", app: app, ["device": .string(device), "event": .string(event)])
    }
}
