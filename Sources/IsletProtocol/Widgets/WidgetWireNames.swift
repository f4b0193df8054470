package import IsletCore

// The contract's words for the core's cases of widgets, as in `WireNames.swift`.

extension WidgetFamily {
    package var wireName: StaticString {
        switch self {
        case .systemSmall: "systemSmall"
        case .systemMedium: "systemMedium"
        case .systemLarge: "systemLarge"
        case .systemExtraLarge: "systemExtraLarge"
        case .systemExtraLargePortrait: "systemExtraLargePortrait"
        case .accessoryCircular: "accessoryCircular"
        case .accessoryRectangular: "accessoryRectangular"
        case .accessoryInline: "accessoryInline"
        case .accessoryCorner: "accessoryCorner"
        }
    }
}

extension WidgetState {
    package var wireName: StaticString {
        switch self {
        case .loading: "loading"
        case .placeholder: "placeholder"
        case .shown: "shown"
        case .reloading: "reloading"
        case .acting: "acting"
        case .removed: "removed"
        }
    }
}
