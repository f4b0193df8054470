/// What an event of a control may lead from and to, and why: copied by hand from apple-semantics 4.2 and the contract.
enum ControlPassages {
    private static let listed = [
        "loading", "preview", "shown", "reloading", "acting", "authenticating", "disabled",
    ]

    /// The states to which an event may lead from another one; nil: before the control was there.
    static func targets(_ event: String, from: String?) -> [String] {
        guard let from else { return event == "added" ? ["loading", "shown"] : [] }
        guard listed.contains(from) else { return [] }
        switch event {
        // C15
        case "configured": return ["loading", "shown"]
        // C3, C6, C11
        case "shown": return ["loading", "reloading"].contains(from) ? ["shown", "disabled"] : []
        case "failed":
            switch from {
            // C4
            case "loading": return ["preview"]
            // C7
            case "reloading": return ["shown", "disabled"]
            // C10
            case "acting": return ["shown", "preview"]
            default: return []
            }
        // C5, and the retry after C4
        case "reloading":
            switch from {
            case "preview": return ["loading"]
            case "shown", "disabled": return ["reloading"]
            default: return []
            }
        // C8, C12, C13; a disabled one takes no tap (C14).
        case "acting": return from == "disabled" ? [] : ["acting"]
        // C9, C12; a button whose value was never had goes on loading it.
        case "performed": return from == "acting" ? ["reloading", "loading", "shown"] : []
        // C13
        case "authenticating": return ["disabled", "acting"].contains(from) ? [] : ["authenticating"]
        case "cancelled": return from == "authenticating" ? ["shown", "preview"] : []
        case "redacted", "revealed": return [from]
        // C16
        case "removed": return ["removed"]
        default: return []
        }
    }

    static func causes(_ event: String) -> [String] {
        switch event {
        case "added": ["command"]
        case "configured": ["configuration"]
        case "shown": ["provider"]
        case "failed": ["provider", "timeout", "providerLost", "recovery"]
        case "reloading": ["request", "push", "action", "sibling", "registration", "retry", "recovery", "providerLost"]
        case "acting": ["person", "authentication", "action"]
        case "performed": ["action"]
        case "authenticating": ["person"]
        case "cancelled": ["authentication"]
        case "redacted": ["lock"]
        case "revealed": ["unlock"]
        case "removed": ["command", "uninstall"]
        default: []
        }
    }

    static let failures = [
        "noProvider", "providerLost", "timedOut", "threw", "badAnswer", "busy", "unknownOutcome",
    ]
    /// What a locked device does not show of a sensitive control.
    static let hidden = [
        "value", "valueSource", "status", "isActive", "configuration", "tint", "actionHint", "failureReason",
    ]

    /// The spans of domain time, in milliseconds.
    static let retryFirst: Int64 = 1_000
    static let retryLongest: Int64 = 300_000
    static let authenticationLimit: Int64 = 60_000
}
