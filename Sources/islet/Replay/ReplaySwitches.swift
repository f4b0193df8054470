import IsletClient

/// What a recording has told of the switch for Live Activities so far. It is in no event: what it removes tells that it
/// was turned off, and the next start that it is on again.
struct ReplaySwitches {
    /// An app, and a device or none for all.
    private var off: Set<[String]> = []

    /// Live Activities were switched off, which removes all at once.
    mutating func switchOff(app: String, device: String?) -> [Command] {
        guard !off.contains([app, ""]), off.insert([app, device ?? ""]).inserted else { return [] }
        return [Self.set(false, app, device)]
    }

    /// A start that was not refused: they are on.
    mutating func allowStart(app: String, device: String?) -> [Command] {
        if off.contains([app, ""]) {
            // For all devices, over what was set on one.
            off = off.filter { $0.first != app }
            return [Self.set(true, app, nil)]
        }
        guard let device, off.remove([app, device]) != nil else { return [] }
        return [Self.set(true, app, device)]
    }

    private static func set(_ isOn: Bool, _ app: String, _ device: String?) -> Command {
        var command = Command("settings.set", app: app)
        command["device"] = device.map(RawJSON.string)
        command["activitiesEnabled"] = .bool(isOn)
        return command
    }
}
