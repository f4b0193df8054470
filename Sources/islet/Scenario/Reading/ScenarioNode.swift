/// Where something stands in a scenario's file, both counted from 1.
package struct ScenarioPlace: Sendable, Hashable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// A piece of a scenario's file: YAML as written, each part with its place.
struct ScenarioNode: Sendable {
    /// What it is.
    enum Content: Sendable {
        case scalar(String, isPlain: Bool)
        case list([ScenarioNode])
        case mapping([Entry])
    }

    /// A member of a mapping.
    struct Entry: Sendable {
        var name: String
        /// Where the name stands.
        var place: ScenarioPlace
        var value: ScenarioNode
    }

    var content: Content
    var place: ScenarioPlace

    /// The text of a scalar, as it was written; nil for all else.
    var text: String? {
        guard case .scalar(let text, _) = content else { return nil }
        return text
    }

    /// The members of a mapping; nil for all else.
    var entries: [Entry]? {
        guard case .mapping(let entries) = content else { return nil }
        return entries
    }

    /// The elements of a list; nil for all else.
    var elements: [ScenarioNode]? {
        guard case .list(let elements) = content else { return nil }
        return elements
    }

    /// Whether it says nothing: an empty value, `~` or `null`.
    var isNull: Bool {
        guard case .scalar(let text, true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// What kind of thing it is, for messages.
    var kind: String {
        switch content {
        case .scalar: isNull ? "nothing" : "a value"
        case .list(let elements): elements.isEmpty ? "an empty list" : "a list"
        case .mapping(let entries): entries.isEmpty ? "an empty mapping" : "a mapping"
        }
    }
}

/// What is wrong with a scenario's file, for whoever wrote it.
package struct ScenarioProblem: Error, Sendable, Hashable {
    package var path: String
    /// Nil where it is about the file as a whole.
    package var place: ScenarioPlace?
    package var text: String
}

extension ScenarioProblem: CustomStringConvertible {
    /// As compilers write it: `file:line:column: text`.
    package var description: String {
        "\(path)\(place.map { ":\($0.line):\($0.column)" } ?? ""): \(text)"
    }
}
