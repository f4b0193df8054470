package import IsletClient

/// A command that brings about what a recorded event tells. It has the names, ids and dates of the recording.
package struct PlannedCommand: Sendable, Equatable {
    /// With its number among the commands of the recording, which is the same each time the recording is played.
    package var command: Command
    /// The recorded entity that it is about; nil for one about a device or an app.
    package var entity: String?
    /// Whether the entity begins with it.
    package var opens = false
    /// The recorded id of what the answer names, where that is another entity than it is about.
    package var successor: String?
    /// The state of the entity before the event: what a provider has a part in is waited for.
    package var from: String?
    /// Whether it only prepares for the event, so that it may have been done already.
    package var isPreparation = false

    init(_ command: Command, entity: String? = nil) {
        self.command = command
        self.entity = entity
    }

    /// Whether an entity is there only when this is answered.
    func begins(_ entity: String) -> Bool { opens && self.entity == entity || successor == entity }
}

/// What is to be done about a recorded event.
package enum ReplayVerdict: Sendable, Equatable {
    case send([PlannedCommand])
    /// It comes by itself.
    case follows(FollowingCause)
    case impossible(ReplayObstacle)
}

/// Why an event comes by itself where the events before it have been played.
package enum FollowingCause: String, Sendable, CaseIterable {
    /// A date has come: staleness, the limits, dismissal, entries, retries.
    case deadline
    /// What a provider has answered, or has not.
    case provider
    /// It is another effect of a command that was sent for an event before it.
    case command
    /// The service was restarted, or put a stack in order.
    case service

    /// Such as `from deadlines`, after how many there are.
    var text: String {
        switch self {
        case .deadline: "from deadlines"
        case .provider: "from providers"
        case .command: "with other commands"
        case .service: "from the service itself"
        }
    }
}

/// Why an event cannot be played.
package enum ReplayObstacle: String, Sendable, CaseIterable {
    /// A merge patch alone does not tell what the command was.
    case startNotRecorded
    /// What would begin it could not be planned.
    case startNotReplayed
    /// What would begin it was refused, so that what has its id now is something else.
    case startRefused
    /// A kind of event, or a cause, of a later version.
    case unknownEvent
    case unknownCause
    /// The device was locked, so that the event does not tell the configuration.
    case hiddenConfiguration
    /// The event has not all that events of its kind have.
    case incomplete
    /// The last line of the recording, whose end is missing.
    case cutOff

    /// Such as `of an unknown kind`, after how many there are.
    var text: String {
        switch self {
        case .startNotRecorded: "whose start is not recorded"
        case .startNotReplayed: "whose start could not be replayed"
        case .startRefused: "whose start was refused"
        case .unknownEvent: "of an unknown kind"
        case .unknownCause: "of an unknown cause"
        case .hiddenConfiguration: "with a configuration that a locked device hides"
        case .incomplete: "that lack something"
        case .cutOff: "cut off at the end"
        }
    }
}

/// What the recording says of an entity, up to the event that was planned last.
package struct ReplayedEntity: Sendable {
    let family: EntityTopic.Family
    package let app: String
    /// The line of the recording at which it begins.
    var begin: Int
    /// All its members, patches merged.
    package var members: RawObject
    /// Whether it was there before the recording, so that it began at another time than it does at the target.
    var isOfSnapshot = false
    /// Whether the command that begins it was planned.
    var isPlanned = true

    var device: String? { members["device"]?.string }
    package var state: String? { members["state"]?.string }
    /// Whether it is gone for good.
    var isGone: Bool { state == "dismissed" || state == "removed" }
}
