import IsletClient
import IsletFilter
import IsletServer

extension ScenarioPattern {
    /// Longer values are cut in messages.
    private static let shownWidth = 200

    /// What is different in a value; nothing where it fits.
    ///
    /// - Parameters:
    ///   - value: nil: it is not there.
    ///   - path: where it stands.
    func differences(
        from value: RawJSON?, at path: [String] = [], _ scope: ScenarioScope
    ) throws(ScenarioMiss) -> [ScenarioDifference] {
        switch self {
        case .members(let members):
            guard let object = value?.object else {
                // A member that is not there may be expected so.
                guard value != nil || members.isEmpty else {
                    var all: [ScenarioDifference] = []
                    for member in members {
                        all += try member.pattern.differences(from: nil, at: path + [member.name], scope)
                    }
                    return all
                }
                return members.isEmpty ? [] : [different(value, path, scope)]
            }
            var all: [ScenarioDifference] = []
            for member in members {
                let inner = object[member.name]
                var found = try member.pattern.differences(from: inner, at: path + [member.name], scope)
                if inner == nil, !found.isEmpty {
                    let names = object.members.map(\.name)
                    found[0].hint = Spelling.closest(to: member.name, among: names)
                }
                all += found
            }
            return all
        case .elements(let patterns):
            guard let elements = value?.elements, elements.count == patterns.count else {
                return [different(value, path, scope)]
            }
            var all: [ScenarioDifference] = []
            for (index, pair) in zip(patterns, elements).enumerated() {
                all += try pair.0.differences(from: pair.1, at: path + ["\(index)"], scope)
            }
            return all
        case .equals, .absent, .present, .isThere, .unset, .oneOf, .not, .all, .compare, .matches, .contains, .count:
            switch try holds(for: value, scope) {
            case true?: return []
            case false?: return [different(value, path, scope)]
            case nil: return [different(value, path, scope, isUntold: true)]
            }
        }
    }

    /// Whether a value fits; nil where that cannot be told, as of a text whether it is above a number, or of an object
    /// with a member `count` what its count is. What cannot be told fits neither a condition nor its opposite.
    func holds(for value: RawJSON?, _ scope: ScenarioScope) throws(ScenarioMiss) -> Bool? {
        if let word, value?.object?[word] != nil { return nil }
        switch self {
        case .members(let members):
            guard let object = value?.object else {
                // A member that is not there may be expected so.
                guard value != nil, !members.isEmpty else {
                    return try Self.all(members) { member throws(ScenarioMiss) in
                        try member.pattern.holds(for: nil, scope)
                    }
                }
                return false
            }
            return try Self.all(members) { member throws(ScenarioMiss) in
                try member.pattern.holds(for: object[member.name], scope)
            }
        case .elements(let patterns):
            guard let elements = value?.elements, elements.count == patterns.count else { return false }
            return try Self.all(zip(patterns, elements)) { pair throws(ScenarioMiss) in
                try pair.0.holds(for: pair.1, scope)
            }
        case .equals(let template):
            let expected = try template.json(scope)
            // Null of a known member equals absent, by the contract.
            guard let value else { return expected.isNull }
            return ScenarioValue.isEqual(value, expected)
        case .absent, .isThere(false, _): return value?.isNull ?? true
        case .present, .isThere(true, _): return !(value?.isNull ?? true)
        case .unset(let isToldOnly):
            guard let value else { return !isToldOnly }
            return value.isNull || value.bool == false
        case .oneOf(let patterns):
            return try Self.any(patterns) { pattern throws(ScenarioMiss) in try pattern.holds(for: value, scope) }
        case .not(let pattern): return try pattern.holds(for: value, scope).map { !$0 }
        case .all(let patterns):
            return try Self.all(patterns) { pattern throws(ScenarioMiss) in try pattern.holds(for: value, scope) }
        case .compare(let comparison, let template):
            guard let value, let order = ScenarioValue.order(value, try template.json(scope)) else { return nil }
            switch comparison {
            case .above: return order > 0
            case .below: return order < 0
            case .atLeast: return order >= 0
            case .atMost: return order <= 0
            }
        case .matches(let expression):
            guard let text = value?.string else { return nil }
            guard let regex = try? Regex(expression) else {
                throw ScenarioMiss("/\(expression)/ is no regular expression")
            }
            return (try? regex.firstMatch(in: text)) != nil
        case .contains(let pattern):
            if let elements = value?.elements {
                return try Self.any(elements) { element throws(ScenarioMiss) in try pattern.holds(for: element, scope) }
            }
            guard case .equals(let template) = pattern, let part = try template.json(scope).string,
                let text = value?.string
            else { return nil }
            return ScenarioValue.contains(text, part)
        case .count(let pattern):
            guard let value, let count = value.elements?.count ?? value.string?.count else { return nil }
            return try pattern.holds(for: .integer(count), scope)
        }
    }

