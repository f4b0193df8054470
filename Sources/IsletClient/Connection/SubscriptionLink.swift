import ZeroMQ

/// What the monitor of a SUB tells of its connection, and another one where libzmq makes none.
///
/// libzmq itself connects anew where a connection is lost, with all subscriptions, but never again where the other side does
/// not keep to ZMTP, or is no publisher: some other program at the address, or the service with its addresses exchanged.
/// The right one may stand there a moment later.
struct SubscriptionLink: ~Copyable {
    /// Within this time libzmq has made another connection, or found nobody, in which case it goes on trying.
    static let patience = Duration.seconds(1)

    private let monitor: Socket
    private var message = Message()
    /// Until when libzmq may make another connection; nil: none was lost.
    private var renewAt: ContinuousClock.Instant?

    /// Of a SUB of `context` that is not connected yet. `poller` watches the monitor.
    init(of socket: borrowing Socket, in context: ZeroMQContext, poller: inout Poller) throws(ZeroMQError) {
        monitor = try socket.links(in: context)
        _ = poller.add(monitor)
    }

    /// Closed after the SUB.
    func close() {
        monitor.close()
    }

    /// Whether a connection was lost since this was asked last, or did not come to stand.
    mutating func takeLoss(now: ContinuousClock.Instant) -> Bool {
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

    /// When ``renew(_:at:now:)`` has to be called though nothing has come.
    var nextWakeUp: ContinuousClock.Instant? { renewAt }

    /// Connects to the endpoint anew, where libzmq has not.
    mutating func renew(_ socket: borrowing Socket, at endpoint: String, now: ContinuousClock.Instant) {
        // What the old connection has brought goes with it.
        guard let due = renewAt, due <= now, (try? socket.events.contains(.readable)) != true else { return }
        renewAt = nil
        try? socket.disconnect(endpoint)
        do throws(ZeroMQError) {
            try socket.connect(endpoint)
        } catch {
            // Without descriptors, for instance. A closed socket makes no difference here.
            renewAt = now + Self.patience
        }
    }
}
