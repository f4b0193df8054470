internal import ZeroMQ

/// A connection to a service: commands with their answers, and streams of events.
///
/// It reconnects by itself, sends a command again until it is answered (the service executes it once), and follows
/// streams through restarts. It may be used from any task; it ends with `close()`, or with its last user.
///
///     let connection = try await IsletConnection.open()
///     let answer = try await connection.send(Command("service.info"))
public final class IsletConnection: Sendable {
    /// Where the service is.
    public let endpoints: Endpoints
    private let options: ConnectionOptions
    private let thread: BusThread
    let loop: ConnectionLoop

    private init(endpoints: Endpoints, options: ConnectionOptions, thread: BusThread, loop: ConnectionLoop) {
        self.endpoints = endpoints
        self.options = options
        self.thread = thread
        self.loop = loop
    }

    deinit {
        thread.requestStop()
    }

    /// Opens a connection. It does not wait for the service, which may be started later.
    ///
    /// - Throws: ``IsletError/endpoint(_:reason:)`` where an endpoint is no address, or the system has no room for
    ///   more; ``IsletError/invalid(_:)`` for a `requestPrefix` that the service would not take.
    public static func open(
        _ endpoints: Endpoints = Endpoints(), options: ConnectionOptions = ConnectionOptions()
    ) async throws(IsletError) -> IsletConnection {
        guard options.hasValidPrefix else {
            throw .invalid(
                "a requestPrefix has at most \(ConnectionOptions.maximumPrefix) printable ASCII characters "
                    + "without \" and \\, and not '\(options.requestPrefix)'")
        }
        let thread: BusThread
        do throws(ZeroMQError) {
            thread = try BusThread(name: "islet-client")
        } catch {
            throw .endpoint("a thread", reason: error.description)
        }
        do throws(IsletError) {
            let loop = try await thread.host { thread throws(IsletError) in
                try ConnectionLoop(on: thread, endpoints: endpoints, options: options)
            }
            return IsletConnection(endpoints: endpoints, options: options, thread: thread, loop: loop)
        } catch {
            await thread.stop()
            throw error
        }
    }

    /// Ends the connection: what waits gets ``IsletError/closed``, streams end.
    public func close() async {
        await thread.stop()
    }

    // MARK: Commands

    /// Sends a command and gives the service's answer.
    ///
    /// - Parameter timeout: how long it may take, attempts included; nil: as the connection's options say.
    /// - Throws: ``IsletError/refused(_:)`` with the service's error, ``IsletError/timedOut(after:change:)``,
    ///   ``IsletError/cancelled`` where the task is, ``IsletError/closed``.
    @discardableResult
    public func send(_ command: Command, timeout: Duration? = nil) async throws(IsletError) -> Answer {
        try await loop.send(command, timeout: timeout ?? options.timeout).get()
    }

    /// Sends many commands in one message and gives their results in the same order.
    ///
    /// They are independent: one may fail while others succeed. They are executed in their order, also where they have to be
    /// sent again. At most 256 are sent together, more in further messages, each after the answers to the one before.
    ///
    /// - Parameter timeout: how long each message may take, attempts included; nil: as the connection's options say.
    public func send(
        batch commands: [Command], timeout: Duration? = nil
    ) async -> [Result<Answer, IsletError>] {
        var results: [Result<Answer, IsletError>] = []
        var start = 0
        while start < commands.count {
            let end = min(start + Self.maximumBatch, commands.count)
            results += await loop.send(batch: Array(commands[start..<end]), timeout: timeout ?? options.timeout)
            start = end
        }
        return results
    }

    /// Frames of one message, by the contract.
    private static let maximumBatch = 256

    /// What was begun and is not known to have ended, for whoever stops before the answers come.
    package func unansweredChanges() async -> UnansweredChanges { await loop.unansweredChanges() }

    /// The service's domain time in milliseconds since 1970, which may run fast or stand still.
    public func now() async throws(IsletError) -> Int64 {
        let answer = try await send(Command("service.ping"))
        guard let now = answer["now"]?.integer else { throw .unreadable("a ping without now") }
        return now
    }

    // MARK: Streams

    /// The events of all topics that begin with a prefix: `""`, `com.example.pizza/`,
    /// `com.example.pizza/activity/Delivery/` …
    ///
    /// It begins with a ``Delivery/synced(_:)`` for each app, whose entities are empty, and then has every event, none
    /// twice. Only where the service does not keep them any more, another `synced` tells how many were missed. Where the
    /// endpoints are of different services, it ends with ``IsletError/endpoint(_:reason:)`` before anything of the other's
    /// is told.
    public func events(_ prefix: String = "") async throws(IsletError) -> DeliveryStream {
        try await stream(prefix, keepsEntities: false)
    }

    /// The entities of all topics that begin with a prefix, and the events that change them.
    ///
    /// It begins with a ``Delivery/synced(_:)`` for each app, which has its listed entities; every later event comes
    /// with the whole entity. It ends as ``events(_:)`` does where the endpoints are of different services.
    public func entities(_ prefix: String) async throws(IsletError) -> DeliveryStream {
        try await stream(prefix, keepsEntities: true)
    }

    private func stream(_ prefix: String, keepsEntities: Bool) async throws(IsletError) -> DeliveryStream {
        let queue = try await loop.addReader(prefix: prefix, keepsEntities: keepsEntities)
        return stream(of: queue)
    }

    func stream(of queue: DeliveryQueue) -> DeliveryStream {
        DeliveryStream(ReaderHandle(queue: queue, connection: self))
    }
}
