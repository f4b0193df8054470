/// The rows that are filtered, with the members that proto-json/schemas gives them.
extension FilterSubject {
    /// As `activity.list` gives them.
    package static let activity = FilterSubject(
        "an activity",
        [
            .init("id", .text), .init("app", .text), .init("type", .text), .init("key", .text), .init("device", .text),
            .init("state", .words(activityStates)), .init("stateAt", .date), .init("revision", .number),
            .init("attributes", .payload),
            .init("contentState", .payload), .init("staleDate", .date), .init("relevanceScore", .number),
            .init("style", .words(["standard", "transient"])),
            .init("pushType", .object([.init("channel", .text)], words: ["token"])), .init("startDate", .date),
            .init("startedAt", .date), .init("endedAt", .date), .init("dismissAt", .date), .init("expiresAt", .date),
            .init("timestamp", .date), .init("cause", .words(activityCauses)),
            .init("next", next(["staleDate", "startDate", "activeLimit", "dismissalPolicy", "heartbeat"])),
            .init("renews", .text), .init("renewedBy", .text),
        ],
        elsewhere: ["presentation": "it is only in a list in the order of presentation"])

    /// As `activity.list` gives them in the order of presentation.
    package static let presentedActivity = activity.with([
        .init(
            "presentation",
            .object([.init("lockScreen", .number), .init("dynamicIsland", .words(["compact", "minimal"]))], words: []))
    ])

    /// As `control.list` gives them.
    package static let control = FilterSubject(
        "a control",
        [
            .init("id", .text), .init("app", .text), .init("kind", .text), .init("device", .text),
            .init("template", .words(["toggle", "button"])), .init("state", .words(controlStates)),
            .init("stateAt", .date), .init("revision", .number), .init("configuration", .payload), .init("value", .payload),
            .init("valueSource", .words(["preview", "provider", "optimistic"])), .init("isActive", .flag),
            .init("status", .text), .init("tint", .text), .init("actionHint", .text), .init("valueAt", .date),
            .init("isDisabled", .flag), .init("isRedacted", .flag), .init("failure", .words(failures)),
            .init("failureReason", .text), .init("addedAt", .date), .init("cause", .words(controlCauses)),
            .init("next", next(["retry", "authentication"])),
        ])

    /// As `widget.list` gives them.
    package static let widget = FilterSubject(
        "a widget",
        [
            .init("id", .text), .init("app", .text), .init("kind", .text), .init("family", .words(widgetFamilies)),
            .init("device", .text), .init("state", .words(widgetStates)), .init("stateAt", .date), .init("revision", .number),
            .init("configuration", .payload),
            .init(
                "rendering",
                .object(
                    [
                        .init("mode", .words(["fullColor", "accented", "vibrant"])),
                        .init("mountingStyle", .words(["elevated", "recessed"])),
                        .init("levelOfDetail", .words(["default", "simplified"])),
                        .init("showsContainerBackground", .flag),
                        .init("supplementalFamily", .words(["small", "medium"])),
                    ], words: [])),
            .init(
                "entry",
                .object(
                    [
                        .init("date", .date), .init("content", .payload),
                        .init("relevance", .object([.init("score", .number), .init("duration", .number)], words: [])),
                        .init("url", .text), .init("links", .payload),
                    ], words: [])),
            .init("entryIndex", .number), .init("entries", .number),
            .init("policy", .object([.init("after", .date)], words: ["atEnd", "never"])), .init("timelineAt", .date),
            .init("needsLogin", .mark), .init("isInvalidated", .mark), .init("isOnTop", .mark),
            .init("failure", .words(failures)), .init("failureReason", .text),
            .init(
                "held",
                .object(
                    [
                        .init("until", .date), .init("reason", .words(["budget", "spacing"])),
                        .init("cause", .words(widgetCauses)), .init("merged", .number),
                    ], words: [])),
            .init("addedAt", .date), .init("cause", .words(widgetCauses)),
            .init("next", next(["entry", "policy", "retry", "held", "relevance"])),
        ])