    /// Whether each fits: one that does not decides, and then one of which it cannot be told.
    static func all<Element>(
        _ elements: some Sequence<Element>, _ holds: (Element) throws(ScenarioMiss) -> Bool?
    ) throws(ScenarioMiss) -> Bool? {
        var isTold = true
        for element in elements {
            switch try holds(element) {
            case true?: break
            case false?: return false
            case nil: isTold = false
            }
        }
        return isTold ? true : nil
    }

    /// Whether one fits: it decides, and then one of which it cannot be told.
    private static func any<Element>(
        _ elements: some Sequence<Element>, _ holds: (Element) throws(ScenarioMiss) -> Bool?
    ) throws(ScenarioMiss) -> Bool? {
        var isTold = true
        for element in elements {
            switch try holds(element) {
            case true?: return true
            case false?: break
            case nil: isTold = false
            }
        }
        return isTold ? false : nil
    }

    private func different(
        _ value: RawJSON?, _ path: [String], _ scope: ScenarioScope, isUntold: Bool = false
    ) -> ScenarioDifference {
        let isDate = path.last.map(ScenarioNames.isDate) ?? false
        let came = value.map { ScenarioValue.text($0, isDate: isDate).shortened(to: Self.shownWidth) } ?? "absent"
        let advice = memberMeant(in: value).map { "; of a member called '\($0)': equals: {…}" } ?? ""
        return ScenarioDifference(
            path: path, expected: shown(scope, isDate: isDate),
            came: isUntold ? "\(came), of which that cannot be told\(advice)" : came)
    }

    /// What is expected, with names and dates told where they are known.
    private func shown(_ scope: ScenarioScope, isDate: Bool) -> String {
        guard case .equals(let template) = self else { return text.shortened(to: Self.shownWidth) }
        switch template {
        case .reference(let reference):
            let value = (try? reference.value(in: scope)).map { " (\(ScenarioValue.text($0, isDate: isDate)))" } ?? ""
            return (reference.text + value).shortened(to: Self.shownWidth)
        case .moment(let moment):
            guard let date = try? moment.checked(now: scope.now) else { return template.text }
            return TimeText.full(date)
        case .json, .object, .list:
            guard let json = try? template.json(scope) else { return template.text }
            return ScenarioValue.text(json, isDate: isDate).shortened(to: Self.shownWidth)
        }
    }
}

/// Values compared by what they mean.
enum ScenarioValue {
    /// Whether two values mean the same: numbers by their value, objects in any order of their members.
    static func isEqual(_ left: RawJSON, _ right: RawJSON) -> Bool {
        if left == right { return true }
        if let one = left.object, let other = right.object {
            return one.members.count == other.members.count
                && one.members.allSatisfy { member in
                    other[member.name].map { isEqual(member.value, $0) } ?? false
                }
        }
        if let one = left.elements, let other = right.elements {
            return one.count == other.count && zip(one, other).allSatisfy { isEqual($0, $1) }
        }
        if let one = left.string, let other = right.string { return one == other }
        if let one = ExactNumber(left.description), let other = ExactNumber(right.description) { return one == other }
        return false
    }

    /// Below, at or above zero as `left` is below, at or above `right`; nil where they cannot be compared.
    static func order(_ left: RawJSON, _ right: RawJSON) -> Int? {
        if let one = ExactNumber(left.description), let other = ExactNumber(right.description) {
            return one < other ? -1 : one > other ? 1 : 0
        }
        if let one = left.string, let other = right.string { return one < other ? -1 : one > other ? 1 : 0 }
        return nil
    }

    /// Whether a text stands somewhere in another one.
    static func contains(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        guard part.count <= text.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0..<($0 + part.count)].elementsEqual(part) }
    }

    /// As people read it: dates as dates, texts without quotes.
    static func text(_ value: RawJSON, isDate: Bool) -> String {
        if isDate, let date = value.integer, (1_000_000_000_000..<10_000_000_000_000).contains(date) {
            return TimeText.full(date)
        }
        return value.string ?? value.description
    }
}

/// What the names of members say about their values.
enum ScenarioNames {
    /// Whether a member of this name is a date, by the contract.
    static func isDate(_ name: String) -> Bool {
        name.hasSuffix("Date") || name.hasSuffix("At")
            || ["at", "now", "date", "timestamp", "after", "to", "until"].contains(name)
    }

    /// Whether a member of this name is a user's own, in which nothing is a date of the contract.
    static func isPayload(_ name: String) -> Bool {
        [
            "attributes", "contentState", "configuration", "value", "previewValue", "content", "parameters",
            "placeholder",
        ].contains(name)
    }
}
