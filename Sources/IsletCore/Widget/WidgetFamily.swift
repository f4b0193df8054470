/// The size and place of a widget (apple-semantics 5, families).
package enum WidgetFamily: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case systemSmall, systemMedium, systemLarge, systemExtraLarge
    /// visionOS.
    case systemExtraLargePortrait
    case accessoryCircular, accessoryRectangular, accessoryInline
    /// watchOS.
    case accessoryCorner

    /// Whether its entries may have links beside the widget's own URL (apple-semantics 5, deep links).
    package var allowsLinks: Bool {
        switch self {
        case .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait: true
        case .systemSmall, .accessoryCircular, .accessoryRectangular, .accessoryInline, .accessoryCorner: false
        }
    }
}
