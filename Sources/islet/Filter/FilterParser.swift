/// Reads a filter by recursive descent.
struct FilterParser {
    private let text: String
    private let tokens: [FilterToken]
    private var next = 0
    private var depth = 0

    /// The longest filter, in characters.
    private static let lengthMax = 4_096
    /// How deep parentheses and `not` may stand in each other.
    private static let depthMax = 32

    init(_ text: String) throws(FilterError) {
        guard text.count <= Self.lengthMax else {
            throw FilterError(position: 0, message: "it has more than \(Self.lengthMax) characters", text: "")
        }
        self.text = text
        tokens = try FilterToken.all(of: text)
    }

    mutating func parse() throws(FilterError) -> Filter.Condition {
        let root = try either()
        switch token.kind {
        case .end: return root
        case .close: throw error("a ')' without its '('")
        case .comparison(let comparison): throw error("a value with '\(comparison.rawValue)' in it needs quotes")
        case .open, .word, .quoted: throw error("expected 'and', 'or' or the end, not \(token.shown)")
        }
    }

    private var token: FilterToken { tokens[next] }

    private func error(_ message: String) -> FilterError {
        FilterError(position: token.position, message: message, text: text)
    }

    private mutating func takes(_ word: String) -> Bool {
        guard case .word(let found) = token.kind, found.lowercased() == word else { return false }
        next += 1
        return true
    }

    private mutating func either() throws(FilterError) -> Filter.Condition {
        var left = try both()
        while takes("or") { left = .either(left, try both()) }
        return left
    }

    private mutating func both() throws(FilterError) -> Filter.Condition {
        var left = try term()
        while takes("and") { left = .both(left, try term()) }
        return left
    }

    private mutating func term() throws(FilterError) -> Filter.Condition {
        guard depth < Self.depthMax else { throw error("more than \(Self.depthMax) of 'not' and '(' in each other") }
        depth += 1
        defer { depth -= 1 }
        if takes("not") { return .not(try term()) }
        switch token.kind {
        case .open:
            let opened = token
            next += 1
            let inner = try either()
            guard case .close = token.kind else {
                guard case .end = token.kind else { throw error("expected 'and', 'or' or ')', not \(token.shown)") }
                throw FilterError(position: opened.position, message: "a '(' without its ')'", text: text)
            }
            next += 1
            return inner
        case .word(let name):
            let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard !["and", "or"].contains(name.lowercased()), path.allSatisfy({ !$0.isEmpty }) else {
                throw error("expected the name of a member, not \(token.shown)")
            }
            next += 1
            return try comparison(of: path)
        case .quoted(let name):
            next += 1
            return try comparison(of: [name])
        case .close, .comparison: throw error("expected the name of a member before \(token.shown)")
        case .end: throw error(tokens.count == 1 ? "it is empty" : "expected the name of a member at the end")
        }
    }

    private mutating func comparison(of path: [String]) throws(FilterError) -> Filter.Condition {
        guard case .comparison(let comparison) = token.kind else { return .has(path) }
        next += 1
        switch token.kind {
        case .word(let value) where ["and", "or", "not"].contains(value.lowercased()):
            throw error("expected a value after '\(comparison.rawValue)' ('\(value)' as a value needs quotes)")
        case .word(let value), .quoted(let value):
            next += 1
            return .comparison(path, comparison, FilterValue(value))
        case .comparison, .open, .close, .end:
            throw error("expected a value after '\(comparison.rawValue)'")
        }
    }
}