    /// As `group.list` gives them.
    package static let groupItem = FilterSubject(
        "a key of a group",
        [
            .init("group", .text), .init("key", .text), .init("state", .words(["present", "removed"])),
            .init("revision", .number), .init("value", .payload), .init("by", .text), .init("updatedAt", .date),
        ])

    /// As `provider.list` gives them.
    package static let provider = FilterSubject(
        "a provider",
        [
            .init("id", .text), .init("app", .text), .init("kinds", .list()), .init("widgets", .list()),
            .init("state", .words(["live", "draining", "open", "halfOpen"])), .init("opensIn", .number),
            .init("capacity", .number), .init("inFlight", .number), .init("waiting", .number), .init("calls", .number),
            .init("failures", .number), .init("late", .number), .init("unknown", .number), .init("p50", .number),
            .init("p99", .number), .init("age", .number), .init("silence", .number),
        ])

    /// As `subscriber.list` gives them.
    package static let subscriber = FilterSubject(
        "a subscriber",
        [
            .init("nonce", .text), .init("age", .number), .init("lag", .number), .init("isLagging", .flag),
            .init("apps", .payload),
        ])

    /// As `timer.list` gives them.
    package static let timer = FilterSubject(
        "a timer",
        [
            .init("at", .date),
            .init(
                "cause",
                .words([
                    "staleDate", "startDate", "activeLimit", "dismissalPolicy", "heartbeat", "retry", "authentication",
                    "entry", "policy", "held", "relevance",
                ])), .init("family", .words(["activity", "control", "widget"])), .init("app", .text),
            .init("kind", .text), .init("id", .text), .init("key", .text), .init("device", .text),
            .init("state", .words(entityStates)),
        ])

    /// As `problem.list` gives them.
    package static let problem = FilterSubject(
        "a problem",
        [
            .init("severity", .words(["critical", "warning", "notice"])),
            .init(
                "what",
                .words([
                    "failed", "unserved", "waiting", "stale", "overdue", "held", "lagging", "silent", "full", "clock",
                ])),
            .init(
                "family",
                .words([
                    "activity", "control", "widget", "kind", "group", "provider", "subscriber", "journal", "clock",
                ])), .init("app", .text), .init("kind", .text), .init("id", .text), .init("key", .text),
            .init("device", .text), .init("state", .words(entityStates + ["live", "draining", "open", "halfOpen"])),
            .init("since", .date), .init("until", .date), .init("failure", .words(failures)),
            .init("failureReason", .text), .init("count", .number), .init("text", .text), .init("advice", .text),
        ])

    /// As `slot.list` gives them.
    package static let slot = FilterSubject(
        "a device", [.init("device", .text), .init("held", .number), .init("apps", .list(naming: "app"))])

    /// As `islet apps --json` gives them.
    package static let app = FilterSubject(
        "an app",
        [
            .init("app", .text), .init("seq", .number), .init("activities", .number), .init("controls", .number),
            .init("widgets", .number),
        ])

    /// As `islet rules --json` gives them.
    package static let rule = FilterSubject(
        "a rule",
        [
            .init("name", .text), .init("family", .words(["activity", "control", "widget"])),
            .init("origin", .words(["Apple", "rule set", "Islet"])), .init("text", .text), .init("source", .text),
            .init("setting", .text), .init("detail", .text),
            .init("basis", .words(["documented", "observed", "inferred", "own"])),
        ])

    /// An event as one row: its own members, the parts of its topic, and what it says of its entity.
    package static let event = union(
        "an event",
        [
            FilterSubject(
                "an event",
                transition(eventNames, entityStates + ["present"]) + exemption
                    + [alert, interaction, .init("notification", .payload)]),
            FilterSubject(
                "an event",
                [.init("topic", .text), .init("family", .words(["activity", "control", "widget", "group"]))]),
            // The family of its topic stands in the place of a widget's.
            activity, control, widget.without("family").told(), groupItem,
        ])

    /// An event of an activity's history: its own members, and what it says of the activity.
    package static let activityEvent = history(
        "an event of an activity", "activity.", activityStates, [alert, interaction], of: activity)

