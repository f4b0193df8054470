/// The operations of the contract; each answers with its outcome in words.
extension NaiveService {
    enum Name {
        case id(UInt64)
        case key(String, String?)
    }

    struct Start {
        var id: UInt64
        var isOwnID = false
        var app = "", type = "", attributes = "", content = ""
        var stale: Int64?
        var relevance: Double?
        var isTransient = false
        var on: Int64?
        var hasAlert = false
        var device: String?
        var key: String?
        var background: Bool?
        var updates = false
        var isPush = false
        var ifRevision: Int?
    }

    func find(_ name: Name, _ app: String, onlyOpen: Bool = false) -> UInt64? {
        switch name {
        case .id(let id): return activities[id]?.app == app ? id : nil
        case .key(let key, let device):
            guard let id = newest(app, key, device) else { return nil }
            return onlyOpen && !(activities[id]?.isOpen ?? false) ? nil : id
        }
    }

    func start(_ start: Start) -> String {
        if let device = start.device {
            for id in ids(on: device) where rules.endedCount || activities[id]?.isOpen ?? false { settle(id) }
        }
        if let key = start.key, let holder = newest(start.app, key, start.device) {
            settle(holder)
            if let held = activities[holder] {
                if held.isOpen {
                    guard start.updates else { return "held by #\(holder) r\(held.revision)" }
                    return update(
                        .id(holder), start.app, start.content, stale: start.stale, relevance: start.relevance,
                        hasAlert: start.hasAlert, stamped: nil, isPush: start.isPush, ifRevision: start.ifRevision)
                }
            }
        }
        // It was to update an open activity of that revision.
        if start.ifRevision != nil { return "notFound" }
        if start.isOwnID, activities[start.id] != nil { return "reconnectNotPermitted" }
        if let key = start.key, let held = newest(start.app, key, start.device).flatMap({ activities[$0] }),
            let mute = rules.mute, held.state == "dismissed", held.cause == "person",
            let until = held.dismissAt.map({ $0 + mute }), now < until
        {
            return "muted until \(until)"
        }
        let effective = effective(start.app, start.device)
        guard effective.enabled else { return "denied" }
        let isBackground = start.background ?? start.device.map { background.contains("\(start.app) \($0)") } ?? false
        if !start.isPush, isBackground { return "visibility" }
        let bytes = start.attributes.utf8.count + start.content.utf8.count
        if bytes > rules.contentLimit { return "attributesTooLarge \(bytes)/\(rules.contentLimit)" }
        if let device = start.device {
            let counted = activities.values.filter {
                $0.device == device && ($0.isOpen || rules.endedCount && $0.state == "ended")
            }
            if counted.count(where: { $0.app == start.app }) >= rules.maximumPerApp {
                return "targetMaximumExceeded \(rules.maximumPerApp)"
            }
            if counted.count >= rules.maximumPerDevice { return "globalMaximumExceeded \(rules.maximumPerDevice)" }
        }
        if activities.values.count(where: \.isListed) >= rules.maximumEntities {
            return "quotaExceeded \(rules.maximumEntities)"
        }
        var activity = NaiveActivity(
            id: start.id, app: start.app, type: start.type, device: start.device, key: start.key,
            isTransient: start.isTransient, attributes: start.attributes, startedAt: now, staleDate: start.stale,
            timestamp: now, sign: now, content: start.content)
        activity.cause = start.isPush ? "push" : "command"
        activity.relevance = start.relevance ?? 0
        activity.frequent = effective.frequent
        if let on = start.on, on > now {
            activity.state = "pending"
            activity.startedAt = on
            activity.hasAlert = true
            note(&activity, "scheduled", from: "", isByCommand: true, content: true, relevance: true)
        } else {
            note(
                &activity, "started", from: "", isByCommand: true, content: true, relevance: true,
                alert: start.hasAlert ? "frame" : "none")
            staleIfPassed(&activity)
        }
        return "applied"
    }

    /// A stale date that has passed takes effect with the command that set it.
    private func staleIfPassed(_ activity: inout NaiveActivity) {
        guard activity.state == "active", let stale = activity.staleDate, stale <= now else { return }
        activity.state = "stale"
        activity.cause = "staleDate"
        note(&activity, "stale", from: "active", due: now, isByCommand: true)
    }

    func update(
        _ name: Name, _ app: String, _ content: String, stale: Int64?, relevance: Double?, hasAlert: Bool,
        stamped: Int64?, isPush: Bool, ifRevision: Int?
    ) -> String {
        guard let id = find(name, app) else { return "notFound" }
        settle(id)
        guard var activity = activities[id] else { return "lost" }
        guard activity.isOpen else { return "ignored \(activity.state)" }
        if let ifRevision, ifRevision != activity.revision { return "conflict r\(activity.revision)" }
        let stamp = stamped ?? now
        if isPush, stamp > now + rules.future { return "ignored futureTimestamp" }
        if stamp < activity.timestamp { return "ignored olderTimestamp" }
        let bytes = activity.attributes.utf8.count + content.utf8.count
        if bytes > rules.contentLimit { return "attributesTooLarge \(bytes)/\(rules.contentLimit)" }
        let score = relevance ?? 0
        let contentChanged = content != activity.content
        let relevanceChanged = score != activity.relevance
        let silenceEnds = activity.state == "stale" && activity.cause == "heartbeat" && (stale.map { $0 > now } ?? true)
        if rules.ignoresUnchanged, !contentChanged, !relevanceChanged, !hasAlert, stale == activity.staleDate,
            !silenceEnds
        {
            activity.sign = now
            activities[id] = activity
            return "ignored unchanged"
        }
        let from = activity.state
        activity.content = content
        activity.relevance = score
        activity.staleDate = stale
        activity.timestamp = stamp
        activity.sign = now
        activity.cause = isPush ? "push" : "command"
        if from == "stale", stale.map({ $0 > now }) ?? true { activity.state = "active" }
        note(
            &activity, "updated", from: from, isByCommand: true, content: contentChanged, relevance: relevanceChanged,
            alert: hasAlert ? "frame" : "none")
        if from == "active" { staleIfPassed(&activity) }
        return "applied"
    }

