package import ZeroMQ

/// A DEALER and what waits to be sent by it.
///
/// The socket takes messages only while it is connected (`ZMQ_IMMEDIATE`): what waits stays here, where it can still be
/// withdrawn, so that a command whose caller has given up is not executed when the service comes back.
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

    private let socket: Socket
    private let slot: Poller.Slot
    private var waiting: [Entry] = []
    /// The requests in `waiting`.
    private var held: Set<String> = []
    /// Whether `waiting` has messages that do not wait.
    private var hasPassing = false

    /// A DEALER of `context`, not connected yet, that `poller` watches.
    package init(context: ZeroMQContext, poller: inout Poller) throws(ZeroMQError) {
        let socket = try Socket(.dealer, in: context)
        try socket.set(.immediate, to: true)
        try Self.setConnectionOptions(socket)
        slot = poller.add(socket)
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

    func connect(_ endpoint: String) throws(ZeroMQError) {
        try socket.connect(endpoint)
    }

    package func close() {
        socket.close()
    }

    /// Gives the connection up for a new one, with what was not sent by it.
    func reconnect(_ endpoint: String) throws(ZeroMQError) {
        try socket.disconnect(endpoint)
        try socket.connect(endpoint)
    }

    /// A socket that becomes readable when the connection is lost; see `Socket.disconnections(in:)`.
    func disconnections(in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        try socket.disconnections(in: context)
    }

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
        var sent = 0
        sending: for entry in waiting {
            if isWanted(entry) {
                for (index, frame) in entry.frames.enumerated() {
                    let outcome = try? socket.send(copying: frame, more: index + 1 < entry.frames.count)
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
        poller.watch(slot, for: waiting.isEmpty ? .readable : [.readable, .writable])
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
    ///
    /// With `ZMQ_IMMEDIATE` libzmq ends a pipe as soon as it hears that its connection is lost. Where it does so between two
    /// frames of a message, which it does at every hundredth frame if at all, it aborts the process ("Assertion failed:
    /// !_more", 4.3.4 and 4.3.5). So it hears what there is to be heard before each message; what is left are losses within
    /// the microseconds of reading one.
    func receive(into message: inout Message) -> [[UInt8]]? {
        var frames: [[UInt8]] = []
        _ = try? socket.events
        repeat {
            guard let got = try? socket.receive(into: &message), got else { return frames.isEmpty ? nil : frames }
            frames.append(message.bytes)
        } while message.more
        return frames
    }
}
