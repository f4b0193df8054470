/// The sizes and places of widgets.
public enum WidgetFamily: String, Sendable, Hashable, CaseIterable, Codable {
    case systemSmall, systemMedium, systemLarge, systemExtraLarge
    case systemExtraLargePortrait
    case accessoryCircular, accessoryRectangular, accessoryInline, accessoryCorner

    /// Whether parts of it can be tapped for links of their own; the others open one URL as a whole.
    public var allowsLinks: Bool {
        switch self {
        case .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait: true
        case .systemSmall, .accessoryCircular, .accessoryRectangular, .accessoryInline, .accessoryCorner: false
        }
    }
}
