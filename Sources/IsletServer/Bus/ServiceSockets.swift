import ZeroMQ

/// The sockets of the service, all bound by it. They live and die on the bus thread.
struct ServiceSockets: ~Copyable {
    /// ROUTER: commands and queries.
    let commands: Socket
    /// XPUB: the streams.
    let events: Socket
    /// ROUTER: snapshots and replays.
    let bulk: Socket
    /// SUB, subscribed to everything; only made where it is configured.
    private let ingestSocket: Socket?
    /// What was bound, with the ports that were found for `*` and 0.
    let endpoints: ServiceEndpoints

    /// A frame over this cuts the connection.
    private static let maximumFrameBytes: Int64 = 1 << 20
    /// Only subscriptions come in on the events socket: a topic and a byte.
    private static let maximumSubscriptionBytes: Int64 = 256
    /// Messages of one connection that wait to be read by the service.
    private static let waitingCommands: Int32 = 64
    /// Messages that wait for one client to read them, before the service keeps them itself.
    private static let waitingAnswers: Int32 = 1_000
    /// Events that wait for one subscriber; beyond, it loses some.
    private static let waitingEvents: Int32 = 20_000
    /// How long what was sent may linger after the end.
    private static let linger: Duration = .seconds(1)

    init(_ configuration: ServeConfiguration, in context: ZeroMQContext) throws(ZeroMQError) {
        commands = try Self.router(in: context)
        bulk = try Self.router(in: context)
        events = try Socket(.xpub, in: context)
        // Every subscription is passed up, also a second one of the same topic: joins are told by them.
        try events.set(.xpubVerbose, to: true)
        try events.set(.onlyFirstSubscribe, to: true)
        try events.set(.sendHighWaterMark, to: Self.waitingEvents)
        try events.set(.maxMessageSize, to: Self.maximumSubscriptionBytes)
        try Self.harden(events)
        try events.bind(configuration.events)
        try commands.bind(configuration.commands)
        try bulk.bind(configuration.bulk)
        var endpoints = ServiceEndpoints(
            commands: try commands.lastEndpoint, events: try events.lastEndpoint, bulk: try bulk.lastEndpoint)
        if let address = configuration.ingest {
            let socket = try Socket(.sub, in: context)
            try socket.set(.maxMessageSize, to: Self.maximumFrameBytes)
            try Self.harden(socket)
            try socket.subscribe([])
            try socket.bind(address)
            endpoints.ingest = try socket.lastEndpoint
            ingestSocket = consume socket
        } else {
            ingestSocket = nil
        }
        self.endpoints = endpoints
    }
}
