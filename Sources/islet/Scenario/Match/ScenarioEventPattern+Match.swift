import IsletClient

/// An event with what is known of its entity.
struct ScenarioEvent: Sendable {
    var object: RawObject
    var id: String?
    var key: String?
    /// The type or kind of its topic.
    var kind: String

    /// What is told of it in messages: `activity.stale order-1`.
    var title: String {
        [object["event"]?.string ?? "?", key ?? (kind.isEmpty ? nil : kind)].compactMap(\.self).joined(separator: " ")
    }
}

extension ScenarioEventPattern {
    /// Whether an event is one that is expected.
    func fits(_ event: ScenarioEvent, _ scope: ScenarioScope) throws(ScenarioMiss) -> Bool {
        if let name, event.object["event"]?.string != name { return false }
        if let subject {
            let wanted = try subject.json(scope).string
            guard let wanted, [event.key, event.id, event.kind].contains(wanted) else { return false }
        }
        return try members.differences(from: event.object.json, scope).isEmpty
    }

    /// Why the first event of the same name does not fit; nothing where there is none.
    func nearest(_ events: [ScenarioEvent], _ scope: ScenarioScope) throws(ScenarioMiss) -> [ScenarioDifference] {
        for event in events where event.object["event"]?.string == name || name == nil {
            if let subject, let wanted = try subject.json(scope).string,
                ![event.key, event.id, event.kind].contains(wanted)
            {
                continue
            }
            return try members.differences(from: event.object.json, scope)
        }
        return []
    }
}

/// Lists of expected events against those that came.
enum ScenarioEventMatch {
    /// What is missing or too much, in one sentence; nil where all is as expected.
    static func problem(
        _ patterns: [ScenarioEventPattern], _ order: ScenarioEventOrder, _ events: [ScenarioEvent],
        _ scope: ScenarioScope
    ) throws(ScenarioMiss) -> (message: String, pattern: ScenarioEventPattern?)? {
        switch order {
        case .inOrder:
            var next = 0
            for (index, pattern) in patterns.enumerated() {
                var found = false
                while next < events.count, !found {
                    found = try pattern.fits(events[next], scope)
                    next += 1
                }
                guard found else {
                    var isEarlier = false
                    for event in events where try pattern.fits(event, scope) { isEarlier = true }
                    let after = index > 0 ? " after \(patterns[index - 1].title)" : ""
                    return (
                        isEarlier && index > 0
                            ? "\(pattern.title) came, but not\(after)" : "\(pattern.title) did not come\(after)",
                        pattern
                    )
                }
            }
            return nil
        case .exactly:
            for (index, pattern) in patterns.enumerated() {
                guard index < events.count else { return ("\(pattern.title) did not come", pattern) }
                guard try pattern.fits(events[index], scope) else {
                    return ("\(pattern.title) was expected, and \(events[index].title) came", pattern)
                }
            }
            guard events.count > patterns.count else { return nil }
            return ("\(events[patterns.count].title) came too, and was not expected", nil)
        case .anyOrder:
            guard let missing = try unmatched(patterns, events, scope) else { return nil }
            return ("\(patterns[missing].title) did not come", patterns[missing])
        }
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
            guard try patterns[index].fits(events[place], scope) else { continue }
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
