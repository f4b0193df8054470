import IsletClient
import IsletFilter
import IsletServer

extension ScenarioReading {
    /// A value with holes.
    ///
    /// - Parameters:
    ///   - name: of the member that it is the value of; of dates, spans count from now.
    ///   - isPayload: whether it is a user's own, in which there are no dates of the contract.
    mutating func template(_ node: ScenarioNode, of name: String = "", isPayload: Bool = false) -> ScenarioTemplate {
        switch node.content {
        case .scalar(let text, let isPlain):
            if let reference = reference(text, at: node.place) { return .reference(reference) }
            if !isPayload, ScenarioNames.isDate(name), !Self.isNumber(text), let moment = Moment(argument: text) {
                return .moment(moment)
            }
            return .json(Self.json(text, isPlain: isPlain))
        case .list(let elements):
            return .list(elements.map { template($0, isPayload: isPayload) })
        case .mapping(let entries):
            return .object(
                entries.map { entry in
                    .init(
                        name: entry.name,
                        value: template(
                            entry.value, of: entry.name, isPayload: isPayload || ScenarioNames.isPayload(entry.name)))
                })
        }
    }

    /// Fields of commands that are names: texts, however they are written.
    static let textNames: Set<String> = ["app", "device", "group", "key", "kind", "type"]

    /// A name: a text, also where it is written like a number, or an earlier answer's.
    mutating func named(_ node: ScenarioNode) -> ScenarioTemplate {
        guard let text = node.text, !node.isNull else { return template(node) }
        return reference(text, at: node.place).map { .reference($0) } ?? .json(Self.json(text, isPlain: false))
    }

    /// A name of an earlier answer, which must have been given; nil for every other text.
    mutating func reference(_ text: String, at place: ScenarioPlace) -> ScenarioReference? {
        guard let reference = ScenarioReference(text) else { return nil }
        if !names.contains(reference.name) {
            let meant = Spelling.closest(to: reference.name, among: names).map { "; did you mean $\($0)?" }
            note(
                place,
                "no step before has named an answer '\(reference.name)'"
                    + (meant ?? " (a text that begins with $ is written $$)")
            )
        }
        return reference
    }

    /// JSON of a scalar: plain ones may be null, booleans and numbers, as YAML 1.2 has them; all else is text.
    static func json(_ text: String, isPlain: Bool) -> RawJSON {
        guard isPlain else { return .string(text.hasPrefix("$$") ? String(text.dropFirst()) : text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case _:
            if isNumber(text), let number = RawJSON(text) { return number }
            return .string(text.hasPrefix("$$") ? String(text.dropFirst()) : text)
        }
    }

    /// Whether a text is a number as JSON writes it.
    static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
            return false
        }
        return RawJSON(text) != nil
    }

    // MARK: Patterns

    /// What a value is expected to be.
    mutating func pattern(_ node: ScenarioNode, of name: String = "", isPayload: Bool = false) -> ScenarioPattern {
        switch node.content {
        case .scalar(let text, true) where text == "absent": return .absent
        case .scalar(let text, true) where text == "present": return .present
        case .scalar: return equals(node, of: name, isPayload: isPayload)
        case .list(let elements): return .elements(elements.map { pattern($0, of: name, isPayload: isPayload) })
        case .mapping(let entries):
            let conditions = entries.filter { ScenarioPattern.words.contains($0.name) }
            if entries.isEmpty {
                note(
                    node.place,
                    "\(name.isEmpty ? "a mapping" : "'\(name)'") is empty: nothing would be looked at; that it is there "
                        + "is 'present', that it has no members 'equals: {}'")
            }
            if !entries.isEmpty, conditions.count == entries.count {
                let all = conditions.compactMap { condition($0, of: name, isPayload: isPayload) }
                return all.count == 1 ? all[0] : .all(all)
            }
            if let condition = conditions.first {
                note(
                    condition.place,
                    "'\(condition.name)' is a condition, and stands with conditions only; of a member of that name: "
                        + "equals: {…}")
            }
            return .members(
                entries.map { entry in
                    .init(
                        name: entry.name,
                        pattern: pattern(
                            entry.value, of: entry.name, isPayload: isPayload || ScenarioNames.isPayload(entry.name)))
                })
        }
    }

    /// Members that are ids of entities.
    private static let ids = ["id", "renews", "renewedBy"]

    /// The flags of entities that stand only where they are true.
    private static let marks = Set(subjects.values.flatMap(\.marks))

    private mutating func equals(_ node: ScenarioNode, of name: String, isPayload: Bool) -> ScenarioPattern {
        let template = expected(node, of: name, isPayload: isPayload)
        guard !isPayload, Self.marks.contains(name), case .json(let json) = template, json.bool == false else {
            return .equals(template)
        }
        return .unset(isToldOnly: isInEvent)
    }

    /// A value that is expected; an id is written in lower case, in whatever case it is expected.
    private mutating func expected(_ node: ScenarioNode, of name: String, isPayload: Bool) -> ScenarioTemplate {
        let template = template(node, of: name, isPayload: isPayload)
        guard !isPayload, Self.ids.contains(name), case .json(let json) = template, let text = json.string,
            EntityText.isID(text)
        else { return template }
        return .json(.string(text.lowercased()))
    }

    private mutating func condition(
        _ entry: ScenarioNode.Entry, of name: String, isPayload: Bool
    ) -> ScenarioPattern? {
        let value = entry.value
        switch entry.name {
        case "equals": return equals(value, of: name, isPayload: isPayload)
        case "absent", "present":
            guard let isSo = Self.json(value.text ?? "", isPlain: true).bool else {
                note(value.place, "\(entry.name) is true or false, and this is \(value.kind)")
                return nil
            }
            return .isThere((entry.name == "present") == isSo, word: entry.name)
        case "one of", "all of":
            guard let elements = value.elements, !elements.isEmpty else {
                note(value.place, "'\(entry.name)' is a list, and this is \(value.kind)")
                return nil
            }
            let patterns = elements.map { pattern($0, of: name, isPayload: isPayload) }
            return entry.name == "one of" ? .oneOf(patterns) : .all(patterns)
        case "not": return .not(pattern(value, of: name, isPayload: isPayload))
        case "matches":
            guard let expression = value.text, (try? Regex(expression)) != nil else {
                note(value.place, "'matches' is a regular expression, and this is none")
                return nil
            }
            return .matches(expression)
        case "contains": return .contains(pattern(value, of: name, isPayload: isPayload))
        case "count": return .count(pattern(value))
        case let word:
            guard let comparison = ScenarioPattern.Comparison(rawValue: word) else { return nil }
            guard value.text != nil else {
                note(value.place, "'\(word)' is one value, and this is \(value.kind)")
                return nil
            }
            return .compare(comparison, template(value, of: name, isPayload: isPayload))
        }
    }
}
