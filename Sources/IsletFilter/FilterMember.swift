import IsletClient

/// A value of a member that a filter asks for.
struct FilterMember {
    private let value: RawJSON
    private let isDate: Bool

    /// A value of a list.
    private init(_ value: RawJSON, isDate: Bool = false) {
        self.value = value
        self.isDate = isDate
    }

    /// nil where it is null.
    private init?(_ value: RawJSON, named name: String) {
        var (value, name) = (value, name)
        // A deadline is its date.
        if name == "next", let at = value.object?["at"] {
            value = at
            name = "at"
        }
        guard !value.isNull else { return nil }
        self.value = value
        isDate = name == "at" || name == "timestamp" || name == "date" || name.hasSuffix("At") || name.hasSuffix("Date")
    }

    /// What a path leads to in an object, through a list in each of its values; none where it is not there, or null.
    static func all(_ path: [String], of row: RawObject) -> [FilterMember] {
        guard let name = path.last, let value = row[path[0]] else { return [] }
        return values(at: path.dropFirst(), in: value).compactMap { FilterMember($0, named: name) }
    }

    private static func values(at path: ArraySlice<String>, in value: RawJSON) -> [RawJSON] {
        guard let name = path.first else { return [value] }
        if let elements = value.elements { return elements.flatMap { values(at: path, in: $0) } }
        guard let member = value.object?[name] else { return [] }
        return values(at: path.dropFirst(), in: member)
    }

    /// Whether it is so of one of the values; what says that a value is not among them, of all. nil where it is so of none
    /// and has no order against one.
    static func isSo(
        of values: [FilterMember], _ comparison: FilterComparison, _ wanted: FilterValue, _ meaning: FilterMeaning,
        now: Int64
    ) -> Bool? {
        joined(values.map { $0.satisfies(comparison, wanted, meaning, now: now) }, comparison)
    }

    private static func joined(_ each: [Bool?], _ comparison: FilterComparison) -> Bool? {
        if comparison.isNegated { return each.allSatisfy { $0 == true } }
        return each.contains(true) ? true : each.contains(nil) ? nil : false
    }

    /// Whether it is so; nil where the two have no order.
    private func satisfies(
        _ comparison: FilterComparison, _ wanted: FilterValue, _ meaning: FilterMeaning, now: Int64
    ) -> Bool? {
        switch meaning {
        case .text, .number, .date, .flag: return isSo(comparison, wanted, meaning, now: now)
        case .list(let naming):
            let values = (value.elements ?? []).map { element in
                FilterMember(naming.flatMap { element.object?[$0] } ?? element)
            }
            return Self.isSo(of: values, comparison, wanted, .text, now: now)
        case .any:
            guard let elements = value.elements else { return isSo(comparison, wanted, .any, now: now) }
            // A list in it is a value as it is written.
            var each = elements.map { FilterMember($0, isDate: isDate).isSo(comparison, wanted, .any, now: now) }
            // The JSON of the whole list may be meant, too, but has no place in an order.
            if !comparison.needsOrder { each.append(isSo(comparison, wanted, .any, now: now)) }
            return Self.joined(each, comparison)
        }
    }

    private func isSo(
        _ comparison: FilterComparison, _ wanted: FilterValue, _ meaning: FilterMeaning, now: Int64
    ) -> Bool? {
        switch comparison {
        case .like: wanted.isLike(text)
        case .notLike: !wanted.isLike(text)
        case .equal: order(wanted, meaning, now: now) == .same
        case .notEqual: order(wanted, meaning, now: now) != .same
        case .less: order(wanted, meaning, now: now).map { $0 == .before }
        case .lessOrEqual: order(wanted, meaning, now: now).map { $0 != .after }
        case .greater: order(wanted, meaning, now: now).map { $0 == .after }
        case .greaterOrEqual: order(wanted, meaning, now: now).map { $0 != .before }
        }
    }

    /// How this stands to a value.
    private enum Order {
        case before, same, after

        init<Value: Comparable>(_ left: Value, _ right: Value) {
            self = left < right ? .before : left > right ? .after : .same
        }
    }

    /// nil where they are not of one kind.
    private func order(_ wanted: FilterValue, _ meaning: FilterMeaning, now: Int64) -> Order? {
        switch meaning {
        case .text, .list:
            if text.utf8.elementsEqual(wanted.text.utf8) { return .same }
            return text.utf8.lexicographicallyPrecedes(wanted.text.utf8) ? .before : .after
        case .number:
            guard let number = ExactNumber(value.description), let other = wanted.number else { return nil }
            return Order(number, other)
        case .date:
            guard let date = value.integer, let other = wanted.date(now: now) else { return nil }
            return Order(date, other)
        case .flag:
            guard let flag = value.bool, let other = wanted.flag else { return nil }
            return flag == other ? .same : nil
        case .any:
            if isDate, wanted.moment != nil, value.integer != nil { return order(wanted, .date, now: now) }
            if ExactNumber(value.description) != nil { return order(wanted, .number, now: now) }
            return order(wanted, value.bool == nil ? .text : .flag, now: now)
        }
    }

    /// Whether a text in lower case stands in what a person sees of a row.
    static func isAnywhere(_ text: String, in row: RawObject) -> Bool {
        let seen = ["key", "type", "kind", "app", "device", "state", "id", "contentState", "attributes"]
        return seen.contains { name in
            FilterMember.all([name], of: row).contains { $0.text.lowercased().firstRange(of: text) != nil }
        }
    }

    private var text: String { value.string ?? value.description }
}

/// What a member is compared with, in each of its meanings.
struct FilterValue: Sendable, Equatable {
    let text: String
    /// The same as a date or a span; nil where it is neither.
    let moment: Moment?
    /// What is between the stars, without regard to the case of letters; one part where there is no star.
    let parts: [String]

    init(_ text: String) {
        self.text = text
        // In a user's own JSON a number may be a date in whatever unit the user counts.
        moment = Moment(text) ?? Int64(text).map { .at(milliseconds: $0) }
        parts = text.lowercased().split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    }

    /// As a number, spans in milliseconds.
    var number: ExactNumber? { ExactNumber(text) ?? Span(text).flatMap { ExactNumber("\($0.milliseconds)") } }

    var flag: Bool? {
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
        guard let moment else { return nil }
        if let date = moment.milliseconds(now: now) { return date }
        // A span beyond all dates is beyond all dates.
        if case .fromNow(let milliseconds) = moment { return milliseconds < 0 ? .min : .max }
        return nil
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
