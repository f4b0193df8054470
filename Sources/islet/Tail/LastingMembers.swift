import IsletClient
import IsletFilter

/// What never changes of an entity, and stands in its first event only: as much as a filter asks of it, so that it can be
/// asked of the later ones.
struct LastingMembers: Sendable {
    /// What is known of them; nil: nobody has told it.
    private(set) var known: RawObject?
    private let names: [String]

    /// Of an entity of a family, as far as a filter asks for them; of most filters none.
    init(_ family: EntityTopic.Family?, askedBy filter: Filter?) {
        self.init(family, askedBy: filter?.members ?? [])
    }

    /// As far as members of these names are asked for.
    init(_ family: EntityTopic.Family?, askedBy names: Set<String>) {
        self.names = Self.names(of: family).filter(names.contains)
        known = self.names.isEmpty ? [:] : nil
    }

    /// Whether there is something to be known of it.
    var isUnknown: Bool { known == nil }
    /// The bytes of what is known.
    var bytes: Int { known?.members.reduce(0) { $0 + $1.value.bytes.count } ?? 0 }
    /// The names of what nobody has told.
    var unknown: Set<String> { known == nil ? Set(names) : [] }

    /// Takes the whole of an entity in.
    mutating func take(whole entity: RawObject) {
        var known = RawObject()
        for name in names { known[name] = entity[name] }
        self.known = known
    }

    /// Takes an event in; the first one has all.
    mutating func take(_ event: StreamEvent) {
        if event.object["from"] == nil, event.revision == 1 { return take(whole: event.patch) }
        // Such as the start of what was scheduled, which has its date from then on.
        for name in names { if let value = event.patch[name] { known?[name] = value.isNull ? nil : value } }
    }

    /// Those of which the topic says nothing.
    private static func names(of family: EntityTopic.Family?) -> [String] {
        guard let family, family != .group else { return [] }
        let all = ScenarioEntity.constants[family.rawValue] ?? []
        let more = family == .activity ? ["startDate", "startedAt"] : []
        return all.filter { !["app", "type", "kind", "family"].contains($0) } + more
    }
}
