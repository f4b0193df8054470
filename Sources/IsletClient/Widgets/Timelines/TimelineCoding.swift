import FoundationEssentials

/// Timelines as answers of providers and entities of widgets have them.
enum TimelineCoding {
    /// The members of the answer to `widget.timeline`.
    static func answer<Entry: TimelineEntry>(_ timeline: Timeline<Entry>) throws -> RawObject {
        var members: RawObject = [
            "entries": .array(try timeline.entries.map { try json($0) }), "policy": timeline.policy.json,
        ]
        if timeline.needsLogin { members["needsLogin"] = .bool(true) }
        return members
    }

    /// The members of the answer to `widget.snapshot`.
    static func answer(_ entry: some TimelineEntry) throws -> RawObject {
        ["entries": .array([try json(entry)])]
    }

    /// One entry.
    static func json(_ entry: some TimelineEntry) throws -> RawJSON {
        var members: RawObject = ["date": entry.date.json]
        let content = try content(entry)
        if !content.members.isEmpty { members["content"] = content.json }
        if let relevance = entry.relevance { members["relevance"] = try relevance.json() }
        if let url = entry.widgetURL { members["url"] = .string(url.absoluteString) }
        let links = entry.widgetLinks.sorted { $0.key < $1.key }
        if !links.isEmpty {
            members["links"] = .object(links.map { .init($0.key, .string($0.value.absoluteString)) })
        }
        return members.json
    }

    /// What renderers get of an entry. A member goes only if it says just what travels beside the content: one of the
    /// same name and another meaning stays.
    static func content(_ entry: some TimelineEntry) throws(IsletError) -> RawObject {
        guard var content = try PayloadCoding.encode(entry, as: "an entry").object else {
            throw .invalid("an entry has a member twice")
        }
        for (name, value) in try besides(entry).members.map({ ($0.name, $0.value) }) where content[name] == value {
            content[name] = nil
        }
        return content
    }

    /// Reads an entry of an entity; nil where it is of another type.
    static func entry<Entry: TimelineEntry>(_ type: Entry.Type, _ members: RawObject?) -> Entry? {
        guard let members, let date = members["date"]?.integer else { return nil }
        var all = members["content"]?.object ?? [:]
        var besides = RawObject()
        besides["date"] = try? PayloadCoding.encodeAny(Date(milliseconds: date), as: "date")
        besides["relevance"] = members["relevance"]?.object.flatMap(TimelineEntryRelevance.init).flatMap {
            try? PayloadCoding.encodeAny($0, as: "relevance")
        }
        besides["widgetURL"] = members["url"]
        besides["widgetLinks"] = members["links"] ?? .object([])
        for member in besides.members where all[member.name] == nil { all[member.name] = member.value }
        return PayloadCoding.decode(type, from: all.json)
    }

    /// What travels beside the content, as `Codable` writes it.
    private static func besides(_ entry: some TimelineEntry) throws(IsletError) -> RawObject {
        var members: RawObject = ["date": try PayloadCoding.encodeAny(entry.date, as: "date")]
        if let relevance = entry.relevance {
            members["relevance"] = try PayloadCoding.encodeAny(relevance, as: "relevance")
        }
        if let url = entry.widgetURL { members["widgetURL"] = try PayloadCoding.encodeAny(url, as: "widgetURL") }
        members["widgetLinks"] = try PayloadCoding.encodeAny(entry.widgetLinks, as: "widgetLinks")
        return members
    }
}

extension TimelineEntryRelevance {
    /// Reads an entity's; nil where it has no score.
    init?(_ members: RawObject) {
        guard let score = members["score"]?.double else { return nil }
        self.init(score: Float(score), duration: Double(members["duration"]?.integer ?? 0) / 1_000)
    }

    /// Of the bus: the duration in milliseconds.
    func json() throws(IsletError) -> RawJSON {
        // By way of its text, so that 0.1 is written as 0.1 and not as the `Double` next to that `Float`.
        guard let score = RawJSON.number(Double(score.description) ?? Double(score)),
            let duration = Int64(exactly: (duration * 1_000).rounded())
        else { throw .invalid("a relevance has no number") }
        var members: RawObject = ["score": score]
        if duration != 0 { members["duration"] = .integer(duration) }
        return members.json
    }
}

extension TimelineReloadPolicy {
    /// Reads an entity's; nil where it is none.
    init?(_ json: RawJSON) {
        switch json.string {
        case "atEnd": self = .atEnd
        case "never": self = .never
        default:
            guard let date = json.object?["after"]?.integer else { return nil }
            self = .after(Date(milliseconds: date))
        }
    }

    var json: RawJSON {
        switch self {
        case .atEnd: .string("atEnd")
        case .never: .string("never")
        case .after(let date): .object([.init("after", date.json)])
        }
    }
}
