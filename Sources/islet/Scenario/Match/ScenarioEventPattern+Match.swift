import IsletClient

/// An event with what is known of its entity.
struct ScenarioEvent: Sendable {
    var object: RawObject
    var id: String?
    /// What never changes of its entity; nil where nothing has told it.
    var constants: RawObject?
    /// Its entity as it was then; nil where its events have not told all of it.
    var whole: RawObject?
    /// The type or kind of its topic.
    var kind: String

    var name: String { object["event"]?.string ?? "?" }
    var family: String { ScenarioEntity.family(of: name) }
    /// A key of a group stands in each of its events.
    var key: String? { (constants ?? object[family]?.object)?["key"]?.string }

    /// What is told of it in messages: `activity.stale order-1`.
    var title: String { [name, key ?? (kind.isEmpty ? nil : kind)].compactMap(\.self).joined(separator: " ") }

    /// Whether there is nothing to be known of its entity but what it carries and its constants.
    var isKnown: Bool { constants != nil || ScenarioEntity.constants[family] == nil || id == nil }

    /// The event with its entity as it is then, as far as an event may say it: a later one carries only what has
    /// changed, and the state only as `to`.
    var completed: RawObject {
        guard var entity = object[family]?.object else { return object }
        for member in constants?.members ?? [] where entity[member.name] == nil { entity[member.name] = member.value }
        if entity["state"] == nil { entity["state"] = object["to"] }
        // The first event tells all.
        if object["from"] == nil { entity = ScenarioEntity.tellingMarks(of: entity, family) }
        var completed = object
        completed[family] = entity.json
        return completed
    }
}

extension ScenarioEventPattern {
    /// Whether an event is one that is expected, by what it carries; nil where that cannot be told.
    func fits(_ event: ScenarioEvent, _ scope: ScenarioScope) throws(ScenarioMiss) -> Bool? {
        try decide(event, scope) { event throws(ScenarioMiss) in try hasMembers(event, scope) }
    }

    /// Whether an event is one that must not come, by its entity as it was then: what has not changed is in no event,
    /// and would else never be looked at. nil where that cannot be told.
    func forbids(_ event: ScenarioEvent, _ scope: ScenarioScope) throws(ScenarioMiss) -> Bool? {
        try decide(event, scope) { event throws(ScenarioMiss) in
            guard let whole = event.whole else {
                let constants = event.constants == nil ? [] : ScenarioEntity.constants[event.family] ?? []
                let carried = event.object[event.family]?.object ?? [:]
                return try hasTold(event, scope) { name in
                    name == "state" || constants.contains(name) || carried[name] != nil
                }
            }
            var object = event.object
            object[event.family] = ScenarioEntity.tellingMarks(of: whole, event.family).json
            return try members.holds(for: object.json, scope)
        }
    }

    private func decide(
        _ event: ScenarioEvent, _ scope: ScenarioScope,
        _ hasMembers: (ScenarioEvent) throws(ScenarioMiss) -> Bool?
    ) throws(ScenarioMiss) -> Bool? {
        if let name, event.name != name { return false }
        let isOfSubject = try isOfSubject(event, scope)
        guard isOfSubject != false else { return false }
        switch try hasMembers(event) {
        case true?: return isOfSubject
        case false?: return false
        case nil: return nil
        }
    }

    private func isOfSubject(_ event: ScenarioEvent, _ scope: ScenarioScope) throws(ScenarioMiss) -> Bool? {
        guard let subject else { return true }
        guard let wanted = try subject.json(scope).string else {
            throw ScenarioMiss("\(subject.text) is no key, kind or id")
        }
        // An id is written in lower case, in whatever case it is asked for.
        if [event.key, event.kind].contains(wanted) || event.id == wanted.lowercased() { return true }
        return event.isKnown ? false : nil
    }

    private func hasMembers(_ event: ScenarioEvent, _ scope: ScenarioScope) throws(ScenarioMiss) -> Bool? {
        guard !event.isKnown else { return try members.holds(for: event.completed.json, scope) }
        // Of an entity from before the scenario only what the event carries is known.
        let constants = ScenarioEntity.constants[event.family] ?? []
        return try hasTold(event, scope) { !constants.contains($0) }
    }

