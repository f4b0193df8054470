/// One command to the service: its `op` and its fields.
///
/// The connection adds `req`, and `client` to commands that change something. Fields that are nil are left out:
///
///     Command("activity.update", app: "com.example.pizza", ["key": .string("order-7"), "contentState": state])
public struct Command: Sendable, Hashable {
    /// Family and verb, such as `activity.start`.
    public var op: String
    /// The other fields, in the order in which they are sent.
    public var fields: RawObject
    /// The number that its `req` ends in, where the sender has numbers of its own: then it has one for every command of
    /// its connection. nil: the connection counts.
    package var requestNumber: UInt64?

    /// A command of these fields.
    public init(_ op: String, app: String? = nil, _ fields: RawObject = [:]) {
        self.op = op
        var all = RawObject()
        if let app { all["app"] = .string(app) }
        for member in fields.members { all[member.name] = member.value }
        self.fields = all
    }

    /// The value of a field.
    public subscript(name: String) -> RawJSON? {
        get { fields[name] }
        set { fields[name] = newValue }
    }

    /// Whether it may change something: such a command carries the connection's `client`, so that the service executes
    /// it once even where it is sent again. Reads are simply read again.
    public var isChange: Bool { !Self.reads.contains(op) }

    private static let reads: Set<String> = [
        "activity.get", "activity.history", "activity.explain", "activity.list", "control.get", "control.history",
        "control.explain", "control.list", "control.preview", "control.kinds", "control.options", "provider.list",
        "widget.get", "widget.history", "widget.explain", "widget.timeline", "widget.list", "widget.budget",
        "widget.kinds", "widget.snapshot", "widget.options", "widget.recommendations", "widget.stack", "group.info",
        "group.get", "group.list", "settings.get", "service.info", "service.ping", "service.stats", "timer.list", "slot.list",
        "subscriber.list", "problem.list", "entity.find", "stream.applied", "bulk.snapshot", "bulk.replay", "bulk.credit",
        "bulk.cancel", "bulk.digest",
    ]

    /// What stands in the frame beside the fields.
    static let ownNames = ["op", "req", "client"]

    /// The frame: `op`, `req`, `client`, then the fields.
    package func frame(req: String, client: String?) -> [UInt8] {
        var members = [RawObject.Member("op", .string(op)), RawObject.Member("req", .string(req))]
        if let client, isChange { members.append(RawObject.Member("client", .string(client))) }
        members.append(contentsOf: fields.members)
        var bytes: [UInt8] = []
        JSONText.append(members, to: &bytes)
        return bytes
    }
}
