/// What an event of a widget may lead from and to, and why: copied by hand from apple-semantics 5 and the contract.
enum WidgetPassages {
    private static let listed = ["loading", "placeholder", "shown", "reloading", "acting"]

    /// The states to which an event may lead from another one; nil: before the widget was there.
    static func targets(_ event: String, from: String?) -> [String] {
        guard let from else { return event == "added" ? ["loading"] : [] }
        guard listed.contains(from) else { return [] }
        switch event {
        case "configured": return ["loading", from]
        case "reloading": return from == "shown" ? ["reloading"] : from == "placeholder" ? ["loading"] : []
        case "timeline": return from == "loading" ? ["shown", "placeholder"] : from == "reloading" ? ["shown"] : []
        case "entry": return [from == "loading" ? "reloading" : from == "placeholder" ? "shown" : from]
        case "held": return ["shown", "placeholder"].contains(from) ? [from] : []
        case "failed":
            return from == "loading" ? ["placeholder"] : ["reloading", "acting"].contains(from) ? ["shown"] : []
        case "acting": return ["shown", "reloading"].contains(from) ? ["acting"] : []
        case "performed": return from == "acting" ? ["reloading"] : []
        case "tapped", "rotated": return [from]
        case "removed": return ["removed"]
        default: return []
        }
    }

    private static let budgeted = [
        "request", "push", "atEnd", "after", "retry", "held", "visible", "location", "registration", "providerLost",
    ]

    static func causes(_ event: String) -> [String] {
        switch event {
        case "added": ["command"]
        case "configured": ["configuration", "command"]
        case "reloading":
            budgeted + WidgetPassages.conditions + ["locale", "appearance", "action", "recovery"]
        case "timeline": ["provider"]
        case "entry": ["entry"]
        case "held": budgeted
        case "failed": ["provider", "timeout", "providerLost", "recovery"]
        case "acting", "tapped": ["person"]
        case "performed": ["action"]
        case "rotated": ["stack"]
        case "removed": ["command", "uninstall"]
        default: []
        }
    }

    static let failures = [
        "noProvider", "providerLost", "timedOut", "threw", "badAnswer", "busy", "unknownOutcome",
    ]
    /// The failures for which nobody was asked.
    static let unasked = ["noProvider", "busy"]
    /// The conditions under which nothing is charged, in their order.
    static let conditions = ["foreground", "session", "standBy", "developerMode"]
    /// The changes of a device after which one reload is not charged.
    static let changes = ["locale", "appearance"]
}

/// One event between two stands of a widget.
struct WidgetPassage {
    let name: String
    let event: JSON
    let before: [String: JSON]
    let after: [String: JSON]

    var from: String? { before["state"]?.string }
    var to: String { after["state"]?.string ?? "" }
    var cause: String { after["cause"]?.string ?? "" }
    var at: Int64 { event["at"]?.integer ?? 0 }
    var seq: Int { Int(event["seq"]?.integer ?? 0) }
    var exemption: String? { event["exempt"]?.string }
    /// Whether a provider had given a timeline.
    var hadTimeline: Bool { before["timelineAt"] != nil }
    var hasEntry: Bool { after["entry"] != nil }
    /// Whether it asks for a timeline.
    var asks: Bool {
        ["added", "reloading", "performed"].contains(name) || name == "configured" && cause == "configuration"
    }
    func isSame(_ member: String) -> Bool { before[member] == after[member] }
}
