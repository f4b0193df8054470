/// The whole life of an activity, told from its birth and its entries by the rules alone: a pure function.
package struct Life: Sendable {
    package private(set) var shape: Shape
    package private(set) var passages: [Passage] = []
    /// The date of its dismissal, from which on it is retained.
    package var dismissedWhen: Int64? { shape.state == .dismissed ? shape.dismissAt : nil }

    private let birth: Birth
    private let rules: OracleRules
    private var now: Int64

    init(_ birth: Birth, _ entries: [LifeEntry], bornAt: Int64, _ rules: OracleRules) {
        self.birth = birth
        self.rules = rules
        now = bornAt
        let isPending = birth.startDate.map { $0 > bornAt } ?? false
        shape = Shape(
            state: isPending ? .pending : .active, cause: birth.cause,
            startedAt: isPending ? birth.startDate ?? bornAt : bornAt, staleDate: birth.staleDate, stamp: bornAt,
            sign: bornAt, content: birth.content, relevance: birth.relevance, frequent: birth.frequent)
        pass(isPending ? "scheduled" : "started", from: nil, alert: isPending ? nil : birth.alert, birth.asker)
        staleIfPassed(birth.asker)
        for entry in entries {
            if case .heard = entry.deed {
                shape.heardSince = entry.at
                continue
            }
            now = entry.at
            settle()
            take(entry)
        }
    }

    // MARK: Deeds

    private mutating func take(_ entry: LifeEntry) {
        let from = shape.state
        switch entry.deed {
        case .time, .heard: break
        case .sign: signOfLife(entry.asker)
        case .update(let content, let staleDate, let relevance, let alert, let stamp, let isPush):
            shape.content = content
            shape.staleDate = staleDate
            shape.relevance = relevance
            shape.stamp = stamp
            shape.sign = now
            shape.cause = isPush ? "push" : "command"
            if from == .stale, isAhead(staleDate) { shape.state = .active }
            pass("updated", from: from, alert: alert, entry.asker)
            if from == .active { staleIfPassed(entry.asker) }
        case .end(let content, let dismissAt, let stamp, let isPush):
            shape.stamp = max(shape.stamp, stamp)
            if let content { shape.content = content }
            let cause = isPush ? "push" : "command"
            switch from {
            case .pending: dismiss(cause, entry.asker)
            case .ended: dismiss("dismissalPolicy", entry.asker)
            case .active, .stale:
                end(cause, at: now, dismissAt: max(dismissAt, now), entry.asker)
                if dismissAt <= now { dismiss("dismissalPolicy", entry.asker) }
            case .dismissed: break
            }
        case .removed(let cause): dismiss(cause, entry.asker)
        case .switchedOff: dismiss("settings", nil)
        case .frequentPushes(let isOn):
            shape.frequent = isOn
            if from.runs { end("settings", at: now, dismissAt: now + rules.dismissalLimit, nil) }
        case .leftBehind:
            end("transient", at: now, dismissAt: now, entry.asker)
            dismiss("transient", entry.asker)
        case .renewed(let successor):
            shape.renewedBy = successor
            if from.runs { end("renewal", at: now, dismissAt: now, entry.asker) }
            dismiss("renewal", entry.asker)
        }
    }

    private mutating func signOfLife(_ asker: Asker?) {
        shape.sign = now
        // Only its silence had made it stale.
        guard shape.state == .stale, shape.cause == "heartbeat", isAhead(shape.staleDate) else { return }
        shape.state = .active
        pass("updated", from: .stale, asker)
    }

    private mutating func end(_ cause: String, at date: Int64, dismissAt: Int64, _ asker: Asker?, due: Int64? = nil) {
        let from = shape.state
        shape.state = .ended
        shape.cause = cause
        shape.endedAt = date
        shape.dismissAt = dismissAt
        pass("ended", from: from, due: due, asker)
    }

    private mutating func dismiss(_ cause: String, _ asker: Asker?, at date: Int64? = nil, due: Int64? = nil) {
        guard shape.state.isListed else { return }
        let from = shape.state
        if from.runs { shape.endedAt = now }
        shape.state = .dismissed
        shape.cause = cause
        shape.dismissAt = date ?? now
        pass("dismissed", from: from, due: due, asker)
    }

    private mutating func staleIfPassed(_ asker: Asker?) {
        guard shape.state == .active, !isAhead(shape.staleDate) else { return }
        shape.state = .stale
        shape.cause = "staleDate"
        pass("stale", from: .active, asker)
    }

    private func isAhead(_ date: Int64?) -> Bool { date.map { $0 > now } ?? true }

    // MARK: Deadlines

    /// Every deadline up to now takes effect, dated by itself.
    private mutating func settle() {
        while let due = shape.due(rules), due.at <= now { reach(due.at, due.cause) }
    }

    private mutating func reach(_ date: Int64, _ cause: String) {
        let from = shape.state
        switch cause {
        case "startDate":
            shape.state = .active
            shape.cause = cause
            shape.stamp = max(shape.stamp, date)
            shape.sign = date
            pass("started", from: from, due: date, alert: birth.alert, nil)
            if let stale = shape.staleDate, stale <= date { becomeStale("staleDate", date) }
        case "staleDate": becomeStale(cause, date)
        case "dismissalPolicy": dismiss(cause, nil, at: date, due: date)
        case "heartbeat" where !silenceEnds(date): becomeStale(cause, date)
        default: end(cause, at: date, dismissAt: date + rules.dismissalLimit, nil, due: date)
        }
    }

    private func silenceEnds(_ date: Int64) -> Bool { 
        rules.silenceEnds.map { max(shape.sign, shape.heardSince) + $0 <= date } ?? false
    }

    private mutating func becomeStale(_ cause: String, _ date: Int64) {
        shape.state = .stale
        shape.cause = cause
        pass("stale", from: .active, due: date, nil)
    }

    // MARK: Passages

    private mutating func pass(
        _ name: String, from: LifeState?, due: Int64? = nil, alert: String? = nil, _ asker: Asker?
    ) {
        shape.revision += 1
        let at = due.map { rules.datesByDue ? $0 : now } ?? now
        var lateBy: Int64?
        if let due {
            lateBy = at - due
        } else if Self.dateCauses.contains(shape.cause), name != "updated" {
            // A date that a command set and that had passed: late since it was set.
            lateBy = 0
        }
        if from != shape.state { shape.stateAt = at - (lateBy ?? 0) }
        passages.append(
            Passage(
                name: "activity." + name, from: from, at: at, lateBy: lateBy, due: due, alert: alert, asker: asker,
                shape: shape))
    }

    private static let dateCauses: Set<String> = [
        "staleDate", "startDate", "activeLimit", "dismissalPolicy", "heartbeat",
    ]
}
