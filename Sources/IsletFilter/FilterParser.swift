/// Reads a filter by recursive descent.
struct FilterParser {
    private let text: String
    private let subject: FilterSubject
    private let words: Filter.Words
    private let tokens: [FilterToken]
    private var next = 0
    private var depth = 0

    /// The longest filter, in characters.
    private static let lengthMax = 4_096
    /// How deep parentheses and `not` may stand in each other.
    private static let depthMax = 32

    init(_ text: String, _ subject: FilterSubject, _ words: Filter.Words) throws(FilterError) {
        guard text.count <= Self.lengthMax else {
            throw FilterError(position: 0, message: "it has more than \(Self.lengthMax) characters", text: "")
        }
        self.text = text
        self.subject = subject
        self.words = words
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

    private func error(_ message: String, at place: FilterToken? = nil) -> FilterError {
        FilterError(position: (place ?? token).position, message: message, text: text)
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
        while takes("and") || isSideBySide { left = .both(left, try term()) }
        return left
    }

    /// Whether another condition follows without a word between.
    private var isSideBySide: Bool {
        guard words == .anywhere else { return false }
        switch token.kind {
        case .word(let word): return word.lowercased() != "or"
        case .quoted, .open: return true
        case .comparison, .close, .end: return false
        }
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
            guard !["and", "or"].contains(name.lowercased()) else {
                throw error("expected the name of a member, not \(token.shown)")
            }
            return try condition(on: path, name)
        case .quoted(let name): return try condition(on: [name], name)
        case .close, .comparison: throw error("expected the name of a member before \(token.shown)")
        case .end: throw error(tokens.count == 1 ? "it is empty" : "expected the name of a member at the end")
        }
    }

    /// What is asked of a member, or by a word alone.
    private mutating func condition(on path: [String], _ name: String) throws(FilterError) -> Filter.Condition {
        let place = token
        next += 1
        guard case .comparison(let comparison) = token.kind else {
            switch words {
            case .members:
                let (path, kind) = try member(path, at: place)
                switch kind {
                case .flag, .mark, .toldMark: return Self.isSet(path)
                case .text, .words, .number, .date, .object, .list, .deadline, .payload: return .has(path)
                }
            case .anywhere: return .anywhere(name.lowercased())
            }
        }
        let (path, kind) = try member(path, at: place)
        next += 1
        switch token.kind {
        case .word(let value) where ["and", "or", "not"].contains(value.lowercased()):
            throw error("expected a value after '\(comparison.rawValue)' ('\(value)' as a value needs quotes)")
        case .word(let text), .quoted(let text):
            let value = FilterValue(text)
            let meaning = try meaning(of: value, comparison, path.joined(separator: "."), kind)
            next += 1
            if case .mark = kind {
                let wantsSet = (value.flag == true) == (comparison == .equal)
                return wantsSet ? Self.isSet(path) : .not(Self.isSet(path))
            }
            return .comparison(path, comparison, value, meaning)
        case .comparison, .open, .close, .end:
            throw error("expected a value after '\(comparison.rawValue)'")
        }
    }

    /// That a flag is there, and true.
    private static func isSet(_ path: [String]) -> Filter.Condition {
        .comparison(path, .equal, FilterValue("true"), .flag)
    }

    /// The member that a path leads to, which does not stand in a filter.
    static func member(
        _ path: [String], of subject: FilterSubject
    ) throws(FilterError) -> (path: [String], kind: FilterKind) {
        let place = FilterToken(kind: .word(path.joined(separator: ".")), position: 0)
        return try FilterParser("", subject, .members).member(path, at: place)
    }

    /// The member that a path leads to, in the letters that it is written in.
    private func member(
        _ path: [String], at place: FilterToken
    ) throws(FilterError) -> (path: [String], kind: FilterKind) {
        var fields = subject.members
        var holder = subject.noun
        var found: [String] = []
        var kind = FilterKind.payload
        for (index, name) in path.enumerated() {
            guard !name.isEmpty else { throw error("expected the name of a member, not \(place.shown)", at: place) }
            let exact = fields.first { $0.name == name }
            guard let field = exact ?? fields.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                let known = subject.elsewhere.first { $0.key.lowercased() == name.lowercased() }
                if index == 0, let known {
                    throw error("\(holder) has no member '\(known.key)' here: \(known.value)", at: place)
                }
                let names = fields.map(\.name).joined(separator: ", ")
                throw error("\(holder) has no member '\(name)': \(names)", at: place)
            }
            found.append(field.name)
            kind = field.kind
            let rest = path[(index + 1)...]
            guard let next = rest.first else { break }
            switch kind {
            case .payload:
                guard rest.allSatisfy({ !$0.isEmpty }) else {
                    throw error("expected the name of a member, not \(place.shown)", at: place)
                }
                return (found + rest, .payload)
            case .object(let members, _), .deadline(let members):
                fields = members
                holder = "'\(found.joined(separator: "."))'"
            case .text, .words, .list, .number, .date, .flag, .mark, .toldMark:
                throw error("'\(found.joined(separator: "."))' has no members, and so no '\(next)'", at: place)
            }
        }
        return (found, kind)
    }

    /// As what a member is compared with a value, which must be one that it can have.
    private func meaning(
        of value: FilterValue, _ comparison: FilterComparison, _ name: String, _ kind: FilterKind
    ) throws(FilterError) -> FilterMeaning {
        switch kind {
        case .payload: return .any
        case .text: return .text
        case .list(let naming): return .list(naming: naming)
        case .object(_, let words):
            if comparison.isOrder, !words.isEmpty { try check(value, name, words) }
            return .text
        case .words(let words):
            if comparison.isOrder { try check(value, name, words) }
            guard comparison.isOrder || words.contains(where: value.isLike) else {
                throw error("no value of '\(name)' is like '\(value.text)': \(words.joined(separator: ", "))")
            }
            return .text
        case .number:
            guard !comparison.isOrder || value.number != nil else {
                throw error("'\(name)' is a number, or a length of time such as 30s, and not '\(value.text)'")
            }
            return .number
        case .date, .deadline:
            guard comparison.isOrder else {
                throw error("'\(name)' is a date, which = != < <= > and >= compare, and not '\(comparison.rawValue)'")
            }
            guard Moment(value.text) != nil else {
                let meant = Moment.meant(by: value.text).map { "; \($0)" } ?? ""
                throw error("'\(name)' is \(Moment.forms), and not '\(value.text)'\(meant)")
            }
            return .date
        case .flag, .mark, .toldMark:
            guard comparison == .equal || comparison == .notEqual, value.flag != nil else {
                throw error("'\(name)' is true or false, which = and != compare, and not '\(value.text)'")
            }
            return .flag
        }
    }

    private func check(_ value: FilterValue, _ name: String, _ words: [String]) throws(FilterError) {
        guard !words.contains(value.text) else { return }
        throw error("'\(name)' is never '\(value.text)': \(words.joined(separator: ", "))")
    }
}
