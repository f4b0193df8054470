import IsletClient

/// Decides which commands bring about what a recording tells.
///
/// A pure value: the same recording gives the same commands with the same numbers each time. What follows from a
/// command, a deadline or a provider is not sent; what an event does not tell is not guessed.
package struct ReplayPlanner {
    let recording: Recording
    /// The recorded entities, by what they are called in the recording.
    package internal(set) var entities: [String: ReplayedEntity] = [:]
    var devices = ReplayDevices()
    var switches = ReplaySwitches()
    var groups = ReplayGroups()
    /// The renewed activities whose successor is on its way.
    var renewed: Set<String> = []
    private var lastNumber: UInt64 = 0

    /// - Parameter recording: whose events will be planned, in their order.
    package init(_ recording: Recording) {
        self.recording = recording
    }

    /// What is to be done about the next event.
    package mutating func plan(_ event: RecordedEvent) -> ReplayVerdict {
        let verdict =
            switch event.family {
            case .activity: planEntity(event, .activity)
            case .control: planEntity(event, .control)
            case .widget: planEntity(event, .widget)
            case .group: planGroup(event)
            case nil: ReplayVerdict.impossible(.unknownEvent)
            }
        guard case .send(var commands) = verdict else { return verdict }
        for index in commands.indices {
            lastNumber += 1
            commands[index].command.requestNumber = lastNumber
        }
        return .send(commands)
    }

    private mutating func planEntity(_ event: RecordedEvent, _ family: EntityTopic.Family) -> ReplayVerdict {
        guard let id = event.entity else { return .impossible(.incomplete) }
        guard event.from != nil else { return planStart(event, id, family) }
        guard var entity = entities[id] else { return .impossible(.startNotRecorded) }
        let before = entity
        entity.members.merge(event.patch)
        if let to = event.to { entity.members["state"] = .string(to) }
        entities[id] = entity
        guard entity.isPlanned else { return .impossible(.startNotReplayed) }
        return switch family {
        case .activity: planActivity(event, before: before, after: entity)
        case .control: planControl(event, entity)
        case .widget: planWidget(event, entity)
        case .group: .impossible(.unknownEvent)
        }
    }

    private mutating func planStart(
        _ event: RecordedEvent, _ id: String, _ family: EntityTopic.Family
    ) -> ReplayVerdict {
        guard let app = event.patch["app"]?.string else { return .impossible(.incomplete) }
        var entity = ReplayedEntity(
            family: family, app: app, begin: event.line, members: event.patch, isOfSnapshot: event.isOfSnapshot)
        let verdict =
            switch family {
            case .activity: planActivityStart(event, entity)
            case .control: planControlStart(event, entity)
            case .widget: planWidgetStart(event, entity)
            case .group: ReplayVerdict.impossible(.unknownEvent)
            }
        if case .impossible = verdict { entity.isPlanned = false }
        entities[id] = entity
        return verdict
    }

    // MARK: Parts of commands

    /// A command about the event's entity.
    func command(_ op: String, _ event: RecordedEvent, _ entity: ReplayedEntity) -> PlannedCommand {
        var command = Command(op, app: entity.app)
        command["id"] = event.entity.map(RawJSON.string)
        if event.cause == "push" { command["source"] = .string("push") }
        return PlannedCommand(command, entity: event.entity)
    }

    /// A command that begins the event's entity with these of its members.
    func opening(_ op: String, _ event: RecordedEvent, _ entity: ReplayedEntity, _ names: [String]) -> PlannedCommand {
        var planned = command(op, event, entity)
        for name in names { planned.command[name] = entity.members[name] }
        planned.opens = true
        return planned
    }
}

extension [Command] {
    /// Preparations for an event.
    var prepared: [PlannedCommand] {
        map {
            var planned = PlannedCommand($0)
            planned.isPreparation = true
            return planned
        }
    }
}
