/// What a filter may ask of the rows of one kind: their members, and what each of them can be.
package struct FilterSubject: Sendable {
    /// What one row is, such as `an activity`.
    package let noun: String
    /// In the order in which messages name them.
    package let members: [FilterField]
    /// Where members stand that such a row never has, though what it is about has them.
    let elsewhere: [String: String]

    /// The members of such a row.
    ///
    /// - Parameter elsewhere: by a member that it never has, where that stands.
    init(_ noun: String, _ members: [FilterField], elsewhere: [String: String] = [:]) {
        self.noun = noun
        self.members = members
        self.elsewhere = elsewhere
    }

    /// The same rows with more members.
    func with(_ more: [FilterField]) -> FilterSubject {
        let names = Set(more.map(\.name))
        return FilterSubject(noun, members + more, elsewhere: elsewhere.filter { !names.contains($0.key) })
    }

    /// The same rows without a member.
    func without(_ name: String) -> FilterSubject {
        FilterSubject(noun, members.filter { $0.name != name }, elsewhere: elsewhere)
    }

    /// The member that a path leads to, in the letters that it is written in, and what it can be. Of a user's own JSON
    /// nothing is known before.
    ///
    /// - Throws: what there is, where there is no such member.
    package func member(at path: [String]) throws(FilterError) -> (path: [String], kind: FilterKind) {
        try FilterParser.member(path, of: self)
    }

    /// The same members as an event says them: only what is new of them.
    func told() -> FilterSubject {
        let members = members.map { field in
            if case .mark = field.kind { FilterField(field.name, .toldMark) } else { field }
        }
        return FilterSubject(noun, members, elsewhere: elsewhere)
    }

    /// The flags that stand only where they are true.
    package var marks: [String] {
        members.compactMap { field in
            if case .mark = field.kind { field.name } else { nil }
        }
    }

    /// The words that a member may be; nil where it is no such member.
    package func words(of member: String) -> [String]? {
        guard case .words(let words)? = members.first(where: { $0.name == member })?.kind else { return nil }
        return words
    }

    /// What has the members of all of these; where they disagree about one, it may be what either says.
    package static func union(_ noun: String, _ subjects: [FilterSubject]) -> FilterSubject {
        let members = subjects.dropFirst().reduce(subjects.first?.members ?? []) { $0.joined(with: $1.members) }
        let names = Set(members.map(\.name))
        let elsewhere = subjects.reduce(into: [:]) { $0.merge($1.elsewhere) { first, _ in first } }
        return FilterSubject(noun, members, elsewhere: elsewhere.filter { !names.contains($0.key) })
    }
}

/// A member of a row, as a filter knows it.
package struct FilterField: Sendable {
    package let name: String
    package let kind: FilterKind

    /// A member that can be this.
    package init(_ name: String, _ kind: FilterKind) {
        self.name = name
        self.kind = kind
    }
}

/// What a member can be.
package enum FilterKind: Sendable {
    /// Any text.
    case text
    /// One of these words.
    case words([String])
    /// A number; a length of time counts in milliseconds.
    case number
    case date
    case flag
    /// A flag that stands only where it is true, and else is false.
    case mark
    /// The same in an event, which says of it only that it has become true, or false.
    case toldMark
    /// What has members of its own; as a whole its text is compared. Words are what may stand in its place.
    case object([FilterField], words: [String])
    /// A list, which matches where one of its values does: texts, or objects that are named by this member.
    case list(naming: String? = nil)
    /// A deadline: its date, and members.
    case deadline([FilterField])
    /// A user's own JSON, of which nothing is known before.
    case payload

    /// What may be this or another.
    fileprivate func joined(with other: FilterKind) -> FilterKind {
        switch (self, other) {
        case (.text, .text), (.number, .number), (.date, .date), (.flag, .flag), (.mark, .mark),
            (.toldMark, .toldMark):
            return self
        case (.words(let one), .words(let two)): return .words(one + two.filter { !one.contains($0) })
        case (.words, .text), (.text, .words): return .text
        case (.object(let one, let words), .object(let two, let others)):
            return .object(one.joined(with: two), words: words + others.filter { !words.contains($0) })
        case (.deadline(let one), .deadline(let two)): return .deadline(one.joined(with: two))
        case (_, _): return .payload
        }
    }
}

extension [FilterField] {
    /// These and the others, each name once.
    fileprivate func joined(with others: [FilterField]) -> [FilterField] {
        map { field in
            let twin = others.first { $0.name == field.name }
            return twin.map { FilterField(field.name, field.kind.joined(with: $0.kind)) } ?? field
        } + others.filter { other in !contains { $0.name == other.name } }
    }
}
