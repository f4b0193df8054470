package import IsletClient

/// What `--filter`, `top` and the board select by, such as `state=stale and key~order-`: the one grammar of them all.
///
///     filter     = both { "or" both }
///     both       = term { "and" term }
///     term       = "not" term | "(" filter ")" | member [ comparison value ]
///     comparison = "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="
///     value      = a word, or a text in '…' or "…" with \ before what is to be taken literally
///
/// A member alone selects what has it, and a flag alone that of which it is true; a flag that stands only where it is
/// true is false where it does not. `.` leads into members of members. `=` is exact; `~` asks, whatever the case of
/// letters, whether the value is contained, or with `*` in it for the whole of it. Where the member is a date, the value
/// is one too: `2026-01-31`, `2026-01-31T09:00Z`, or from now `10m`, or ago `-5m`; a number only in milliseconds
/// since 1970, as on the bus. Where it is a number, a span counts in milliseconds. Where it is a list, such as the `kinds`
/// of a provider, it is so where one of its values is: `kinds=Torch` asks whether there is such a kind, and `kinds!=Torch`
/// whether there is none. Of a list in a user's own JSON the whole may be meant as well, as it is written; a path through
/// such a list leads into each of its values.
///
/// A member that there is not, and a value that the member cannot have, are errors and never just select nothing: a
/// `not` before them would select everything. Only of a user's own JSON nothing is known before; what cannot be
/// ordered against the value there is selected neither by a comparison nor by its opposite.
package struct Filter: Sendable, Equatable {
    /// As the person wrote it.
    package let text: String
    let root: Condition

    /// What a word stands for that no comparison follows.
    package enum Words: Sendable {
        /// The name of a member, which is there, or of a flag, which is true.
        case members
        /// A text that stands anywhere in the row; conditions side by side must all hold.
        case anywhere
    }

    /// One part of it.
    indirect enum Condition: Sendable, Equatable {
        case either(Condition, Condition)
        case both(Condition, Condition)
        case not(Condition)
        case has([String])
        /// In lower case.
        case anywhere(String)
        case comparison([String], FilterComparison, FilterValue, FilterMeaning)
    }

    /// Reads a filter.
    ///
    /// - Parameters:
    ///   - subject: the rows that it is for.
    ///   - words: what a word alone means.
    /// - Throws: what is wrong with it, and where.
    package init(_ text: String, for subject: FilterSubject, words: Words = .members) throws(FilterError) {
        var parser = try FilterParser(text, subject, words)
        root = try parser.parse()
        self.text = text
    }

    /// Whether it selects an object.
    ///
    /// - Parameters:
    ///   - now: domain time in milliseconds since 1970, which spans count from.
    ///   - unknown: members of which nobody knows what they are, nor whether they are there; neither a condition nor its
    ///     opposite selects what they decide.
    package func matches(_ row: RawObject, now: Int64, unknown: Set<String> = []) -> Bool {
        root.holds(for: row, now: now, unknown: unknown) == true
    }

    /// Whether it may select an object of which no more is known than this.
    ///
    /// - Parameter unknown: members of which nobody knows what they are, nor whether they are there.
    package func maySelect(_ row: RawObject, now: Int64, unknown: Set<String>) -> Bool {
        root.holds(for: row, now: now, unknown: unknown) != false
    }

    /// Whether its answer depends on the time.
    package var needsNow: Bool {
        root.leaves.contains { leaf in
            if case .comparison(_, let comparison, let value, let meaning) = leaf {
                return comparison.isOrder && meaning.mayBeDate && value.isFromNow
            }
            return false
        }
    }

    /// The first parts of the members that it asks for.
    package var members: Set<String> {
        Set(
            root.leaves.compactMap { leaf in
                switch leaf {
                case .has(let path), .comparison(let path, _, _, _): path.first
                case .either, .both, .not, .anywhere: nil
                }
            })
    }
}

extension Filter.Condition {
    /// Whether it holds; nil where that cannot be told, as values of two kinds have no order.
    func holds(for row: RawObject, now: Int64, unknown: Set<String> = []) -> Bool? {
        switch self {
        case .has(let path) where unknown.contains(path[0]): return nil
        case .comparison(let path, _, _, _) where unknown.contains(path[0]): return nil
        case .either(let left, let right):
            let one = left.holds(for: row, now: now, unknown: unknown)
            if one == true { return true }
            let other = right.holds(for: row, now: now, unknown: unknown)
            return other == true ? true : one == nil || other == nil ? nil : false
        case .both(let left, let right):
            let one = left.holds(for: row, now: now, unknown: unknown)
            if one == false { return false }
            let other = right.holds(for: row, now: now, unknown: unknown)
            return other == false ? false : one == nil || other == nil ? nil : true
        case .not(let condition): return condition.holds(for: row, now: now, unknown: unknown).map { !$0 }
        case .has(let path): return !FilterMember.all(path, of: row).isEmpty
        case .anywhere(let text): return FilterMember.isAnywhere(text, in: row)
        case .comparison(let path, let comparison, let value, let meaning):
            return FilterMember.isSo(of: FilterMember.all(path, of: row), comparison, value, meaning, now: now)
        }
    }

    /// All that is asked, without how it is joined.
    var leaves: [Filter.Condition] {
        switch self {
        case .either(let left, let right), .both(let left, let right): left.leaves + right.leaves
        case .not(let condition): condition.leaves
        case .has, .anywhere, .comparison: [self]
        }
    }
}

/// How a member is compared.
enum FilterComparison: String, Sendable, Equatable, CaseIterable {
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

    /// Whether it asks which of two comes first.
    var needsOrder: Bool {
        switch self {
        case .equal, .notEqual, .like, .notLike: false
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        }
    }

    /// Whether values are compared by their order or equality, and not as texts by what they contain.
    var isOrder: Bool {
        switch self {
        case .like, .notLike: false
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        }
    }
}

/// As what a member is compared.
enum FilterMeaning: Sendable, Equatable {
    case text, number, date, flag
    /// Each value of a list by itself, as a text; of an object this member.
    case list(naming: String?)
    /// As the row has it.
    case any

    var mayBeDate: Bool { self == .date || self == .any }

    /// What the board calls it.
    var name: String {
        switch self {
        case .text: "text"
        case .number: "number"
        case .date: "date"
        case .flag: "flag"
        case .list: "list"
        case .any: "any"
        }
    }
}

/// Why a text is no filter.
package struct FilterError: Error, Equatable {
    /// Where, in characters from the beginning.
    package let position: Int
    package let message: String
    package let text: String

    /// The sentence, with the place.
    package var sentence: String { "\(message), at character \(position + 1)" }

    /// The sentence, and below it the text with a mark at the place.
    package var description: String {
        let shown = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        let mark = String(repeating: " ", count: position) + "^"
        return "--filter: \(sentence)\n  \(shown)\n  \(mark)"
    }
}
