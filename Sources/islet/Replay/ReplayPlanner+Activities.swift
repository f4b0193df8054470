import IsletClient

extension ReplayPlanner {
    /// How long an ended activity stays where the command named no policy (the rule set's `dismissalLimit`).
    private static let standardDismissal: Int64 = 4 * 3_600_000

    // MARK: Starts

    mutating func planActivityStart(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        guard event.verb == "started" || event.verb == "scheduled" else { return .impossible(.unknownEvent) }
        if event.cause == "renewal", let old = event.patch["renews"]?.string, renewed.remove(old) != nil {
            return .follows(.command)
        }
        let names = ["type", "attributes", "contentState", "staleDate", "pushType", "device", "key"]
        var start = opening("activity.start", event, entity, names)
        start.command["relevanceScore"] = relevance(of: entity)
        if let style = entity.members["style"], style.string != "standard" { start.command["style"] = style }
        start.command["alert"] = event.event.object["alert"]
        // One that has begun, as the snapshot says, does not wait for its date.
        if let date = entity.members["startDate"], !event.isOfSnapshot || entity.state == "pending" {
            start.command["startDate"] = date
            // A scheduled one must have an alert, which only its later start tells.
            let alert = recording.alerts[entity.begin] ?? RawObject().json
            start.command["alert"] = start.command["alert"] ?? alert
        }
        let isLocal = event.cause != "push"
        let device = entity.device
        let permissions = switches.allowStart(app: entity.app, device: device)
        let foreground = isLocal ? devices.allowStart(app: entity.app, device: device) : []
        let before = (permissions + foreground).prepared
        guard event.isOfSnapshot, entity.state == "ended" else { return .send(before + [start]) }
        start.isPreparation = true
        return .send(before + [start, end(event, entity, until: entity.members["dismissAt"])])
    }

    /// The end of an activity of the snapshot, which did not end when its date there says.
    private func end(_ event: RecordedEvent, _ entity: ReplayedEntity, until date: RawJSON?) -> PlannedCommand {
        var end = command("activity.end", event, entity)
        if let date { end.command["dismissalPolicy"] = .object([.init("after", date)]) }
        return end
    }

    /// nil where it is what a missing one means.
    private func relevance(of entity: ReplayedEntity) -> RawJSON? {
        entity.members["relevanceScore"].flatMap { $0.double == 0 ? nil : $0 }
    }

    // MARK: Later events

    mutating func planActivity(
        _ event: RecordedEvent, before: ReplayedEntity, after: ReplayedEntity
    ) -> ReplayVerdict {
        switch event.verb {
        case "started", "stale": return .follows(.deadline)
        case "updated":
            if event.cause == "heartbeat" { return .send([command("activity.heartbeat", event, after)]) }
            return .send([update(event, after)])
        case "tapped":
            var tap = command("activity.tap", event, after)
            tap.command["url"] = event.event.object["interaction"]?.object?["url"]
            return .send([tap])
        case "ended": return planEnd(event, after)
        case "dismissed": return planDismissal(event, before: before, after: after)
        case _: return .impossible(.unknownEvent)
        }
    }

    /// A patch has only what has changed, but an update replaces all.
    private func update(_ event: RecordedEvent, _ entity: ReplayedEntity) -> PlannedCommand {
        var update = command("activity.update", event, entity)
        update.command["contentState"] = entity.members["contentState"]
        update.command["staleDate"] = entity.members["staleDate"]
        update.command["relevanceScore"] = relevance(of: entity)
        update.command["alert"] = event.event.object["alert"]
        update.command["timestamp"] = ownTimestamp(event, entity)
        return update
    }

    /// The timestamp that the command has named; nil where it was that of its execution.
    private func ownTimestamp(_ event: RecordedEvent, _ entity: ReplayedEntity) -> RawJSON? {
        // At the target the entity began with the snapshot: content from before that would be older.
        let beginning = entity.isOfSnapshot ? recording.header?.at : nil
        return entity.members["timestamp"].flatMap { timestamp in
            guard let date = timestamp.integer, date != event.at, date > beginning ?? .min else { return nil }
            return timestamp
        }
    }

