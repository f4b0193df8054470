package import ZeroMQ

/// What the monitor of a SUB tells of its connection, and another one where libzmq makes none.
///
/// libzmq itself connects anew where a connection is lost, with all subscriptions, but never again where the other side does
/// not keep to ZMTP, or is no publisher: some other program at the address, or the service with its addresses exchanged.
/// The right one may stand there a moment later.
package struct SubscriptionLink: ~Copyable {
    /// Within this time libzmq has made another connection, or found nobody, in which case it goes on trying.
    static let patience = Duration.seconds(1)

    private let monitor: Socket
    private var message = Message()
    /// Until when libzmq may make a connection, where it has none; nil: it stands, or there is nothing to connect to yet.
    private var renewAt: ContinuousClock.Instant?

    /// Of a SUB of `context` that is not connected yet. `poller` watches the monitor.
    package init(of socket: borrowing Socket, in context: ZeroMQContext, poller: inout Poller) throws(ZeroMQError) {
        monitor = try socket.links(in: context)
        _ = poller.add(monitor)
    }

    /// Closed after the SUB.
    package func close() {
        monitor.close()
    }

    /// Whether a connection was lost since this was asked last, or did not come to stand.
    package mutating func takeLoss(now: ContinuousClock.Instant) -> Bool {
        var isLost = false
        while let change = LinkChange(from: monitor, into: &message) {
            switch change {
            case .established: renewAt = nil
            case .lost:
                isLost = true
                renewAt = now + Self.patience
            }
        }
        return isLost
    }

    /// Connects the SUB to the endpoint, once and for all: a connection that is lost is made anew.
    package mutating func connect(
        _ socket: borrowing Socket, to endpoint: String, now: ContinuousClock.Instant
    ) throws(ZeroMQError) {
        try socket.connect(endpoint)
        renewAt = now + Outlet.patience
    }

    /// Lets another connection be made: this one, if there is one, leads nowhere.
    package mutating func giveUp(now: ContinuousClock.Instant) {
        renewAt = now
    }

    /// When ``renew(_:at:now:)`` has to be called though nothing has come.
    package var nextWakeUp: ContinuousClock.Instant? { renewAt }

    /// Connects to the endpoint anew, where libzmq has not.
    package mutating func renew(_ socket: borrowing Socket, at endpoint: String, now: ContinuousClock.Instant) {
        // What the old connection has brought goes with it.
        guard let due = renewAt, due <= now, (try? socket.events.contains(.readable)) != true else { return }
        try? socket.disconnect(endpoint)
        do throws(ZeroMQError) {
            try connect(socket, to: endpoint, now: now)
        } catch {
            // Without descriptors, for instance. A closed socket makes no difference here.
            renewAt = now + Self.patience
        }
    }
}
