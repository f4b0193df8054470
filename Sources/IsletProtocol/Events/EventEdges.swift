package import IsletCore

/// Between which states the events of one name lead, and why they come: what else is looked for in one is never found.
///
/// The simulator holds each event that it sees against this.
package struct EventEdges: Equatable, Sendable {
    /// The states before, as they are written; none: these events have no state before.
    package var from: [String]
    /// The states after.
    package var to: [String]
    package var causes: [String]

    /// Those of all events, by the names of these.
    package static let all: [String: EventEdges] = {
        var all: [String: EventEdges] = [:]
        for name in ActivityEventName.allCases { all["\(name.wireName)"] = name.edges }
        for name in ControlEventName.allCases { all["\(name.wireName)"] = name.edges }
        for name in WidgetEventName.allCases { all["\(name.wireName)"] = name.edges }
        for name in GroupEvent.Name.allCases { all["\(name.wireName)"] = name.edges }
        return all
    }()

    /// Whether an event can say these; what it does not say is nil.
    package func allow(from: String?, to: String?, cause: String?) -> Bool {
        from.map(self.from.contains) ?? true && to.map(self.to.contains) ?? true && cause.map(causes.contains) ?? true
    }

    fileprivate init(from: [String], to: [String], causes: [String]) {
        (self.from, self.to, self.causes) = (from, to, causes)
    }

    fileprivate init(activity from: [ActivityState], _ to: [ActivityState], _ causes: [Cause]) {
        self.init(
            from: from.map { "\($0.wireName)" }, to: to.map { "\($0.wireName)" },
            causes: causes.map { "\($0.wireName)" })
    }

    fileprivate init(control from: [ControlState], _ to: [ControlState], _ causes: [ControlCause]) {
        self.init(
            from: from.map { "\($0.wireName)" }, to: to.map { "\($0.wireName)" },
            causes: causes.map { "\($0.wireName)" })
    }

    fileprivate init(widget from: [WidgetState], _ to: [WidgetState], _ causes: [WidgetCause]) {
        self.init(
            from: from.map { "\($0.wireName)" }, to: to.map { "\($0.wireName)" },
            causes: causes.map { "\($0.wireName)" })
    }
}

extension ActivityEventName {
    package var edges: EventEdges {
        let open = ActivityState.allCases.filter(\.isOpen)
        return switch self {
        case .started: EventEdges(activity: [.pending], [.active], [.command, .push, .startDate, .renewal])
        case .scheduled: EventEdges(activity: [], [.pending], [.command, .push])
        // What only its silence made stale is active again at a heartbeat.
        case .updated: EventEdges(activity: open, open, [.command, .push, .heartbeat])
        case .stale: EventEdges(activity: [.active], [.stale], [.staleDate, .heartbeat])
        case .ended:
            EventEdges(
                activity: [.active, .stale], [.ended],
                [.command, .push, .settings, .transient, .renewal, .activeLimit, .heartbeat])
        case .dismissed:
            EventEdges(
                activity: ActivityState.allCases.filter(\.isListed), [.dismissed],
                [.command, .push, .dismissalPolicy, .person, .system, .settings, .transient, .renewal])
        case .tapped: EventEdges(activity: open, open, [.person])
        }
    }
}

extension ControlEventName {
    package var edges: EventEdges {
        let placed = ControlState.allCases.filter { $0 != .removed }
        return switch self {
        case .added: EventEdges(control: [], [.loading, .shown], [.command])
        case .configured: EventEdges(control: placed, [.loading, .shown], [.configuration])
        case .shown: EventEdges(control: [.loading, .reloading], [.shown, .disabled], [.provider])
        case .failed:
            EventEdges(
                control: [.loading, .reloading, .acting], [.preview, .shown, .disabled],
                [.provider, .timeout, .providerLost, .recovery])
        case .reloading:
            EventEdges(
                control: [.preview, .shown, .disabled], [.loading, .reloading],
                [.request, .push, .action, .sibling, .registration, .retry, .providerLost, .recovery])
        case .acting:
            EventEdges(
                control: [.loading, .preview, .shown, .reloading, .acting, .authenticating], [.acting],
                [.person, .action, .authentication])
        case .performed: EventEdges(control: [.acting], [.loading, .shown, .reloading], [.action])
        case .authenticating:
            EventEdges(control: [.loading, .preview, .shown, .reloading, .authenticating], [.authenticating], [.person])
        case .cancelled: EventEdges(control: [.authenticating], [.preview, .shown], [.authentication])
        case .redacted: EventEdges(control: placed, placed, [.lock, .registration, .recovery])
        case .revealed: EventEdges(control: placed, placed, [.unlock, .registration, .recovery])
        case .removed: EventEdges(control: placed, [.removed], [.command, .uninstall])
        }
    }
}

extension WidgetEventName {
    package var edges: EventEdges {
        let placed = WidgetState.allCases.filter { $0 != .removed }
        let reasons: [WidgetCause] = [
            .request, .push, .atEnd, .after, .retry, .held, .visible, .location, .locale, .appearance, .foreground,
            .session, .standBy, .developerMode, .action, .registration, .providerLost, .recovery,
        ]
        return switch self {
        case .added: EventEdges(widget: [], [.loading], [.command])
        case .configured: EventEdges(widget: placed, placed, [.command, .configuration])
        case .reloading: EventEdges(widget: [.placeholder, .shown], [.loading, .reloading], reasons)
        case .timeline: EventEdges(widget: [.loading, .reloading], [.placeholder, .shown], [.provider])
        case .entry:
            EventEdges(
                widget: [.loading, .placeholder, .shown, .reloading, .acting], [.shown, .reloading, .acting], [.entry])
        // Of a foreground or session that is over by the time when its timeline may be asked for, too.
        case .held:
            EventEdges(
                widget: [.placeholder, .shown], [.placeholder, .shown], reasons.filter { $0.exemption == nil })
        case .failed:
            EventEdges(
                widget: [.loading, .reloading, .acting], [.placeholder, .shown],
                [.provider, .timeout, .providerLost, .recovery])
        case .acting: EventEdges(widget: [.shown, .reloading], [.acting], [.person])
        case .performed: EventEdges(widget: [.acting], [.reloading], [.action])
        case .tapped: EventEdges(widget: placed, placed, [.person])
        case .rotated: EventEdges(widget: placed, placed, [.stack])
        case .removed: EventEdges(widget: placed, [.removed], [.command, .uninstall])
        }
    }
}

extension GroupEvent.Name {
    package var edges: EventEdges {
        switch self {
        case .set: EventEdges(from: ["present"], to: ["present"], causes: ["command"])
        case .deleted: EventEdges(from: ["present"], to: ["removed"], causes: ["command"])
        case .notified: EventEdges(from: [], to: [], causes: ["command"])
        }
    }
}
