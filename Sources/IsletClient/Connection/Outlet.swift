package import ZeroMQ

/// A DEALER and what waits to be sent by it.
///
/// The socket is given messages only while it is connected: what waits stays here, where it can still be withdrawn, so
/// that a command whose caller has given up is not executed when the service comes back. A connection that is lost is
/// given up with what was to go by it, and another one made.
///
/// libzmq would do both by itself (`ZMQ_IMMEDIATE`), but then it aborts the process where it hears of the loss between
/// two frames of a message that is received ("Assertion failed: !_more", 4.3.4 and 4.3.5), and a chunk has hundreds.
package struct Outlet: ~Copyable {
    /// One message of one frame or more; each may have a `req`.
    package struct Entry: Sendable {
        package var frames: [[UInt8]]
        package var requests: [String]
        /// Whether it waits for a connection; else it is dropped where it cannot be sent at once.
        package var waits: Bool

        package init(frames: [[UInt8]], requests: [String], waits: Bool = true) {
            self.frames = frames
            self.requests = requests
            self.waits = waits
        }
    }

    /// More messages than this do not wait.
    ///
    /// It is as many as there are requests at a time (``RequestTable/maximumCount``), so that one more is there only beside
    /// requests that were given up in the same turn. A provider has fewer: an answer to each of its calls, of which there are
    /// at most 1,024.
    package static let maximumWaiting = 65_536

    /// From the loss of a connection to the next one, by chance, so that not all clients come at once.
    private static let pause = 100...200

    private let socket: Socket
    private let slot: Poller.Slot
    /// Tells of the socket's connections.
    private let connections: Socket
    private var endpoint = ""
    private var isConnected = false
    /// Whether the connection is lost, and what it has brought may still have to be received.
    private var isLost = false
    /// Whether one was lost since somebody asked.
    private var wasLost = false
    /// When the next connection is to be made, where the last one was given up.
    private var connectAt: ContinuousClock.Instant?
    private var waiting: [Entry] = []
    /// The requests in `waiting`.
    private var held: Set<String> = []
    /// Whether `waiting` has messages that do not wait.
    private var hasPassing = false

    /// A DEALER of `context`, not connected yet, that `poller` watches.
    package init(context: ZeroMQContext, poller: inout Poller) throws(ZeroMQError) {
        let socket = try Socket(.dealer, in: context)
        try Self.setConnectionOptions(socket)
        let connections = try socket.ownConnections(in: context)
        slot = poller.add(socket)
        _ = poller.add(connections)
        self.connections = connections
        self.socket = socket
    }

    /// What every connecting socket of this library has.
    static func setConnectionOptions(_ socket: borrowing Socket) throws(ZeroMQError) {
        try socket.set(.reconnectInterval, to: .milliseconds(100))
        try socket.set(.reconnectIntervalMax, to: .seconds(2))
        try socket.set(.tcpKeepalive, to: true)
        try socket.set(.tcpKeepaliveIdle, to: .seconds(15))
        try socket.set(.tcpKeepaliveInterval, to: .seconds(5))
        try socket.set(.tcpKeepaliveCount, to: 3)
        try socket.set(.tcpMaxRetransmit, to: .seconds(15))
    }

    mutating func connect(_ endpoint: String) throws(ZeroMQError) {
        try socket.connect(endpoint)
        self.endpoint = endpoint
    }

    package func close() {
        socket.close()
        connections.close()
    }

    // MARK: The connection

    /// Gives the connection up for a new one, with what was not sent by it. The next flush makes that.
    mutating func reconnect() {
        giveUp(until: .now)
    }

    /// Whether a connection was lost since this was asked last.
    mutating func hasLostConnection() -> Bool {
        exchange(&wasLost, with: false)
    }

    /// When ``flush(poller:isWanted:)`` has to make a connection; nil where there is one, or libzmq makes it.
    package var nextWakeUp: ContinuousClock.Instant? { connectAt }

    private mutating func giveUp(until time: ContinuousClock.Instant) {
        // It fails for a closed socket alone.
        try? socket.disconnect(endpoint)
        (isConnected, isLost) = (false, false)
        connectAt = time
    }

    /// Takes in what became of connections.
    private mutating func hear(_ message: inout Message) {
        while let change = OwnConnection(from: connections, into: &message) {
            // Until another is made this is about the one that was given up.
            guard connectAt == nil else { continue }
            switch change {
            // Where libzmq has made another one before that was done, what was left has gone by that.
            case .made: (isConnected, isLost) = (true, false)
            case .lost: (isConnected, isLost, wasLost) = (false, true, true)
            }
        }
    }

    private mutating func connectIfDue() {
        guard let time = connectAt, time <= .now else { return }
        var message = Message()
        hear(&message)
        connectAt = nil
        // It fails for a closed socket alone: there was a connection to that place.
        try? socket.connect(endpoint)
    }

    // MARK: Messages

    /// Withdraws what waits.
    mutating func clear(poller: inout Poller) {
        flush(poller: &poller) { _ in false }
    }

    /// Sends a message with the next ``flush(poller:isWanted:)``, which each turn ends with: what nobody wants any more by
    /// then is not sent.
    ///
    /// One too many is dropped without a word. A request is sent again when its answer does not come, as this does not hold it.
    package mutating func send(_ entry: Entry) {
        guard waiting.count < Self.maximumWaiting else { return }
        waiting.append(entry)
        held.formUnion(entry.requests)
        if !entry.waits { hasPassing = true }
    }

    /// Whether a frame of this request still waits here, so that sending it again is in vain.
    package func holds(req: String) -> Bool {
        held.contains(req)
    }

    /// Sends what waits, without the messages nobody wants any more.
    package mutating func flush(poller: inout Poller, isWanted: (Entry) -> Bool) {
        connectIfDue()
        var sent = 0
        sending: for entry in waiting {
            if isWanted(entry) {
                for (index, frame) in entry.frames.enumerated() {
                    let more = index + 1 < entry.frames.count
                    let outcome = isConnected ? (try? socket.send(copying: frame, more: more)) : nil
                    // Only the first frame of a message can be refused. An error is that of a closed socket.
                    guard outcome != .sent else { continue }
                    if entry.waits { break sending }
                    break
                }
            }
            held.subtract(entry.requests)
            sent += 1
        }
        waiting.removeFirst(sent)
        dropPassing()
        poller.watch(slot, for: waiting.isEmpty || !isConnected ? .readable : [.readable, .writable])
    }

    /// What is behind a message that waits cannot go at once either. Later it would say what held now, such as how far the
    /// readers of a connection were before they joined anew.
    private mutating func dropPassing() {
        guard hasPassing else { return }
        hasPassing = false
        for entry in waiting where !entry.waits { held.subtract(entry.requests) }
        waiting.removeAll { !$0.waits }
    }

    /// The next message that has come, nil where there is none.
    package mutating func receive(into message: inout Message) -> [[UInt8]]? {
        if let frames = take(into: &message) { return frames }
        hear(&message)
        guard isLost else { return nil }
        // What the connection has brought was there before it was known to be lost.
        if let frames = take(into: &message) { return frames }
        giveUp(until: .now + .milliseconds(Int.random(in: Self.pause)))
        return nil
    }

    private func take(into message: inout Message) -> [[UInt8]]? {
        var frames: [[UInt8]] = []
        repeat {
            guard let got = try? socket.receive(into: &message), got else { return frames.isEmpty ? nil : frames }
            frames.append(message.bytes)
        } while message.more
        return frames
    }
}
