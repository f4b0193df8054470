import IsletClient

extension ReplayPlanner {
    mutating func planControlStart(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        guard event.verb == "added" else { return .impossible(.unknownEvent) }
        var add = opening("control.add", event, entity, ["kind", "configuration", "device"])
        var locking: [Command] = []
        if entity.members["isRedacted"]?.bool == true {
            guard let hidden = recording.revealed[entity.begin] else { return .impossible(.hiddenConfiguration) }
            if !hidden.isNull { add.command["configuration"] = hidden }
            if let device = entity.device { locking = devices.lock(device, at: event.at) }
        }
        return .send(locking.prepared + [add])
    }

    mutating func planControl(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        switch event.verb {
        case "configured":
            guard let configuration = event.patch["configuration"] ?? entity.members["configuration"] else {
                return .impossible(.hiddenConfiguration)
            }
            var configure = waiting("control.configure", event, entity)
            configure.command["configuration"] = configuration.isNull ? RawObject().json : configuration
            return .send([configure])
        case "acting": return planAction(event, entity)
        case "authenticating":
            guard event.cause == "person" else { return .follows(.provider) }
            // Only on a locked device a tap waits.
            let lock = entity.device.map { devices.lock($0, at: event.at) } ?? []
            return .send(lock.prepared + [waiting("control.tap", event, entity)])
        case "reloading": return planReload("control.reload", event, entity)
        case "redacted", "revealed":
            guard let device = entity.device else { return .impossible(.incomplete) }
            let locks = event.verb == "redacted"
            return sendOrFollow(locks ? devices.lock(device, at: event.at) : devices.unlock(device))
        case "removed": return .send([waiting("control.remove", event, entity)])
        case "shown", "failed", "performed":
            return .follows(event.cause == "recovery" ? .service : .provider)
        case "cancelled": return .follows(.deadline)
        case _: return .impossible(.unknownEvent)
        }
    }

    /// A toggle is set to what it was set to, whatever it shows at the target.
    private mutating func planAction(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        switch event.cause {
        case "person":
            guard entity.members["template"]?.string == "toggle", let value = entity.members["value"],
                value.bool != nil
            else { return .send([waiting("control.tap", event, entity)]) }
            var set = waiting("control.set", event, entity)
            set.command["value"] = value
            return .send([set])
        case "authentication":
            guard let device = entity.device else { return .impossible(.incomplete) }
            return sendOrFollow(devices.unlock(device))
        case "action": return .follows(.provider)
        case _: return .impossible(.unknownCause)
        }
    }

    // MARK: What controls and widgets share

    /// A command before which the entity must stand where the recorded one stood.
    func waiting(_ op: String, _ event: RecordedEvent, _ entity: ReplayedEntity) -> PlannedCommand {
        var planned = command(op, event, entity)
        planned.from = event.from
        return planned
    }

    /// A reload that was asked for, or that comes by itself.
    func planReload(_ op: String, _ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        switch event.cause {
        case "request", "push": .send([waiting(op, event, entity)])
        case "retry", "held", "atEnd", "after", "entry": .follows(.deadline)
        case "action", "sibling", "registration", "provider", "timeout", "providerLost": .follows(.provider)
        case "authentication", "configuration", "command": .follows(.command)
        case "recovery", "stack": .follows(.service)
        case _: .impossible(.unknownCause)
        }
    }

    /// What a device reported, unless an event before this one has told it already.
    func sendOrFollow(_ commands: [Command]) -> ReplayVerdict {
        commands.isEmpty ? .follows(.command) : .send(commands.map { PlannedCommand($0) })
    }
}
