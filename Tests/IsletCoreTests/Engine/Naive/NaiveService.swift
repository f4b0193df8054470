/// The service in its plainest form: a dictionary, and every question answered by looking at all of it.
final class NaiveService {
    let rules: NaiveRules
    /// Whether deadlines are dated by themselves.
    let datesByDue: Bool
    var now: Int64
    var activities: [UInt64: NaiveActivity] = [:]
    /// The steps of the present call, in order.
    var steps: [NaiveStep] = []
    var holders: [String: [UInt64]] = [:]
    /// The switches: of an app, and what a device says of its own.
    var switches: [String: (enabled: Bool, frequent: Bool)] = [:]
    var ownSwitches: [String: (enabled: Bool?, frequent: Bool?)] = [:]
    var background: Set<String> = []
    /// The dismissed ones in the order of their dismissal, as the events told it.
    var retained: [UInt64] = []

    init(_ rules: NaiveRules, now: Int64, datesByDue: Bool) {
        self.rules = rules
        self.now = now
        self.datesByDue = datesByDue
    }

    // MARK: Questions

    func ids(on device: String) -> [UInt64] {
        activities.values.filter { $0.device == device && $0.isListed }.map(\.id).sorted()
    }

    func ids(of app: String) -> [UInt64] {
        activities.values.filter { $0.app == app && $0.isListed }.map(\.id).sorted()
    }

    /// The newest that was started with a key, as long as it is remembered.
    func newest(_ app: String, _ key: String, _ device: String?) -> UInt64? {
        holders["\(app) \(device ?? "") \(key)"]?.last
    }

    func effective(_ app: String, _ device: String?) -> (enabled: Bool, frequent: Bool) {
        var result = switches[app] ?? (true, true)
        if let device, let own = ownSwitches["\(app) \(device)"] {
            result.enabled = own.enabled ?? result.enabled
            result.frequent = own.frequent ?? result.frequent
        }
        return result
    }

    /// The earliest date at which it moves by itself, and what happens then.
    func due(_ activity: NaiveActivity) -> (at: Int64, what: String)? {
        var dates: [(Int64, String)] = []
        switch activity.state {
        case "pending": dates = [(activity.startedAt, "startDate")]
        case "active", "stale":
            // In the order in which they win where they are at the same instant.
            dates.append((activity.startedAt + rules.activeLimit, "activeLimit"))
            if let span = rules.endAfter { dates.append((activity.sign + span, "silenceEnds")) }
            if activity.state == "active" {
                if let stale = activity.staleDate { dates.append((stale, "staleDate")) }
                if let span = rules.staleAfter { dates.append((activity.sign + span, "silence")) }
            }
        case "ended": if let date = activity.dismissAt { dates = [(date, "dismissalPolicy")] }
        default: break
        }
        var first: (at: Int64, what: String)?
        for (at, what) in dates where first.map({ at < $0.at }) ?? true { first = (at, what) }
        return first
    }

    // MARK: Steps

    /// Notes that an activity took a step.
    func note(
        _ activity: inout NaiveActivity, _ name: String, from: String, due: Int64? = nil, isByCommand: Bool,
        content: Bool = false, relevance: Bool = false, alert: String = "none"
    ) {
        activity.revision += 1
        let at = datesByDue && !isByCommand ? due ?? now : now
        if activity.state == "dismissed" { activity.dismissedWhen = activity.dismissAt }
        if activity.revision == 1, let key = activity.key {
            holders["\(activity.app) \(activity.device ?? "") \(key)", default: []].append(activity.id)
        }
        activities[activity.id] = activity
        steps.append(
            NaiveStep(
                id: activity.id, name: name, from: from, facts: activity.facts, at: at,
                lateBy: due.map { at - $0 }, isByCommand: isByCommand, contentChanged: content,
                relevanceChanged: relevance, alert: alert))
    }

    /// What is due of one activity happens, in the order of its dates.
    func settle(_ id: UInt64) {
        while let activity = activities[id], let due = due(activity), due.at <= now { fire(id) }
    }

    /// The next deadline of an activity happens.
    func fire(_ id: UInt64) {
        guard var activity = activities[id], let (at, what) = due(activity) else { return }
        let from = activity.state
        switch what {
        case "startDate":
            activity.state = "active"
            activity.cause = "startDate"
            activity.timestamp = max(activity.timestamp, at)
            activity.sign = at
            activity.frequent = effective(activity.app, activity.device).frequent
            note(&activity, "started", from: from, due: at, isByCommand: false, alert: "stored")
            if let stale = activity.staleDate, stale <= at { becomeStale(&activity, at, "staleDate") }
        case "staleDate": becomeStale(&activity, at, "staleDate")
        case "silence": becomeStale(&activity, at, "heartbeat")
        case "activeLimit", "silenceEnds":
            activity.state = "ended"
            activity.cause = what == "activeLimit" ? "activeLimit" : "heartbeat"
            activity.endedAt = at
            activity.dismissAt = at + rules.dismissalLimit
            note(&activity, "ended", from: from, due: at, isByCommand: false)
        default:
            activity.state = "dismissed"
            activity.cause = "dismissalPolicy"
            activity.dismissAt = at
            note(&activity, "dismissed", from: from, due: at, isByCommand: false)
        }
    }

    private func becomeStale(_ activity: inout NaiveActivity, _ at: Int64, _ cause: String) {
        activity.state = "stale"
        activity.cause = cause
        note(&activity, "stale", from: "active", due: at, isByCommand: false)
    }

    /// Takes an activity off the screen at once; where it ran and `ends`, by way of its end.
    func remove(
        _ id: UInt64, _ cause: String, ends: Bool, isByCommand: Bool, last: String? = nil, content: Bool = false
    ) {
        guard var activity = activities[id], activity.isListed else { return }
        let from = activity.state
        if activity.runs { activity.endedAt = now }
        activity.dismissAt = now
        activity.cause = cause
        if ends, activity.runs {
            activity.state = "ended"
            note(&activity, "ended", from: from, isByCommand: isByCommand, content: content)
            activity.state = "dismissed"
            activity.cause = last ?? cause
            note(&activity, "dismissed", from: "ended", due: last == nil ? nil : now, isByCommand: isByCommand)
        } else {
            activity.state = "dismissed"
            note(&activity, "dismissed", from: from, isByCommand: isByCommand)
        }
    }
}