    private mutating func planEnd(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        switch event.cause {
        case "command", "push":
            var end = command("activity.end", event, entity)
            end.command["contentState"] = event.patch["contentState"]
            end.command["dismissalPolicy"] = policy(event)
            end.command["timestamp"] = ownTimestamp(event, entity)
            return .send([end])
        case "activeLimit" where entity.isOfSnapshot:
            // At the target it began later.
            return .send([end(event, entity, until: event.patch["dismissAt"])])
        case "activeLimit", "heartbeat": return .follows(.deadline)
        case "renewal": return planRenewal(event, entity)
        case "settings":
            // The switch for frequent pushes was turned. Which way, and for which devices, no event tells; so each is
            // ended by itself, with a timestamp that leaves its own.
            var end = command("activity.end", event, entity)
            end.command["dismissalPolicy"] = policy(event)
            end.command["timestamp"] = entity.members["timestamp"]
            return .send([end])
        case "transient":
            guard let device = entity.device else { return .impossible(.incomplete) }
            let leave = devices.once("leave", device, at: event.at)
            return leave.isEmpty ? .follows(.command) : .send(leave.map { PlannedCommand($0) })
        case _: return .impossible(.unknownCause)
        }
    }

    /// The policy, as far as the dates tell it; nil for the default.
    private func policy(_ event: RecordedEvent) -> RawJSON? {
        guard let ended = event.patch["endedAt"]?.integer, let dismissed = event.patch["dismissAt"]?.integer else {
            return nil
        }
        if dismissed <= ended { return .string("immediate") }
        if dismissed == ended.addingClamped(Self.standardDismissal) { return nil }
        return .object([.init("after", .integer(dismissed))])
    }

    private mutating func planDismissal(
        _ event: RecordedEvent, before: ReplayedEntity, after: ReplayedEntity
    ) -> ReplayVerdict {
        switch event.cause {
        case "person", "system":
            var dismissal = command("activity.dismiss", event, after)
            dismissal.command["by"] = event.cause.map(RawJSON.string)
            return .send([dismissal])
        case "dismissalPolicy":
            // Before its date only an end that leaves nothing brings it about.
            guard let date = before.members["dismissAt"]?.integer, event.at < date else { return .follows(.deadline) }
            return .send([endAtOnce(event, after)])
        case "command", "push": return .send([endAtOnce(event, after)])
        case "renewal": return event.from == "ended" ? .follows(.command) : planRenewal(event, after)
        case "transient": return .follows(.command)
        case "settings":
            let off = switches.switchOff(app: after.app, device: after.device)
            return off.isEmpty ? .follows(.command) : .send(off.map { PlannedCommand($0) })
        case _: return .impossible(.unknownCause)
        }
    }

    private func endAtOnce(_ event: RecordedEvent, _ entity: ReplayedEntity) -> PlannedCommand {
        var end = command("activity.end", event, entity)
        end.command["dismissalPolicy"] = .string("immediate")
        end.command["timestamp"] = ownTimestamp(event, entity)
        return end
    }

    /// Its successor, which comes later in the recording, tells with what it was renewed.
    private mutating func planRenewal(_ event: RecordedEvent, _ entity: ReplayedEntity) -> ReplayVerdict {
        guard let id = event.entity, let successor = recording.successors[entity.begin] else {
            return .send([endAtOnce(event, entity)])
        }
        var renewal = command("activity.renew", event, entity)
        renewal.command["contentState"] = successor["contentState"]
        renewal.command["staleDate"] = successor["staleDate"]
        renewal.successor = successor["id"]?.string
        renewed.insert(id)
        return .send([renewal])
    }
}