    /// An event of a control's history: its own members, and what it says of the control.
    package static let controlEvent = history(
        "an event of a control", "control.", controlStates, [interaction], of: control)

    /// An event of a widget's history: its own members, and what it says of the widget.
    package static let widgetEvent = history(
        "an event of a widget", "widget.", widgetStates, exemption + [interaction], of: widget)

    private static func history(
        _ noun: String, _ prefix: String, _ states: [String], _ more: [FilterField], of entity: FilterSubject
    ) -> FilterSubject {
        let names = eventNames.filter { $0.hasPrefix(prefix) }
        return union(noun, [FilterSubject(noun, transition(names, states) + more), entity.told()])
    }

    /// What every event has, whatever it is about.
    private static func transition(_ names: [String], _ states: [String]) -> [FilterField] {
        [
            .init("event", .words(names)), .init("from", .words(states)), .init("to", .words(states)),
            .init("at", .date), .init("lateBy", .number), .init("seq", .number), .init("epoch", .text),
            // Of a key of a group it is who has written it.
            .init("by", .object([.init("client", .text), .init("req", .text)], words: [])),
        ]
    }

    private static let alert = FilterField("alert", .payload)
    private static let interaction = FilterField("interaction", .payload)

    /// What events of widgets have beside that.
    private static let exemption: [FilterField] = [.init("exempt", .words(exemptions)), .init("rules", .list())]

    /// What `top` lists in any of its tabs.
    package static let top = union("a row", [activity, control, widget, provider, subscriber, problem])

    private static func next(_ causes: [String]) -> FilterKind {
        .deadline([.init("at", .date), .init("cause", .words(causes))])
    }

    private static let activityStates = ["pending", "active", "stale", "ended", "dismissed"]
    private static let controlStates = [
        "loading", "preview", "shown", "reloading", "acting", "authenticating", "disabled", "removed",
    ]
    private static let widgetStates = ["loading", "placeholder", "shown", "reloading", "acting", "removed"]
    private static let entityStates = activityStates + controlStates + ["placeholder"]
    private static let failures = [
        "noProvider", "providerLost", "timedOut", "threw", "badAnswer", "busy", "unknownOutcome",
    ]
    private static let widgetFamilies = [
        "systemSmall", "systemMedium", "systemLarge", "systemExtraLarge", "systemExtraLargePortrait",
        "accessoryCircular", "accessoryRectangular", "accessoryInline", "accessoryCorner",
    ]
    private static let exemptions = [
        "foreground", "session", "intent", "locale", "appearance", "standBy", "developerMode", "placement",
    ]
    private static let activityCauses = [
        "command", "push", "staleDate", "startDate", "activeLimit", "dismissalPolicy", "person", "system", "settings",
        "transient", "heartbeat", "renewal",
    ]
    private static let controlCauses = [
        "command", "request", "push", "person", "action", "sibling", "configuration", "registration", "retry",
        "provider", "timeout", "providerLost", "authentication", "lock", "unlock", "recovery", "uninstall",
    ]
    private static let widgetCauses = [
        "command", "request", "push", "entry", "atEnd", "after", "retry", "held", "visible", "location", "locale",
        "appearance", "foreground", "session", "standBy", "developerMode", "action", "configuration", "registration",
        "provider", "timeout", "providerLost", "person", "recovery", "stack", "uninstall",
    ]
    private static let eventNames = [
        "activity.scheduled", "activity.started", "activity.updated", "activity.stale", "activity.ended",
        "activity.dismissed", "activity.tapped", "control.added", "control.configured", "control.reloading",
        "control.shown", "control.acting", "control.authenticating", "control.cancelled", "control.performed",
        "control.failed", "control.redacted", "control.revealed", "control.removed", "widget.added",
        "widget.configured", "widget.reloading", "widget.timeline", "widget.entry", "widget.held", "widget.acting",
        "widget.performed", "widget.failed", "widget.tapped", "widget.rotated", "widget.removed", "group.set",
        "group.deleted", "group.notified",
    ]
}
