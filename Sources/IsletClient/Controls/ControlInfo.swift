/// A control that a person has placed.
public struct ControlInfo: Sendable, Hashable, Identifiable {
    /// The kind that it is of.
    public let kind: String
    /// Its identity, made by the service: a UUID in lower case.
    public let id: String
    /// Whose it is; nil for one that stands on no device.
    public let device: String?
    /// All that the service knows of it, such as `value`, `valueSource`, `status` and `failure`.
    public let members: RawObject

    /// A control that a replica holds; nil where the entity is none.
    public init?(_ entity: Entity) {
        guard entity.family == "control" else { return nil }
        self.init(entity.members)
    }

    /// Reads an entity; nil where it is no control.
    init?(_ members: RawObject) {
        guard let kind = members["kind"]?.string, let id = members["id"]?.string else { return nil }
        self.kind = kind
        self.id = id
        device = members["device"]?.string
        self.members = members
    }

    /// Where it stands; nil where a later service has a state that this library does not know.
    public var state: ControlState? { members["state"]?.string.flatMap(ControlState.init(rawValue:)) }

    /// Whether a toggle shows that it is on; nil of a button, and while it is hidden.
    public var isOn: Bool? { members["value"]?.bool }

    /// What is configured; nil where it is of another type, such as the identifier of an entity in place of the entity,
    /// and while it is hidden.
    public func configurationIntent<Intent: ControlConfigurationIntent>(of type: Intent.Type) -> Intent? {
        guard members["isRedacted"]?.bool != true else { return nil }
        return Intent(members: members["configuration"]?.object ?? [:])
    }

    /// The value; nil where it is of another type, where there is none, and while it is hidden.
    public func value<Value: Decodable>(as type: Value.Type) -> Value? {
        PayloadCoding.decode(type, from: members["value"])
    }
}

/// Where a control stands.
public enum ControlState: String, Sendable, Hashable, CaseIterable {
    /// Its first value, or that of a new configuration, is being asked for.
    case loading
    /// That failed: the preview is shown, and it is asked for again later.
    case preview
    /// A value is shown.
    case shown
    /// A value is shown, and the next one asked for.
    case reloading
    /// Its action runs; a toggle shows what it will be.
    case acting
    /// Its action waits for the device to be unlocked.
    case authenticating
    /// A value is shown, and taps do nothing.
    case disabled
    /// A person has removed it.
    case removed
}
