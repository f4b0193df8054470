import IsletClient

/// What a value is expected to be: some of its members, or a condition.
indirect enum ScenarioPattern: Sendable {
    struct Member: Sendable {
        var name: String
        var pattern: ScenarioPattern
    }

    /// Comparisons of numbers, dates and texts.
    enum Comparison: String, Sendable, CaseIterable {
        case above, below
        case atLeast = "at least"
        case atMost = "at most"
    }

    /// The very value; of numbers the value and not how they are written, and the members of objects in any order.
    case equals(ScenarioTemplate)
    /// These members fit; others may stand beside them.
    case members([Member])
    /// As many elements, each of which fits.
    case elements([ScenarioPattern])
    case absent
    case present
    /// False, of a flag that stands only where it is true: it is not there, or an event says that it is no more.
    case unset(isToldOnly: Bool)
    /// As `present` and `absent`, written `{present: true}` or `{absent: false}`.
    case isThere(Bool, word: String)
    case oneOf([ScenarioPattern])
    case not(ScenarioPattern)
    /// All of them.
    case all([ScenarioPattern])
    case compare(Comparison, ScenarioTemplate)
    /// A regular expression is found in the text.
    case matches(String)
    /// A text has this text in it, a list an element that fits.
    case contains(ScenarioPattern)
    /// The number of elements or characters.
    case count(ScenarioPattern)

    /// Nothing is expected.
    static let anything = ScenarioPattern.members([])

    /// The words that stand for conditions, as names in a mapping.
    static let words = [
        "equals", "absent", "present", "one of", "not", "all of", "above", "below", "at least", "at most", "matches",
        "contains", "count",
    ]

    /// The word by which a mapping says the condition, which may as well be a member that is meant. Not `equals`, which
    /// looks at all of a value.
    var word: String? {
        switch self {
        case .equals, .members, .elements, .absent, .present, .unset: nil
        case .isThere(_, let word): word
        case .oneOf: "one of"
        case .not: "not"
        case .all: "all of"
        case .compare(let comparison, _): comparison.rawValue
        case .matches: "matches"
        case .contains: "contains"
        case .count: "count"
        }
    }

    /// The word of a condition that a value has as a member, so that it cannot be told which of both is meant; nil:
    /// there is none.
    func memberMeant(in value: RawJSON?) -> String? {
        if let word, value?.object?[word] != nil { return word }
        switch self {
        case .not(let pattern): return pattern.memberMeant(in: value)
        case .oneOf(let patterns), .all(let patterns):
            return patterns.lazy.compactMap { $0.memberMeant(in: value) }.first
        case .equals, .members, .elements, .absent, .present, .isThere, .unset, .compare, .matches, .contains, .count:
            return nil
        }
    }

    /// As people read it.
    var text: String {
        switch self {
        case .equals(let template): template.text
        case .members(let members):
            "{" + members.map { "\($0.name): \($0.pattern.text)" }.joined(separator: ", ") + "}"
        case .elements(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
        case .absent, .isThere(false, _): "absent"
        case .present, .isThere(true, _): "present"
        case .unset: "false"
        case .oneOf(let patterns): "one of " + patterns.map(\.text).joined(separator: ", ")
        case .not(let pattern): "not \(pattern.text)"
        case .all(let patterns): patterns.map(\.text).joined(separator: " and ")
        case .compare(let comparison, let template): "\(comparison.rawValue) \(template.text)"
        case .matches(let expression): "matching /\(expression)/"
        case .contains(let pattern): "containing \(pattern.text)"
        case .count(let pattern): "count \(pattern.text)"
        }
    }
}

/// One thing that is not as it was expected.
package struct ScenarioDifference: Sendable, Hashable {
    /// The names from the answer, entity or event inwards; empty: the whole.
    package var path: [String]
    package var expected: String
    /// What was there.
    package var came: String
    /// What may be meant, where the member is not there.
    package var hint: String?

    /// As in `activity.next.at`.
    package var name: String { path.joined(separator: ".") }
}
