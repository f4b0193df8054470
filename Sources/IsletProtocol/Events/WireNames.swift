package import IsletCore

// The contract's words for the core's cases. Switches and not raw values: the core's numbers are its own business.

extension EntityFamily {
    package var wireName: StaticString {
        switch self {
        case .activity: "activity"
        case .control: "control"
        case .widget: "widget"
        case .group: "group"
        }
    }
}

extension ActivityState {
    package var wireName: StaticString {
        switch self {
        case .pending: "pending"
        case .active: "active"
        case .stale: "stale"
        case .ended: "ended"
        case .dismissed: "dismissed"
        }
    }
}

extension Cause {
    package var wireName: StaticString {
        switch self {
        case .command: "command"
        case .push: "push"
        case .staleDate: "staleDate"
        case .startDate: "startDate"
        case .activeLimit: "activeLimit"
        case .dismissalPolicy: "dismissalPolicy"
        case .person: "person"
        case .system: "system"
        case .settings: "settings"
        case .transient: "transient"
        case .heartbeat: "heartbeat"
        case .renewal: "renewal"
        }
    }
}

extension ActivityEventName {
    package var wireName: StaticString {
        switch self {
        case .started: "activity.started"
        case .scheduled: "activity.scheduled"
        case .updated: "activity.updated"
        case .stale: "activity.stale"
        case .ended: "activity.ended"
        case .dismissed: "activity.dismissed"
        case .tapped: "activity.tapped"
        }
    }
}

extension ActivityStyle {
    package var wireName: StaticString {
        switch self {
        case .standard: "standard"
        case .transient: "transient"
        }
    }
}

extension IgnoreReason {
    package var wireName: StaticString {
        switch self {
        case .ended: "ended"
        case .dismissed: "dismissed"
        case .olderTimestamp: "olderTimestamp"
        case .futureTimestamp: "futureTimestamp"
        case .unchanged: "unchanged"
        case .disabled: "disabled"
        case .acting: "acting"
        }
    }
}

extension Presentation.DynamicIsland {
    package var wireName: StaticString {
        switch self {
        case .compact: "compact"
        case .minimal: "minimal"
        }
    }
}
