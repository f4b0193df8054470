/// What a person has done to a widget, an activity or a control, as events tell it: to be acted on, or counted.
public struct Interaction: Sendable, Hashable {
    /// The kind of a widget or a control, or the type of an activity.
    public let kind: String
    /// A widget's size and place.
    public let family: WidgetFamily?
    /// What is configured; empty where nothing is.
    public let configuration: RawObject
    /// What is to be opened.
    public let url: String?
    /// The name of the link that was tapped.
    public let link: String?
    /// The name of the action that runs.
    public let action: String?
    /// What the action gets; empty where that is nothing.
    public let parameters: RawObject

    /// Reads the member of an event; nil where it names neither kind nor type.
    init?(_ members: RawObject) {
        guard let kind = members["kind"]?.string ?? members["type"]?.string else { return nil }
        self.kind = kind
        family = members["family"]?.string.flatMap(WidgetFamily.init(rawValue:))
        configuration = members["configuration"]?.object ?? [:]
        url = members["url"]?.string
        link = members["link"]?.string
        action = members["action"]?.string
        parameters = members["parameters"]?.object ?? [:]
    }
}

extension StreamEvent {
    /// What a person has done, where that is what the event tells of, such as `widget.tapped`.
    public var interaction: Interaction? { object["interaction"]?.object.flatMap(Interaction.init) }
}
