/// One event of a stream: one edge of an entity's life.
public struct StreamEvent: Sendable, Hashable {
    /// `<app>/activity/<type>/<id>`, and with `control`, `widget` or `group` in the place of `activity`.
    public let topic: String
    /// The stream's position with this event taken in.
    public let position: StreamPosition
    /// When it took effect, in milliseconds of domain time since 1970.
    public let at: Int64
    /// Such as `activity.updated`.
    public let name: String
    /// The state before; nil for a start, and for families other than activities.
    public let from: ActivityState?
    /// The state after; nil for families other than activities.
    public let to: ActivityState?
    /// Why: `command`, `staleDate`, `activeLimit`, `person` …
    public let cause: String?
    /// What has changed of the entity, as a merge patch over its top-level members; a start carries all.
    public let patch: RawObject
    /// The event as a whole.
    public let object: RawObject
    /// The exact bytes that were published.
    public let bytes: [UInt8]

    /// The place in the app's stream: dense, so that a missing event shows.
    public var seq: UInt64 { position.seq }
    /// The app, which is the topic's first part.
    public var app: String { String(topic.prefix { $0 != "/" }) }
    /// The entity's id.
    public var id: String? { patch["id"]?.string }
    /// The entity's revision after the event: dense within the entity.
    public var revision: UInt64? { patch["revision"]?.unsigned }
    /// Milliseconds between when a deadline was due and when it took effect; nil where nothing was due.
    public var lateBy: Int64? { object["lateBy"]?.integer }
    /// The `req` of the command behind it; nil where there is none.
    public var req: String? { object["by"]?.object?["req"]?.string }

    /// Reads a topic and its event; nil where they are not what the contract says.
    public init?(topic: String, bytes: [UInt8]) {
        guard let object = RawObject(bytes), let epoch = object["epoch"]?.string, let seq = object["seq"]?.sequenceNumber,
            let at = object["at"]?.integer, let name = object["event"]?.string
        else { return nil }
        self.topic = topic
        self.bytes = bytes
        self.object = object
        self.at = at
        self.name = name
        position = StreamPosition(epoch: epoch, seq: seq)
        from = object["from"]?.string.flatMap(ActivityState.init(rawValue:))
        to = object["to"]?.string.flatMap(ActivityState.init(rawValue:))
        cause = object["cause"]?.string
        // The entity stands under the name of its family: `activity` for `activity.updated`.
        patch = object[String(name.prefix { $0 != "." })]?.object ?? [:]
    }

    /// Whether this has the whole entity, as its first event has. Those of keys of groups, which have no states before,
    /// all do. A signal, such as `group.notified`, is of no entity.
    package var isStart: Bool { object["from"] == nil && revision != nil && leavesListed }

    /// Whether the entity stands in lists and snapshots after this event.
    var leavesListed: Bool {
        to?.isListed ?? ((object["to"] ?? patch["state"])?.string != ControlState.removed.rawValue)
    }
}
