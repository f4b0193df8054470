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

extension WidgetCause {
    package var wireName: StaticString {
        switch self {
        case .command: "command"
        case .request: "request"
        case .push: "push"
        case .entry: "entry"
        case .atEnd: "atEnd"
        case .after: "after"
        case .retry: "retry"
        case .held: "held"
        case .visible: "visible"
        case .location: "location"
        case .locale: "locale"
        case .appearance: "appearance"
        case .foreground: "foreground"
        case .session: "session"
        case .standBy: "standBy"
        case .developerMode: "developerMode"
        case .action: "action"
        case .configuration: "configuration"
        case .registration: "registration"
        case .provider: "provider"
        case .timeout: "timeout"
        case .providerLost: "providerLost"
        case .person: "person"
        case .recovery: "recovery"
        case .stack: "stack"
        case .uninstall: "uninstall"
        }
    }
}

extension WidgetEventName {
    package var wireName: StaticString {
        switch self {
        case .added: "widget.added"
        case .configured: "widget.configured"
        case .reloading: "widget.reloading"
        case .timeline: "widget.timeline"
        case .entry: "widget.entry"
        case .held: "widget.held"
        case .failed: "widget.failed"
        case .acting: "widget.acting"
        case .performed: "widget.performed"
        case .tapped: "widget.tapped"
        case .rotated: "widget.rotated"
        case .removed: "widget.removed"
        }
    }
}

extension WidgetMachine.NextCause {
    package var wireName: StaticString {
        switch self {
        case .entry: "entry"
        case .policy: "policy"
        case .retry: "retry"
        case .held: "held"
        case .relevance: "relevance"
        }
    }
}

extension ReloadExemption {
    package var wireName: StaticString {
        switch self {
        case .foreground: "foreground"
        case .session: "session"
        case .intent: "intent"
        case .locale: "locale"
        case .appearance: "appearance"
        case .standBy: "standBy"
        case .developerMode: "developerMode"
        case .placement: "placement"
        }
    }
}

extension ReloadHold {
    package var wireName: StaticString {
        switch self {
        case .budget: "budget"
        case .spacing: "spacing"
        }
    }
}

extension WidgetOptions.Query {
    package var wireName: StaticString {
        switch self {
        case .suggestedEntities: "suggestedEntities"
        case .entitiesFor: "entitiesFor"
        case .defaultResult: "defaultResult"
        }
    }
}
