import IsletClient

/// A member of an object that a filter asks for.
struct FilterMember {
    private let value: RawJSON
    private let isDate: Bool

    /// nil where it is not there, or null.
    init?(_ path: [String], of row: RawObject) {
        guard var value = row[path.first ?? ""] else { return nil }
        for name in path.dropFirst() {
            guard let inner = value.object?[name] else { return nil }
            value = inner
        }
        var name = path.last ?? ""
        // A deadline is its date.
        if name == "next", let at = value.object?["at"] {
            value = at
            name = "at"
        }
        guard !value.isNull else { return nil }
        self.value = value
        isDate = name == "at" || name == "timestamp" || name == "date" || name.hasSuffix("At") || name.hasSuffix("Date")
    }

    func satisfies(_ comparison: FilterComparison, _ wanted: FilterValue, now: Int64) -> Bool {
        switch comparison {
        case .equal: order(wanted, now: now) == .same
        case .notEqual: order(wanted, now: now) != .same
        case .like: wanted.isLike(text)
        case .notLike: !wanted.isLike(text)
        case .less: order(wanted, now: now) == .before
        case .lessOrEqual: [.before, .same].contains(order(wanted, now: now))
        case .greater: order(wanted, now: now) == .after
        case .greaterOrEqual: [.after, .same].contains(order(wanted, now: now))
        }
    }

    /// How this stands to a value.
    private enum Order {
        case before, same, after
        /// They are not of one kind.
        case none

        init<Value: Comparable>(_ left: Value, _ right: Value) {
            self = left < right ? .before : left > right ? .after : left == right ? .same : .none
        }
    }

    private func order(_ wanted: FilterValue, now: Int64) -> Order {
        if isDate, let date = value.integer {
            return wanted.date(now: now).map { Order(date, $0) } ?? .none
        }
        if let number = value.double {
            return wanted.number.map { Order(number, $0) } ?? .none
        }
        if let bool = value.bool {
            return wanted.bool.map { $0 == bool ? .same : .none } ?? .none
        }
        return Order(text, wanted.text)
    }

    private var text: String { value.string ?? value.description }
}

/// What a member is compared with, in each of its meanings.
package struct FilterValue: Sendable, Equatable {
    let text: String
    /// The same as a date or a span; nil where it is neither.
    private let moment: Moment?
    /// What is between the stars, without regard to the case of letters; one part where there is no star.
    private let parts: [String]

    init(_ text: String) {
        self.text = text
        moment = Moment(argument: text)
        parts = text.lowercased().split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    }

    /// As a number, spans in milliseconds.
    var number: Double? { Double(text) ?? Span(argument: text).map { Double($0.milliseconds) } }

    var bool: Bool? {
        switch text.lowercased() {
        case "true", "on", "yes": true
        case "false", "off", "no": false
        case _: nil
        }
    }

    /// Whether it depends on the time.
    var isFromNow: Bool {
        switch moment {
        case .fromNow: true
        case .at, nil: false
        }
    }

    func date(now: Int64) -> Int64? {
        switch moment {
        case .at(let milliseconds): milliseconds
        case .fromNow(let milliseconds):
            // A span beyond all dates is beyond all dates.
            now.addingReportingOverflow(milliseconds).overflow ? (milliseconds < 0 ? .min : .max) : now + milliseconds
        case nil: nil
        }
    }

    /// Whether a text contains it; with stars, whether the whole text has its parts in their order.
    func isLike(_ other: String) -> Bool {
        let other = other.lowercased()
        guard let first = parts.first, let last = parts.last, parts.count > 1 else {
            return parts.first.map { $0.isEmpty || other.firstRange(of: $0) != nil } ?? true
        }
        guard other.hasPrefix(first), other.hasSuffix(last), other.count >= first.count + last.count else {
            return false
        }
        var rest = other.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}

extension StringProtocol {
    /// The first place of a text that is not empty.
    fileprivate func firstRange(of part: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
            start = index(after: start)
        }
        return nil
    }
}
