import IsletClient

/// What a recording has told of a person's switches so far. A switch is in no event: what it ends tells that it was
/// turned off, and the next start that it is on again.
struct ReplaySwitches {
    /// An app, and a device or none for all.
    private var off: Set<[String]> = []
    private var flips: [[String]: (at: Int64, isOn: Bool)] = [:]

    /// Live Activities were switched off, which removes all at once.
    mutating func switchOff(app: String, device: String?) -> [Command] {
        guard !off.contains([app, ""]), off.insert([app, device ?? ""]).inserted else { return [] }
        return [Self.set("activitiesEnabled", false, app, device)]
    }

    /// A start that was not refused: they are on.
    mutating func allowStart(app: String, device: String?) -> [Command] {
        var commands: [Command] = []
        if off.remove([app, ""]) != nil { commands.append(Self.set("activitiesEnabled", true, app, nil)) }
        if let device, off.remove([app, device]) != nil {
            commands.append(Self.set("activitiesEnabled", true, app, device))
        }
        return commands
    }

    /// The switch for frequent pushes was turned, which ends all at once; it is on before the first time.
    mutating func flipFrequentPushes(app: String, device: String?, at date: Int64) -> [Command] {
        let name = [app, device ?? ""]
        let last = flips[name]
        guard last?.at != date, flips[[app, ""]]?.at != date else { return [] }
        let isOn = !(last?.isOn ?? true)
        flips[name] = (date, isOn)
        return [Self.set("frequentPushesEnabled", isOn, app, device)]
    }

    private static func set(_ name: String, _ isOn: Bool, _ app: String, _ device: String?) -> Command {
        var command = Command("settings.set", app: app)
        command["device"] = device.map(RawJSON.string)
        command[name] = .bool(isOn)
        return command
    }
}
