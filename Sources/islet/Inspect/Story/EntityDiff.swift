import IsletClient

/// What is different between two pasts of an entity.
package struct EntityDiff {
    /// One difference; an absent value is nil.
    struct Change: Equatable {
        /// The names from the entity inwards.
        let path: [String]
        let before: RawJSON?
        let after: RawJSON?

        /// As RFC 6901 has it: `/contentState/eta`.
        var pointer: String {
            path.map { name in
                "/"
                    + name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
                    .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
            }.joined()
        }
    }

    let changes: [Change]
    /// The members that are unknown in one of the two, and so cannot be compared.
    package let unknown: [String]

    /// Where objects are looked into no further and are compared as a whole.
    private static let depthMax = 16

    /// Compares two pasts.
    package init(_ before: EntityStory.Past, _ after: EntityStory.Past) {
        var unknown = before.unknown
        for name in after.unknown where !unknown.contains(name) { unknown.append(name) }
        self.unknown = unknown
        changes = Self.changes(before.members, after.members, [], skipping: Set(unknown + ["revision"]))
    }

    private static func changes(
        _ before: RawObject, _ after: RawObject, _ path: [String], skipping: Set<String>
    ) -> [Change] {
        var changes: [Change] = []
        let added = after.members.filter { before[$0.name] == nil }.map(\.name)
        for name in before.members.map(\.name) + added where !skipping.contains(name) {
            let (old, new) = (before[name], after[name])
            guard old != new else { continue }
            if let old = old?.object, let new = new?.object, path.count < depthMax {
                changes += self.changes(old, new, path + [name], skipping: [])
            } else {
                changes.append(Change(path: path + [name], before: old, after: new))
            }
        }
        return changes
    }

    /// The differences as JSON.
    var json: RawJSON {
        .array(
            changes.map { change in
                var members: [RawObject.Member] = [.init("path", .string(change.pointer))]
                if let before = change.before { members.append(.init("from", before)) }
                if let after = change.after { members.append(.init("to", after)) }
                return .object(members)
            })
    }

    /// A line for each difference.
    package func lines(style: Style) -> [String] {
        let names = changes.map { $0.path.joined(separator: ".").printable }
        let width = min(names.map(\.count).max() ?? 0, 40)
        return zip(names, changes).map { name, change in
            let date = Self.isDate(change.path)
            let values = "\(Self.text(change.before, date)) → \(Self.text(change.after, date))"
            switch (change.before, change.after) {
            case (nil, let after): return "+ \(name.padded(to: width))  \(Self.text(after, date))"
            case (let before, nil): return "- \(name.padded(to: width))  \(style.dim(Self.text(before, date)))"
            case (_, _): return "  \(name.padded(to: width))  \(values)"
            }
        }
    }

    private static func isDate(_ path: [String]) -> Bool {
        guard let name = path.last, path.count == 1 || path.first == "next" else { return false }
        return name.hasSuffix("Date") || name.hasSuffix("At") || name == "timestamp" || name == "at"
    }

    private static func text(_ value: RawJSON?, _ isDate: Bool) -> String {
        guard let value else { return "absent" }
        if isDate, let date = value.integer { return TimeText.full(date) }
        return value.text.shortened(to: 80)
    }
}
