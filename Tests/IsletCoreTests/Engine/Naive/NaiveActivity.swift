/// One activity as the rules describe it, in plain words and numbers; nothing of it comes from the core.
struct NaiveActivity {
    let id: UInt64
    let app: String
    let type: String
    let device: String?
    let key: String?
    let isTransient: Bool
    let attributes: String
    var state = "active"
    var cause = "command"
    var startedAt: Int64
    var staleDate: Int64?
    var endedAt: Int64?
    var dismissAt: Int64?
    var timestamp: Int64
    /// The last sign of life.
    var sign: Int64
    var revision = 0
    var content: String
    var relevance = 0.0
    var hasAlert = false
    var renews: UInt64?
    var renewedBy: UInt64?
    /// The order of starting, as the events told it.
    var order = 0
    var dismissedWhen: Int64?
    /// The frequent updates setting that it runs under.
    var frequent = true

    var isOpen: Bool { ["pending", "active", "stale"].contains(state) }
    var isListed: Bool { state != "dismissed" }
    var runs: Bool { state == "active" || state == "stale" }

    /// All that can be seen of it.
    var facts: String {
        func text(_ date: Int64?) -> String { date.map(String.init) ?? "-" }
        return "\(state) \(cause) r\(revision) start \(startedAt) stale \(text(staleDate)) end \(text(endedAt))"
            + " dismiss \(text(dismissAt)) stamp \(timestamp)"
    }
}

/// The limits, copied by hand.
struct NaiveRules {
    var contentLimit = 64
    var activeLimit: Int64 = 8_000
    var dismissalLimit: Int64 = 4_000
    var maximumPerApp = 2
    var maximumPerDevice = 3
    var endedCount = false
    var future: Int64 = 8_000
    var pushEndAcceptsOlder = true
    var ignoresUnchanged = true
    var mute: Int64?
    var staleAfter: Int64?
    var endAfter: Int64?
    var retention: Int64 = 24_000
    var maximumRetained = 1_000_000
    var maximumEntities = 1_000_000
}

/// What one step was, as seen from outside.
struct NaiveStep: Equatable, CustomStringConvertible {
    var id: UInt64
    var name: String
    var from: String
    var facts: String
    var at: Int64
    var lateBy: Int64?
    var isByCommand: Bool
    var contentChanged = false
    var relevanceChanged = false
    var alert = "none"

    var description: String {
        "\(name) #\(id) \(from)> \(facts) at \(at) late \(lateBy.map(String.init) ?? "-")"
            + (isByCommand ? " by command" : "") + (contentChanged ? " content" : "")
            + (relevanceChanged ? " relevance" : "") + (alert == "none" ? "" : " alert \(alert)")
    }
}
