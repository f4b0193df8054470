package import IsletClient

/// What `--filter` selects by, such as `state=stale and key~order-`.
///
///     filter     = both { "or" both }
///     both       = term { "and" term }
///     term       = "not" term | "(" filter ")" | member [ comparison value ]
///     comparison = "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="
///     value      = a word, or a text in '…' or "…" with \ before what is to be taken literally
///
/// A member alone selects what has it. `.` leads into members of members. `=` is exact; `~` asks, whatever the case of
/// letters, whether the value is contained, or with `*` in it for the whole of it. Where the member is a date, the
/// value is one too: `2026-01-31T09:00Z`, or from now `10m`, or ago `-5m`. Where it is a number, a span counts in
/// milliseconds.
package struct Filter: Sendable, Equatable {
    /// As the person wrote it.
    package let text: String
    private let root: Condition

    /// One part of it.
    package indirect enum Condition: Sendable, Equatable {
        case either(Condition, Condition)
        case both(Condition, Condition)
        case not(Condition)
        case has([String])
        case comparison([String], FilterComparison, FilterValue)
    }

    /// Reads a filter.
    ///
    /// - Throws: what is wrong with it, and where.
    package init(_ text: String) throws(FilterError) {
        var parser = try FilterParser(text)
        root = try parser.parse()
        self.text = text
    }

    /// Whether it selects an object.
    ///
    /// - Parameter now: domain time in milliseconds since 1970, which spans count from.
    package func matches(_ row: RawObject, now: Int64) -> Bool {
        root.holds(for: row, now: now)
    }

    /// Whether its answer depends on the time.
    package var needsNow: Bool { root.comparisons.contains { $0.1.isFromNow } }

    /// The first parts of the members that it asks for.
    package var members: Set<String> { Set(root.comparisons.compactMap(\.0.first)).union(root.present) }
}

extension Filter.Condition {
    func holds(for row: RawObject, now: Int64) -> Bool {
        switch self {
        case .either(let left, let right): left.holds(for: row, now: now) || right.holds(for: row, now: now)
        case .both(let left, let right): left.holds(for: row, now: now) && right.holds(for: row, now: now)
        case .not(let condition): !condition.holds(for: row, now: now)
        case .has(let path): FilterMember(path, of: row) != nil
        case .comparison(let path, let comparison, let value):
            FilterMember(path, of: row)?.satisfies(comparison, value, now: now) ?? comparison.isNegated
        }
    }

    /// All comparisons in it, with the members that they are of.
    var comparisons: [([String], FilterValue)] {
        switch self {
        case .either(let left, let right), .both(let left, let right): left.comparisons + right.comparisons
        case .not(let condition): condition.comparisons
        case .has: []
        case .comparison(let path, _, let value): [(path, value)]
        }
    }

    /// The members that are asked for without a value.
    var present: Set<String> {
        switch self {
        case .either(let left, let right), .both(let left, let right): left.present.union(right.present)
        case .not(let condition): condition.present
        case .has(let path): Set(path.prefix(1))
        case .comparison: []
        }
    }
}

/// How a member is compared.
package enum FilterComparison: String, Sendable, Equatable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case like = "~"
    case notLike = "!~"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// Whether what is not there satisfies it.
    var isNegated: Bool {
        switch self {
        case .notEqual, .notLike: true
        case .equal, .like, .less, .lessOrEqual, .greater, .greaterOrEqual: false
        }
    }
}

/// Why a text is no filter.
package struct FilterError: Error, Equatable {
    /// Where, in characters from the beginning.
    package let position: Int
    package let message: String
    package let text: String

    /// The sentence, and below it the text with a mark at the place.
    package var description: String {
        let shown = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        let mark = String(repeating: " ", count: position) + "^"
        return "--filter: \(message), at character \(position + 1)\n  \(shown)\n  \(mark)"
    }
}
