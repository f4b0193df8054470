package import ZeroMQ

/// A DEALER and what waits to be sent by it.
///
/// libzmq is given messages only while the connection stands, as its monitor tells: what waits stays here, where it can
/// still be withdrawn, so that a command whose caller has given up is not executed when the service comes back. What
/// libzmq held when a connection was lost goes with it, and never by the next one.
///
/// `ZMQ_IMMEDIATE` is for this purpose, but aborts the process: with it libzmq ends a pipe as soon as it hears of a loss,
/// also between two frames of a message that is received ("Assertion failed: !_more", fq.cpp, 4.3.4 and 4.3.5).
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

    /// What the socket's monitor has told, and what follows from it.
    private enum Link {
        /// There is nothing to connect to yet.
        case none
        /// Given up then for a new one: of some connections libzmq tells neither that they stand nor that they are lost.
        case connecting(until: ContinuousClock.Instant)
        case connected
        /// The connection was lost, or never came to stand. What it has brought is still there to be received.
        case lost
        /// A new one is made then: a service that shuts connections is not asked for others without a pause.
        case resting(until: ContinuousClock.Instant)
    }

    /// From the loss of a connection to the next one, at least; at most twice as long.
    package static let shortestPause = Duration.milliseconds(100)
    /// From an attempt to connect to the next one, where nothing is heard of it.
    package static let patience = Duration.seconds(10)

    private let socket: Socket
    private let slot: Poller.Slot
    /// Tells what becomes of the connection (`Socket.links(in:)`).
    private let monitor: Socket
    private var message = Message()
    private var link = Link.none
    private var endpoint = ""
    /// Whether a connection was lost since ``takeLoss()`` was called last.
    private var hasLost = false
    /// How many connections that stood are there no more.
    package private(set) var losses: UInt64 = 0
    /// Since when nothing has come by this connection though something was sent that is answered; nil where nothing is
    /// waited for.
    package private(set) var silentSince: ContinuousClock.Instant?
    private var waiting: [Entry] = []
    /// The requests in `waiting`.
    private var held: Set<String> = []
    /// Whether `waiting` has messages that do not wait.
    private var hasPassing = false

    /// A DEALER of `context`, not connected yet, that `poller` watches.
    package init(context: ZeroMQContext, poller: inout Poller) throws(ZeroMQError) {
        let socket = try Socket(.dealer, in: context)
        try Self.setConnectionOptions(socket)
        monitor = try socket.links(in: context)
        slot = poller.add(socket)
        _ = poller.add(monitor)
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

    /// Connects, once and for all: a connection that is lost is made anew.
    package mutating func connect(_ endpoint: String) throws(ZeroMQError) {
        try socket.connect(endpoint)
        self.endpoint = endpoint
        link = .connecting(until: .now + Self.patience)
    }

    package func close() {
        socket.close()
        monitor.close()
    }

    /// Gives the connection up for a new one, with what was not sent by it and what it has brought.
    mutating func reconnect(now: ContinuousClock.Instant) {
        switch link {
        case .none, .resting: break
        case .connecting, .lost: rest(now)
        case .connected:
            losses += 1
            rest(now)
        }
    }

    /// Whether a connection was lost since this was asked last.
    package mutating func takeLoss() -> Bool {
        hear()
        defer { hasLost = false }
        return hasLost
    }

    /// When ``flush(now:poller:isWanted:)`` has to be called though nothing has come.
    package var nextWakeUp: ContinuousClock.Instant? {
        switch link {
        case .none, .connected, .lost: nil
        case .connecting(let until), .resting(let until): until
        }
    }

    /// Takes what the monitor has told since.
    private mutating func hear() {
        while let change = LinkChange(from: monitor, into: &message) {
            switch (link, change) {
            case (.connecting, .established): link = .connected
            case (.connected, .lost):
                link = .lost
                hasLost = true
                losses += 1
            // It never came to stand. libzmq itself tries again, but not where the other side does not keep to ZMTP, such as
            // another program at this address, though the service may stand there a moment later.
            case (.connecting, .lost): link = .lost
            // What is told of one that was given up is of no consequence.
            case (.connected, .established), (.lost, _), (.none, _), (.resting, _): break
            }
        }
    }

    /// Ends the connection, so that libzmq does not make it anew with what it holds for it.
    private mutating func rest(_ now: ContinuousClock.Instant) {
        // It fails for a closed socket alone.
        try? socket.disconnect(endpoint)
        pause(now)
    }

    private mutating func pause(_ now: ContinuousClock.Instant) {
        link = .resting(until: now + Self.shortestPause * Double.random(in: 1..<2))
        silentSince = nil
    }

    /// Does what is due for the connection.
    private mutating func mend(_ now: ContinuousClock.Instant) {
        hear()
        switch link {
        case .none, .connected: break
        case .connecting(let until):
            if until <= now { rest(now) }
        case .lost:
            // All that it has brought was there before it was told to be lost.
            guard (try? socket.events.contains(.readable)) != true else { return }
            rest(now)
        case .resting(let until):
            guard until <= now else { return }
            link = .connecting(until: now + Self.patience)
            do throws(ZeroMQError) {
                try socket.connect(endpoint)
            } catch {
                // Without descriptors, for instance. A closed socket makes no difference here.
                pause(now)
            }
        }
    }

    /// Withdraws what waits.
    mutating func clear() {
        waiting = []
        held = []
        hasPassing = false
    }

    /// Sends a message with the next ``flush(now:poller:isWanted:)``, which each turn ends with: what nobody wants any more by
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

    /// Sends what waits, without the messages nobody wants any more, and makes a connection anew whose pause is over.
    package mutating func flush(
        now: ContinuousClock.Instant, poller: inout Poller, isWanted: (Entry) -> Bool
    ) {
        mend(now)
        let isConnected = if case .connected = link { true } else { false }
        var sent = 0
        sending: for entry in waiting {
            if isWanted(entry) {
                for (index, frame) in entry.frames.enumerated() {
                    let isLast = index + 1 == entry.frames.count
                    let outcome = isConnected ? try? socket.send(copying: frame, more: !isLast) : nil
                    // Only the first frame of a message can be refused. An error is that of a closed socket.
                    guard outcome != .sent else { continue }
                    if entry.waits { break sending }
                    break
                }
            }
            held.subtract(entry.requests)
            sent += 1
            if isConnected, !entry.requests.isEmpty { silentSince = silentSince ?? now }
        }
        waiting.removeFirst(sent)
        dropPassing()
        // libzmq would take messages for a connection that does not stand yet: only the monitor tells when it does.
        poller.watch(slot, for: isConnected && !waiting.isEmpty ? [.readable, .writable] : .readable)
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
        var frames: [[UInt8]] = []
        repeat {
            guard let got = try? socket.receive(into: &message), got else { return frames.isEmpty ? nil : frames }
            frames.append(message.bytes)
        } while message.more
        silentSince = nil
        return frames
    }
}