    enum Policy {
        case `default`, immediate
        case after(Int64)
    }

    func end(
        _ name: Name, _ app: String, _ content: String?, _ policy: Policy, stamped: Int64?, isPush: Bool,
        ifRevision: Int?
    ) -> String {
        guard let id = find(name, app) else { return "notFound" }
        settle(id)
        guard var activity = activities[id] else { return "lost" }
        if activity.state == "dismissed" { return "ignored dismissed" }
        var isImmediate = false
        if case .immediate = policy { isImmediate = true }
        if activity.state == "ended", !isImmediate { return "ignored ended" }
        if let ifRevision, ifRevision != activity.revision { return "conflict r\(activity.revision)" }
        let stamp = stamped ?? now
        let wasOlder = stamp < activity.timestamp
        var contentChanged = false
        if activity.runs {
            if isPush, stamp > now + rules.future { return "ignored futureTimestamp" }
            if wasOlder, !(isPush && rules.pushEndAcceptsOlder) { return "ignored olderTimestamp" }
            if let content {
                let bytes = activity.attributes.utf8.count + content.utf8.count
                if bytes > rules.contentLimit { return "attributesTooLarge \(bytes)/\(rules.contentLimit)" }
                contentChanged = content != activity.content
                activity.content = content
            }
        }
        activity.timestamp = max(activity.timestamp, stamp)
        activities[id] = activity
        let cause = isPush ? "push" : "command"
        var dismissAt = now + rules.dismissalLimit
        if case .after(let date) = policy { dismissAt = min(date, dismissAt) }
        if isImmediate { dismissAt = now }
        if !activity.runs {
            if activity.state == "ended" {
                activity.state = "dismissed"
                activity.cause = "dismissalPolicy"
                activity.dismissAt = now
                note(&activity, "dismissed", from: "ended", due: now, isByCommand: true)
            } else {
                remove(id, cause, ends: false, isByCommand: true)
            }
        } else if dismissAt <= now {
            remove(id, cause, ends: true, isByCommand: true, last: "dismissalPolicy", content: contentChanged)
        } else {
            let from = activity.state
            activity.state = "ended"
            activity.cause = cause
            activity.endedAt = now
            activity.dismissAt = dismissAt
            note(&activity, "ended", from: from, isByCommand: true, content: contentChanged)
        }
        return "applied"
    }

    func dismiss(_ name: Name, _ app: String, by: String, ifRevision: Int?) -> String {
        guard let id = find(name, app) else { return "notFound" }
        settle(id)
        guard let activity = activities[id] else { return "lost" }
        if activity.state == "dismissed" { return "ignored dismissed" }
        if let ifRevision, ifRevision != activity.revision { return "conflict r\(activity.revision)" }
        remove(id, by, ends: false, isByCommand: true)
        return "applied"
    }

    func renew(_ name: Name, _ app: String, _ content: String?, stale: Int64?, fresh: UInt64, ifRevision: Int?)
        -> String
    {
        guard let id = find(name, app, onlyOpen: true) else { return "notFound" }
        settle(id)
        guard var activity = activities[id] else { return "lost" }
        guard activity.isOpen else { return "ignored \(activity.state)" }
        if let ifRevision, ifRevision != activity.revision { return "conflict r\(activity.revision)" }
        if let content {
            let bytes = activity.attributes.utf8.count + content.utf8.count
            if bytes > rules.contentLimit { return "attributesTooLarge \(bytes)/\(rules.contentLimit)" }
        }
        activity.renewedBy = fresh
        activities[id] = activity
        remove(id, "renewal", ends: true, isByCommand: true)
        var successor = NaiveActivity(
            id: fresh, app: app, type: activity.type, device: activity.device, key: activity.key,
            isTransient: activity.isTransient, attributes: activity.attributes, startedAt: now, staleDate: stale,
            timestamp: now, sign: now, content: content ?? activity.content)
        successor.cause = "renewal"
        successor.relevance = activity.relevance
        successor.renews = id
        successor.frequent = effective(app, activity.device).frequent
        note(&successor, "started", from: "", isByCommand: true, content: true, relevance: true)
        staleIfPassed(&successor)
        return "applied"
    }

    func heartbeat(_ name: Name, _ app: String) -> String {
        if rules.staleAfter == nil, rules.endAfter == nil { return "unavailable ruleOff" }
        guard let id = find(name, app, onlyOpen: true) else { return "notFound" }
        settle(id)
        guard var activity = activities[id] else { return "lost" }
        guard activity.isOpen else { return "ignored \(activity.state)" }
        activity.sign = now
        activities[id] = activity
        if activity.state == "stale", activity.cause == "heartbeat", activity.staleDate.map({ $0 > now }) ?? true {
            activity.state = "active"
            note(&activity, "updated", from: "stale", isByCommand: true)
        }
        return "applied"
    }
}
