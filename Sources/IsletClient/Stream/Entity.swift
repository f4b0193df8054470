import IsletCore

/// An entity as a replica holds it: its topic and its top-level members.
public struct Entity: Sendable, Hashable {
    /// `<app>/activity/<type>/<id>`, and with `control`, `widget` or `group` in the place of `activity`.
    public let topic: String
    /// All its members, in their order, with the exact bytes of each.
    public private(set) var members: RawObject
    /// How many events it has had.
    public private(set) var revision: UInt64

    /// An entity of these members; nil where they have no revision.
    public init?(topic: String, members: RawObject) {
        guard let revision = members["revision"]?.unsigned else { return nil }
        self.topic = topic
        self.members = members
        self.revision = revision
    }

    /// Reads a row of a snapshot, `{"activity":{…}}` and so for each family; nil where it is none.
    package init?(topic: String, row: [UInt8]) {
        guard let first = RawObject(row)?.members.first, let members = first.value.object else { return nil }
        self.init(topic: topic, members: members)
    }

    /// The member of that name.
    public subscript(name: String) -> RawJSON? { members[name] }

    /// The id, in lower case; the key of an entity of a group.
    public var id: String { members["id"]?.string ?? String(topic.split(separator: "/").last ?? "") }
    /// The app, which is the topic's first part.
    public var app: String { String(topic.prefix { $0 != "/" }) }
    /// The topic's second part: `activity`, `control`, `widget` or `group`.
    public var family: String {
        let parts = topic.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[1]) : ""
    }
    /// The type of an activity.
    public var type: String? { members["type"]?.string }
    /// The business key, where it has one.
    public var key: String? { members["key"]?.string }
    /// The state of an activity.
    public var state: ActivityState? { members["state"]?.string.flatMap(ActivityState.init(rawValue:)) }
    /// The next deadline and its cause; nil where none is set.
    public var next: Deadline? { members["next"].flatMap(Deadline.init) }

    /// Takes a merge patch in.
    mutating func apply(_ patch: RawObject, revision: UInt64) {
        members.merge(patch)
        self.revision = revision
    }

    /// This entity's part of the contract's digest, which is the XOR over all.
    package var digest: UInt64 { Self.digest(of: topic, revision: revision) }

    /// The part that an entity of this topic and revision has in the digest.
    package static func digest(of topic: String, revision: UInt64) -> UInt64 {
        var hash = TopicHash()
        for byte in topic.utf8 { hash.combine(byte) }
        var digest = Digest()
        digest.toggle(topicHash: hash, revision: revision)
        return digest.value
    }
}

/// When something will happen to an entity by itself, and why.
public struct Deadline: Sendable, Hashable {
    /// Milliseconds of domain time since 1970.
    public var at: Int64
    /// Such as `staleDate`, `activeLimit`, `dismissalPolicy`.
    public var cause: String

    /// Reads `{"at":…,"cause":…}`.
    public init?(_ json: RawJSON) {
        guard let object = json.object, let at = object["at"]?.integer else { return nil }
        self.at = at
        cause = object["cause"]?.string ?? ""
    }
}
