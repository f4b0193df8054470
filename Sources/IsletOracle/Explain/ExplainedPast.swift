/// What `control.explain` and `widget.explain` say was decided, held against the events that the decisions made.
package struct ExplainedPast {
    package enum Family: String, Sendable {
        case control, widget
    }

    /// One event, and how its entity stood after it.
    private struct Stand {
        var event: JSON
        var entity: [String: JSON]
        /// By one of which it was made.
        var rules: [String]
    }

    private let family: Family
    private let stands: [Stand]

    /// - Parameter events: of one life of an entity, from its first to the one that the answer shows.
    package init(_ family: Family, _ events: [JSON]) {
        self.family = family
        var entity: [String: JSON] = [:]
        var stands: [Stand] = []
        for event in events {
            let before = entity
            for (member, value) in event[family.rawValue]?.object ?? [:] {
                entity[member] = value == .null ? nil : value
            }
            let name = String(event["event"]?.string?.dropFirst(family.rawValue.count + 1) ?? "")
            let rules =
                switch family {
                case .control:
                    ControlPassages.rules(ControlPassage(name: name, event: event, before: before, after: entity))
                case .widget:
                    WidgetPassages.rules(WidgetPassage(name: name, event: event, before: before, after: entity))
                }
            stands.append(Stand(event: event, entity: entity, rules: rules))
        }
        self.stands = stands
    }

    /// How many of the newest events the decisions leave out before the first one that they tell.
    package func leftOut(by decisions: [JSON]) -> Int {
        let first = decisions.first { $0["event"] != nil }?["revision"]?.integer
        return first.map { max(0, Int($0) - 1) } ?? stands.count
    }

    /// What is wrong with decisions, oldest first; nil: nothing.
    package func fault(of decisions: [JSON]) -> String? {
        var last: Int?
        var date = Int64.min
        for decision in decisions {
            guard let at = decision["at"]?.integer, decision["text"]?.string?.isEmpty == false else {
                return "a decision without a date or a text: \(decision.text)"
            }
            guard at >= date else { return "a decision of before the one before it: \(decision.text)" }
            date = at
            guard decision["event"] != nil else {
                if let fault = faultWithoutEvent(decision, after: last) { return "\(fault): \(decision.text)" }
                continue
            }
            guard let revision = decision["revision"]?.integer, revision > 0, revision <= stands.count else {
                return "of an event that is not there: \(decision.text)"
            }
            let place = Int(revision) - 1
            let isAside = last.map { isMore(of: place, after: $0) } ?? false
            guard isAside || last == nil || place == (last ?? 0) + 1 else {
                return "revision \(revision) after \((last ?? 0) + 1): \(decision.text)"
            }
            if let fault = fault(of: decision, stands[place], isAside: isAside) {
                return "\(fault): \(decision.text)\n    of \(stands[place].event.text)"
            }
            last = max(place, last ?? place)
        }
        if let last, last != stands.count - 1 { return "\(stands.count - 1 - last) events have no decision" }
        return nil
    }

    /// Whether it is one more about a timeline that came, behind what else came of that at once.
    private func isMore(of place: Int, after last: Int) -> Bool {
        place == last || place == last - 1 && stands[last].event["event"] == .string("widget.rotated")
    }

    private func fault(of decision: JSON, _ stand: Stand, isAside: Bool) -> String? {
        let event = stand.event
        if decision["outcome"] != .string("applied") { return "an event that was not applied" }
        for member in ["at", "event", "seq"] where decision[member] != event[member] { return "another \(member)" }
        if isAside {
            // What else was done to a timeline that came.
            let done = event["rules"]?.array?.compactMap { $0.string.flatMap { WidgetPassages.asides[$0] } } ?? []
            return done.contains(decision["rule"]?.string ?? "") ? nil : "nothing was done by this rule"
        }
        for member in ["from", "to", "cause", "by"] where decision[member] != event[member] {
            return "another \(member)"
        }
        // Those that are read from files say neither.
        if let failure = decision["failure"], failure != stand.entity["failure"] { return "another failure" }
        if let reason = decision["failureReason"] {
            guard event["event"] == .string("\(family.rawValue).failed") else { return "a reason of what did not fail" }
            // What nobody saw as its device was locked is known once that is unlocked, if nothing else has failed since.
            let isHidden = stand.entity["isRedacted"] == .bool(true)
            let told = isHidden ? stands.last?.entity["failureReason"] : stand.entity["failureReason"]
            if reason != told { return "another reason" }
        }
        if let exemption = decision["exempt"], exemption != event["exempt"] { return "another exemption" }
        guard let rule = decision["rule"]?.string, stand.rules.contains(rule) else {
            return "another rule than \(stand.rules)"
        }
        return nil
    }

    /// A command that did nothing, or became one with what waits: what stands, stands.
    private func faultWithoutEvent(_ decision: JSON, after last: Int?) -> String? {
        switch decision["outcome"]?.string {
        case "ignored": if decision["reason"]?.string == nil { return "ignored for no reason" }
        case "refused": break
        case "applied":
            guard family == .widget, decision["rule"] == .string(WidgetPassages.merged) else {
                return "applied without an event"
            }
        default: return "no outcome"
        }
        if decision["from"] != decision["to"] { return "it changes without an event" }
        guard let last else { return nil }
        let entity = stands[last].entity
        if decision["to"] != entity["state"] { return "it stands in \(entity["state"]?.text ?? "nothing")" }
        if decision["cause"] != entity["cause"] {
            return "what stands is caused by \(entity["cause"]?.text ?? "nothing")"
        }
        return nil
    }
}
