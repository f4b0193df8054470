package import IsletClient

/// A filter as it is carried out elsewhere, where nothing is left to read: the board's way to the one grammar.
extension Filter {
    /// `{"op":"and","of":[…]}` and the like; values in each of their meanings, so that only what the row holds decides.
    package var json: RawJSON { root.json }
}

extension Filter.Condition {
    fileprivate var json: RawJSON {
        switch self {
        case .either: return Self.json("or", [.init("of", .array(alternatives.map(\.json)))])
        case .both: return Self.json("and", [.init("of", .array(demands.map(\.json)))])
        case .not(let condition): return Self.json("not", [.init("of", condition.json)])
        case .has(let path): return Self.json("has", [.init("path", Self.json(path))])
        case .anywhere(let text): return Self.json("anywhere", [.init("text", .string(text))])
        case .comparison(let path, let comparison, let value, let meaning):
            return Self.json(
                "compare",
                [
                    .init("path", Self.json(path)), .init("comparison", .string(comparison.rawValue)),
                    .init("as", .string(meaning.name)), .init("value", value.json),
                ])
        }
    }

    /// What stands between `or`, side by side: so many of them are no depth.
    private var alternatives: [Filter.Condition] {
        guard case .either(let left, let right) = self else { return [self] }
        return left.alternatives + right.alternatives
    }

    /// What stands between `and`.
    private var demands: [Filter.Condition] {
        guard case .both(let left, let right) = self else { return [self] }
        return left.demands + right.demands
    }

    private static func json(_ op: String, _ members: [RawObject.Member]) -> RawJSON {
        .object([.init("op", .string(op))] + members)
    }

    fileprivate static func json(_ texts: [String]) -> RawJSON { .array(texts.map(RawJSON.string)) }
}

extension FilterValue {
    /// The text, its parts between stars, and what it is as a number, a flag, a date, or a span from now.
    fileprivate var json: RawJSON {
        var members: [RawObject.Member] = [
            .init("text", .string(text)), .init("parts", Filter.Condition.json(parts)),
        ]
        if number != nil {
            let number = RawJSON(text) ?? Span(text).map { .integer($0.milliseconds) }
            if let number { members.append(.init("number", number)) }
        }
        if let flag { members.append(.init("flag", .bool(flag))) }
        switch moment {
        case .at(let milliseconds): members.append(.init("date", .integer(milliseconds)))
        case .fromNow(let milliseconds): members.append(.init("span", .integer(milliseconds)))
        case nil: break
        }
        return .object(members)
    }
}