    /// - Parameter isTold: whether the event tells a member of its entity.
    private func hasTold(
        _ event: ScenarioEvent, _ scope: ScenarioScope, _ isTold: (String) -> Bool
    ) throws(ScenarioMiss) -> Bool? {
        guard case .members(let all) = members else { return try members.holds(for: event.completed.json, scope) }
        var known: [ScenarioPattern.Member] = []
        var isWhole = true
        for member in all {
            guard member.name == event.family else {
                known.append(member)
                continue
            }
            guard case .members(let inner) = member.pattern else {
                isWhole = false
                continue
            }
            let told = inner.filter { isTold($0.name) }
            if told.count < inner.count { isWhole = false }
            known.append(.init(name: member.name, pattern: .members(told)))
        }
        let isSo = try ScenarioPattern.members(known).holds(for: event.completed.json, scope)
        return isSo == true && !isWhole ? nil : isSo
    }

    /// Why the first event of the same name does not fit; nothing where there is none.
    func nearest(_ events: [ScenarioEvent], _ scope: ScenarioScope) throws(ScenarioMiss) -> [ScenarioDifference] {
        for event in events where event.name == name || name == nil {
            guard try isOfSubject(event, scope) != false else { continue }
            return try members.differences(from: event.completed.json, scope)
        }
        return []
    }
}

/// Lists of expected events against those that came.
enum ScenarioEventMatch {
    /// How a list fares.
    enum Verdict {
        /// All is as expected, by so many of the first events: those behind have not been looked at.
        case fit(first: Int)
        /// What is missing or too much, in one sentence, and of which pattern that is told.
        case problem(String, ScenarioEventPattern?)
    }

    /// Whether the events that came are as expected.
    static func verdict(
        _ patterns: [ScenarioEventPattern], _ order: ScenarioEventOrder, _ events: [ScenarioEvent],
        _ scope: ScenarioScope
    ) throws(ScenarioMiss) -> Verdict {
        switch order {
        case .inOrder:
            var next = 0
            for (index, pattern) in patterns.enumerated() {
                var found = false
                while next < events.count, !found {
                    found = try pattern.fits(events[next], scope) == true
                    next += 1
                }
                guard found else {
                    var isEarlier = false
                    for event in events where try pattern.fits(event, scope) == true { isEarlier = true }
                    let after = index > 0 ? " after \(patterns[index - 1].title)" : ""
                    return .problem(
                        isEarlier && index > 0
                            ? "\(pattern.title) came, but not\(after)" : "\(pattern.title) did not come\(after)",
                        pattern
                    )
                }
            }
            return .fit(first: next)
        case .exactly:
            for (index, pattern) in patterns.enumerated() {
                guard index < events.count else { return .problem("\(pattern.title) did not come", pattern) }
                guard try pattern.fits(events[index], scope) == true else {
                    return .problem("\(pattern.title) was expected, and \(events[index].title) came", pattern)
                }
            }
            guard events.count > patterns.count else { return .fit(first: patterns.count) }
            return .problem("\(events[patterns.count].title) came too, and was not expected", nil)
        case .anyOrder:
            if let missing = try unmatched(patterns, events, scope) {
                return .problem("\(patterns[missing].title) did not come", patterns[missing])
            }
            return .fit(first: try fewest(patterns, events, scope))
        }
    }

    /// How many of the first events have one for each pattern; all of them do.
    private static func fewest(
        _ patterns: [ScenarioEventPattern], _ events: [ScenarioEvent], _ scope: ScenarioScope
    ) throws(ScenarioMiss) -> Int {
        var (least, enough) = (patterns.count, events.count)
        while least < enough {
            let middle = (least + enough) / 2
            if try unmatched(patterns, Array(events.prefix(middle)), scope) == nil {
                enough = middle
            } else {
                least = middle + 1
            }
        }
        return enough
    }

    /// The first pattern that gets no event of its own, where each event is given to one pattern.
    private static func unmatched(
        _ patterns: [ScenarioEventPattern], _ events: [ScenarioEvent], _ scope: ScenarioScope
    ) throws(ScenarioMiss) -> Int? {
        // Augmenting paths: what a pattern takes, another one may give up for a further event.
        var owner: [Int: Int] = [:]
        for index in patterns.indices {
            var seen: Set<Int> = []
            guard try give(index, patterns, events, scope, &owner, &seen) else { return index }
        }
        return nil
    }

    private static func give(
        _ index: Int, _ patterns: [ScenarioEventPattern], _ events: [ScenarioEvent], _ scope: ScenarioScope,
        _ owner: inout [Int: Int], _ seen: inout Set<Int>
    ) throws(ScenarioMiss) -> Bool {
        for place in events.indices where !seen.contains(place) {
            guard try patterns[index].fits(events[place], scope) == true else { continue }
            seen.insert(place)
            if let other = owner[place] {
                guard try give(other, patterns, events, scope, &owner, &seen) else { continue }
            }
            owner[place] = index
            return true
        }
        return false
    }
}
