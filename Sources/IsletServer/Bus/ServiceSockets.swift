import ZeroMQ

/// The sockets of the service, all bound by it. They live and die on the bus thread.
struct ServiceSockets: ~Copyable {
    /// ROUTER: commands and queries.
    let commands: Socket
    /// XPUB: the streams.
    let events: Socket
    /// ROUTER: snapshots and replays.
    let bulk: Socket
    /// SUB, subscribed to everything; bound only where it is configured.
    let ingest: Socket
    let hasIngest: Bool
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

    init(_ configuration: ServeConfiguration, in context: ZeroMQContext) throws(StartError) {
        let commands = try StartError.at(configuration.commands) { address throws(ZeroMQError) in
            try Self.router(address, in: context)
        }
        let bulk = try StartError.at(configuration.bulk) { address throws(ZeroMQError) in
            try Self.router(address, in: context)
        }
        let events = try StartError.at(configuration.events) { address throws(ZeroMQError) in
            try Self.publisher(address, in: context)
        }
        let ingest = try StartError.at(configuration.ingest ?? "none") { _ throws(ZeroMQError) in
            try Self.subscriber(configuration.ingest, in: context)
        }
        let ingestEndpoint = configuration.ingest == nil ? nil : try Self.endpoint(of: ingest)
        let endpoints = ServiceEndpoints(
            commands: try Self.endpoint(of: commands), events: try Self.endpoint(of: events),
            bulk: try Self.endpoint(of: bulk), ingest: ingestEndpoint)
        // Nothing is thrown from here on: a value that holds noncopyable ones is made whole or not at all.
        hasIngest = ingestEndpoint != nil
        self.endpoints = endpoints
        self.commands = commands
        self.bulk = bulk
        self.events = events
        self.ingest = ingest
    }

    /// Adds them to the poller of their thread.
    func register(in poller: inout Poller) {
        _ = poller.add(commands)
        _ = poller.add(events)
        _ = poller.add(bulk)
        if hasIngest { _ = poller.add(ingest) }
    }

    /// Closes them; what was sent may linger for a moment.
    func close() {
        commands.close()
        events.close()
        bulk.close()
        ingest.close()
    }

    private static func endpoint(of socket: borrowing Socket) throws(StartError) -> String {
        do {
            return try socket.lastEndpoint
        } catch {
            throw StartError(address: "an address that was bound", reason: error)
        }
    }

    private static func router(_ address: String, in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        let socket = try Socket(.router, in: context)
        // Without it, a message to a full or dead client would be dropped in silence.
        try socket.set(.routerMandatory, to: true)
        try socket.set(.receiveHighWaterMark, to: waitingCommands)
        try socket.set(.sendHighWaterMark, to: waitingAnswers)
        try socket.set(.maxMessageSize, to: maximumFrameBytes)
        try harden(socket)
        try socket.bind(address)
        return socket
    }

    private static func publisher(_ address: String, in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        let socket = try Socket(.xpub, in: context)
        // Every subscription is passed up, also a second one of the same topic: joins are told by them.
        try socket.set(.xpubVerbose, to: true)
        try socket.set(.onlyFirstSubscribe, to: true)
        try socket.set(.sendHighWaterMark, to: waitingEvents)
        try socket.set(.maxMessageSize, to: maximumSubscriptionBytes)
        try harden(socket)
        try socket.bind(address)
        return socket
    }

    private static func subscriber(_ address: String?, in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        let socket = try Socket(.sub, in: context)
        guard let address else { return socket }
        try socket.set(.maxMessageSize, to: maximumFrameBytes)
        try harden(socket)
        try socket.subscribe([])
        try socket.bind(address)
        return socket
    }

    /// What every socket of a service needs: short handshakes, dead peers noticed by TCP. No ZMTP heartbeats, which
    /// abort a client of 4.3.4.
    private static func harden(_ socket: borrowing Socket) throws(ZeroMQError) {
        try socket.set(.linger, to: linger)
        try socket.set(.handshakeInterval, to: .seconds(3))
        try socket.set(.backlog, to: 1_024)
        try socket.set(.tcpKeepalive, to: true)
        try socket.set(.tcpKeepaliveIdle, to: .seconds(15))
        try socket.set(.tcpKeepaliveInterval, to: .seconds(5))
        try socket.set(.tcpKeepaliveCount, to: 3)
    }
}
