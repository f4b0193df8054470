/// A number that the oracle gives an activity, in the order of starting.
package typealias Handle = Int

/// Apple's states (apple-semantics 1.1), in the contract's words.
package enum LifeState: String, Sendable {
    case pending, active, stale, ended, dismissed

    package var isOpen: Bool { self == .pending || self == .active || self == .stale }
    package var runs: Bool { self == .active || self == .stale }
    package var isListed: Bool { self != .dismissed }
}

/// How an activity was born: what never changes about it.
package struct Birth: Sendable {
    var app: String
    var type: String
    var key: String?
    var device: String?
    var attributes: String
    var content: String
    var staleDate: Int64?
    var relevance = 0.0
    var isTransient = false
    var startDate: Int64?
    var alert: String?
    var pushType: String?
    var renews: Handle?
    /// `command`, `push` or `renewal`.
    var cause: String
    /// The frequent updates setting then.
    var frequent: Bool
    var asker: Asker?
}

/// Who asked for something: what events show as `by`.
package struct Asker: Equatable, Sendable {
    package var client: String?
    package var req: String?

    package init(client: String?, req: String?) {
        self.client = client
        self.req = req
    }
}

/// Something that happened to an activity. Only what was accepted is one.
enum Deed: Sendable {
    /// Time passed and the service looked.
    case time
    case update(content: String, staleDate: Int64?, relevance: Double, alert: String?, stamp: Int64, isPush: Bool)
    /// A sign of life that changed nothing else.
    case sign
    case end(content: String?, dismissAt: Int64, stamp: Int64, isPush: Bool)
    case removed(cause: String)
    case switchedOff
    case frequentPushes(Bool)
    case leftBehind
    case renewed(by: Handle)
    /// Signs of life are heard again; nothing that is due takes effect by it.
    case heard
}

/// One line of an activity's life.
struct LifeEntry: Sendable {
    var at: Int64
    /// Its place in the order of everything that happened.
    var order: Int
    var deed: Deed
    var asker: Asker?
}

/// How an activity stands.
package struct Shape: Equatable, Sendable {
    package var state: LifeState
    /// Since when it is in it: by the event that brought it, less how late that was.
    package var stateAt: Int64 = 0
    package var cause: String
    var startedAt: Int64
    var staleDate: Int64?
    var endedAt: Int64?
    var dismissAt: Int64?
    var stamp: Int64
    /// The last sign of life.
    var sign: Int64
    /// Since when signs of life are heard.
    var heardSince = Int64.min
    var content: String
    var relevance: Double
    package var revision = 0
    var renewedBy: Handle?
    var frequent: Bool

    /// Its next own step and when it comes. At the same instant the end comes before staleness.
    func due(_ rules: OracleRules) -> (at: Int64, cause: String)? {
        var first: (at: Int64, cause: String)?
        let silentSince = max(sign, heardSince)
        func consider(_ at: Int64?, _ cause: String) {
            guard let at else { return }
            if let known = first, known.at <= at { return }
            first = (at, cause)
        }
        switch state {
        case .pending: consider(startedAt, "startDate")
        case .active, .stale:
            consider(startedAt + rules.activeLimit, "activeLimit")
            consider(rules.silenceEnds.map { silentSince + $0 }, "heartbeat")
            if state == .active {
                consider(staleDate, "staleDate")
                consider(rules.silenceStale.map { silentSince + $0 }, "heartbeat")
            }
        case .ended: consider(dismissAt, "dismissalPolicy")
        case .dismissed: break
        }
        return first
    }
}

/// One step of a life: an event with one revision.
package struct Passage: Sendable {
    package var name: String
    package var from: LifeState?
    /// When it took effect.
    package var at: Int64
    package var lateBy: Int64?
    /// The date that made it, where no command did.
    package var due: Int64?
    package var alert: String?
    package var asker: Asker?
    package var shape: Shape
}
