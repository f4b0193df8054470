import IsletClient

extension ReplayPlanner {
    mutating func planWidgetStart(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        guard event.verb == "added" else { return .impossible(.unknownEvent) }
        return .send([
            opening("widget.add", event, entity, ["kind", "family", "configuration", "rendering", "device"])
        ])
    }

    mutating func planWidget(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        switch event.verb {
        case "configured":
            var configure = waiting("widget.configure", event, entity)
            for name in ["configuration", "rendering"] {
                guard let value = event.patch[name] else { continue }
                configure.command[name] = value.isNull ? RawObject().json : value
            }
            guard configure.command["configuration"] != nil || configure.command["rendering"] != nil else {
                return .impossible(.incomplete)
            }
            return .send([configure])
        case "reloading", "held": return planWidgetReload(event, entity)
        case "acting":
            guard event.cause == "person" else { return .follows(.provider) }
            return .send([tap(event, entity, ["action", "parameters"])])
        case "tapped": return .send([tap(event, entity, ["link"])])
        case "removed": return .send([waiting("widget.remove", event, entity)])
        case "timeline", "failed", "performed": return .follows(event.cause == "recovery" ? .service : .provider)
        case "entry": return .follows(.deadline)
        case "rotated": return .follows(.service)
        case _: return .impossible(.unknownEvent)
        }
    }

    private func tap(_ event: RecordedEvent, _ entity: ReplayedEntity, _ names: [String]) -> PlannedCommand {
        var tap = waiting("widget.tap", event, entity)
        let interaction = event.event.object["interaction"]?.object
        for name in names { tap.command[name] = interaction?[name] }
        return tap
    }

    /// Who asked for it; what was known of the device is told before it, since it decides what a reload costs.
    private mutating func planWidgetReload(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        let exemption = event.event.object["exempt"]?.string
        let device = entity.device
        func conditions() -> [PlannedCommand] {
            device.map { devices.conditions(for: exemption, app: entity.app, on: $0).prepared } ?? []
        }
        switch event.cause {
        case "visible": return .send(conditions() + [waiting("widget.visible", event, entity)])
        case "locale", "appearance", "location":
            guard let device, let name = event.cause else { return .impossible(.incomplete) }
            return sendOrFollow(devices.once("\(name)Change", device, at: event.at))
        case "foreground", "session", "standBy", "developerMode":
            guard let device else { return .impossible(.incomplete) }
            return sendOrFollow(devices.conditions(for: event.cause, app: entity.app, on: device))
        case _:
            guard case .send(let reload) = planReload("widget.reload", event, entity) else {
                return planReload("widget.reload", event, entity)
            }
            return .send(conditions() + reload)
        }
    }
}
