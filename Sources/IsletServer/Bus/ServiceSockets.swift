import ZeroMQ

/// The sockets of the service, all bound by it. They live and die on the bus thread.
package struct ServiceSockets: ~Copyable {
    /// Those that are bound, in the order in which their connections are counted.
    enum Bound: Int, CaseIterable {
        case commands
        case bulk
        case events
        case ingest

        var name: String {
            switch self {
            case .commands: "commands"
            case .bulk: "bulk"
            case .events: "events"
            case .ingest: "ingest"
            }
        }
    }

    /// A PAIR for each (`Socket.connections(in:)`).
    struct Monitors: ~Copyable {
        let commands: Socket
        let bulk: Socket
        let events: Socket
        let ingest: Socket

        /// The next thing that a socket tells of its connections; nil where there is none.
        func next(_ bound: Bound, into message: inout Message) -> ConnectionChange? {
            switch bound {
            case .commands: ConnectionChange(from: commands, into: &message)
            case .bulk: ConnectionChange(from: bulk, into: &message)
            case .events: ConnectionChange(from: events, into: &message)
            case .ingest: ConnectionChange(from: ingest, into: &message)
            }
        }

        func close() {
            commands.close()
            bulk.close()
            events.close()
            ingest.close()
        }
    }

    /// A socket that is bound, and its monitor.
    private struct Monitored: ~Copyable {
        let socket: Socket
        let monitor: Socket
    }

    /// ROUTER: commands and queries.
    let commands: Socket
    /// XPUB: the streams.
    let events: Socket
    /// ROUTER: snapshots and replays.
    let bulk: Socket
    /// SUB, subscribed to everything; bound only where it is configured.
    let ingest: Socket
    let hasIngest: Bool
    /// What each tells of its connections; closed after them.
    let monitors: Monitors
    /// What was bound, with the ports that were found for `*` and 0, and with whole paths.
    let endpoints: ServiceEndpoints

    /// A frame over this cuts the connection.
    private static let maximumFrameBytes: Int64 = 1 << 20
    /// Only subscriptions come in on the events socket: a topic and a byte.
    private static let maximumSubscriptionBytes: Int64 = 256
    /// Messages of one connection that wait to be read by the service.
    private static let waitingCommands: Int32 = 64
    /// Subscriptions of one connection that wait to be taken. libzmq takes all that wait at once, and goes on with those
    /// that come meanwhile: with few of them it comes to an end between them, and this thread to its other work.
    private static let waitingSubscriptions: Int32 = 4
    /// Messages that wait for one client to read them, before the service keeps them itself (``PeerOutbox``, which counts
    /// the bytes of large ones here too).
    private static let waitingAnswers: Int32 = 1_000
    /// Events that wait for one subscriber; beyond, it loses those to come.
    package static let waitingEvents: Int32 = 20_000
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
        let ingest = try StartError.at(configuration.ingest ?? "a socket of its own") { _ throws(ZeroMQError) in
            try Self.subscriber(configuration.ingest, in: context)
        }
        let ingestEndpoint = configuration.ingest == nil ? nil : try Self.endpoint(of: ingest.socket)
        let endpoints = ServiceEndpoints(
            commands: try Self.endpoint(of: commands.socket), events: try Self.endpoint(of: events.socket),
            bulk: try Self.endpoint(of: bulk.socket), ingest: ingestEndpoint)
        // Nothing is thrown from here on: a value that holds noncopyable ones is made whole or not at all.
        hasIngest = ingestEndpoint != nil
        self.endpoints = endpoints
        monitors = Monitors(
            commands: commands.monitor, bulk: bulk.monitor, events: events.monitor, ingest: ingest.monitor)
        self.commands = commands.socket
        self.bulk = bulk.socket
        self.events = events.socket
        self.ingest = ingest.socket
    }

    /// Adds them to the poller of their thread.
    func register(in poller: inout Poller) {
        _ = poller.add(commands)
        _ = poller.add(events)
        _ = poller.add(bulk)
        if hasIngest { _ = poller.add(ingest) }
        _ = poller.add(monitors.commands)
        _ = poller.add(monitors.bulk)
        _ = poller.add(monitors.events)
        _ = poller.add(monitors.ingest)
    }

    /// Closes them; what was sent may linger for a moment.
    func close() {
        commands.close()
        events.close()
        bulk.close()
        ingest.close()
        monitors.close()
    }

    private static func endpoint(of socket: borrowing Socket) throws(StartError) -> String {
        do {
            return EndpointAddress.absolute(try socket.lastEndpoint)
        } catch {
            throw StartError(address: "an address that was bound", reason: error)
        }
    }

    private static func router(_ address: String, in context: ZeroMQContext) throws(ZeroMQError) -> Monitored {
        let socket = try Socket(.router, in: context)
        // Without it, a message to a full or dead client would be dropped in silence.
        try socket.set(.routerMandatory, to: true)
        try socket.set(.receiveHighWaterMark, to: waitingCommands)
        try socket.set(.sendHighWaterMark, to: waitingAnswers)
        try socket.set(.maxMessageSize, to: maximumFrameBytes)
        try harden(socket)
        let monitor = try socket.connections(in: context)
        try socket.bind(address)
        return Monitored(socket: socket, monitor: monitor)
    }

    private static func publisher(_ address: String, in context: ZeroMQContext) throws(ZeroMQError) -> Monitored {
        let socket = try Socket(.xpub, in: context)
        // Every subscription is passed up, also a second one of the same topic, and every end of one: joins are told by
        // them, and how many a peer has.
        try socket.set(.xpubVerboser, to: true)
        try socket.set(.receiveHighWaterMark, to: waitingSubscriptions)
        try socket.set(.onlyFirstSubscribe, to: true)
        try socket.set(.sendHighWaterMark, to: waitingEvents)
        try socket.set(.maxMessageSize, to: maximumSubscriptionBytes)
        try harden(socket)
        let monitor = try socket.connections(in: context)
        try socket.bind(address)
        return Monitored(socket: socket, monitor: monitor)
    }

    private static func subscriber(_ address: String?, in context: ZeroMQContext) throws(ZeroMQError) -> Monitored {
        let socket = try Socket(.sub, in: context)
        let monitor = try socket.connections(in: context)
        guard let address else { return Monitored(socket: socket, monitor: monitor) }
        try socket.set(.receiveHighWaterMark, to: waitingCommands)
        try socket.set(.maxMessageSize, to: maximumFrameBytes)
        try harden(socket)
        try socket.subscribe([])
        try socket.bind(address)
        return Monitored(socket: socket, monitor: monitor)
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
