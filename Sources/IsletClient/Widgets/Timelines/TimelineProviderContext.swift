public import FoundationEssentials

/// For what a timeline, a snapshot or a placeholder is.
public struct TimelineProviderContext: Sendable, Hashable {
    /// The size and place.
    public let family: WidgetFamily
    /// Whether it is for a gallery: sample data does, and soon.
    public let isPreview: Bool
    /// The service's domain time, which may run fast or stand still: entries begin by it, not by the machine's clock.
    /// In a placeholder, which holds for all times, it is 2001-01-01T00:00Z.
    public let now: Date
    /// The widget; nil in a snapshot and a placeholder, which are of none that is placed.
    public let id: String?
    /// Whose widget it is; nil for one that stands on no device.
    public let device: String?
    /// How the widget is drawn.
    public let rendering: WidgetRendering

    /// A context of these, for tests of providers.
    public init(
        family: WidgetFamily, isPreview: Bool = false, now: Date, id: String? = nil, device: String? = nil,
        rendering: WidgetRendering = WidgetRendering()
    ) {
        self.family = family
        self.isPreview = isPreview
        self.now = now
        self.id = id
        self.device = device
        self.rendering = rendering
    }

    /// Reads a call; nil where it names no family.
    init?(_ frame: RawObject) {
        guard let family = frame["family"]?.string.flatMap(WidgetFamily.init(rawValue:)) else { return nil }
        self.init(
            family: family, isPreview: frame["isPreview"]?.bool ?? false,
            now: frame["now"]?.integer.map(Date.init(milliseconds:)) ?? Date(), id: frame["widget"]?.string,
            device: frame["device"]?.string, rendering: WidgetRendering(frame["rendering"]?.object ?? [:]))
    }

    /// That of a kind's placeholder.
    static func placeholder(_ family: WidgetFamily) -> TimelineProviderContext {
        TimelineProviderContext(family: family, isPreview: true, now: Date(timeIntervalSinceReferenceDate: 0))
    }
}
