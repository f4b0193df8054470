/// A widget that a person has placed.
public struct WidgetInfo: Sendable, Hashable, Identifiable {
    /// The kind that it is of.
    public let kind: String
    /// Its identity, made by the service: a UUID in lower case.
    public let id: String
    /// Its size and place; nil where a later service has one that this library does not know.
    public let family: WidgetFamily?
    /// Whose it is; nil for one that stands on no device.
    public let device: String?
    /// All that the service knows of it, such as `entry`, `entryIndex`, `policy`, `failure` and `held`.
    public let members: RawObject

    /// A widget that a replica holds; nil where the entity is none.
    public init?(_ entity: Entity) {
        guard entity.family == "widget" else { return nil }
        self.init(entity.members)
    }

    /// Reads an entity; nil where it is no widget.
    init?(_ members: RawObject) {
        guard let kind = members["kind"]?.string, let id = members["id"]?.string else { return nil }
        self.kind = kind
        self.id = id
        family = members["family"]?.string.flatMap(WidgetFamily.init(rawValue:))
        device = members["device"]?.string
        self.members = members
    }

    /// Where it stands; nil where a later service has a state that this library does not know.
    public var state: WidgetState? { members["state"]?.string.flatMap(WidgetState.init(rawValue:)) }

    /// What is configured, as it was sent; empty where nothing is.
    public var configuration: RawObject { members["configuration"]?.object ?? [:] }

    /// What is configured; nil where it is of another type, such as the identifier of an entity in place of the entity.
    public func widgetConfigurationIntent<Intent: ConfigurationIntent>(of type: Intent.Type) -> Intent? {
        Intent(members: configuration)
    }

    /// What is shown; nil where it is of another type, and while there is none.
    public func entry<Entry: TimelineEntry>(as type: Entry.Type) -> Entry? {
        TimelineCoding.entry(type, members["entry"]?.object)
    }

    /// How it is drawn.
    public var rendering: WidgetRendering { WidgetRendering(members["rendering"]?.object ?? [:]) }

    /// When its next timeline is asked for; nil while it has had none.
    public var policy: TimelineReloadPolicy? { members["policy"].flatMap(TimelineReloadPolicy.init) }

    /// Whether what is shown says that the person has to log in first.
    public var needsLogin: Bool { members["needsLogin"]?.bool ?? false }

    /// Whether an action runs, so that what is shown is about to change.
    public var isInvalidated: Bool { members["isInvalidated"]?.bool ?? false }

    /// Whether it is the top one of its device's Smart Stack.
    public var isOnTop: Bool { members["isOnTop"]?.bool ?? false }
}

/// Where a widget stands.
public enum WidgetState: String, Sendable, Hashable, CaseIterable {
    /// Nothing is there yet, and a timeline is being asked for.
    case loading
    /// Nothing is there yet, and nobody is being asked: the kind's placeholder is drawn.
    case placeholder
    /// An entry is shown.
    case shown
    /// An entry is shown, and the next timeline asked for.
    case reloading
    /// An action runs; the entry that is shown is about to change.
    case acting
    /// A person has removed it.
    case removed
}
