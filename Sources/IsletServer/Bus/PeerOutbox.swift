/// A connected client, as ZeroMQ names it on one of the two ROUTER sockets.
struct Peer: Hashable {
    var destination: OutboundMessages.Destination
    var routingID: [UInt8]
}

/// Messages that a client's full pipe did not take, in order, to be tried again.
///
/// A client that does not read is cut after ``maximumMessages``; all of them together keep at most ``maximumBytes``.
struct PeerOutbox {
    /// Messages that wait for one client.
    static let maximumMessages = 1_000
    /// Bytes that wait for all clients.
    static let maximumBytes = 256 << 20

    /// The frames of one message behind its routing id.
    typealias Waiting = [[UInt8]]

    private var queues: [Peer: [Waiting]] = [:]
    private(set) var bytes = 0

    var isEmpty: Bool { queues.isEmpty }
    var peers: [Peer] { Array(queues.keys) }

    func isWaiting(_ peer: Peer) -> Bool { queues[peer] != nil }

    /// Keeps a message; false where there is no room, so that the client must be cut.
    mutating func append(_ message: Waiting, for peer: Peer) -> Bool {
        let size = message.reduce(0) { $0 + $1.count }
        guard queues[peer, default: []].count < Self.maximumMessages, bytes + size <= Self.maximumBytes else {
            return false
        }
        queues[peer, default: []].append(message)
        bytes += size
        return true
    }

    /// Offers a client's messages in order until one is not taken.
    mutating func flush(_ peer: Peer, _ isTaken: (Waiting) -> Bool) {
        guard let queue = queues[peer] else { return }
        var taken = 0
        while taken < queue.count, isTaken(queue[taken]) {
            bytes -= queue[taken].reduce(0) { $0 + $1.count }
            taken += 1
        }
        queues[peer] = taken == queue.count ? nil : Array(queue[taken...])
    }

    /// Forgets a client.
    mutating func remove(_ peer: Peer) {
        bytes -= queues.removeValue(forKey: peer)?.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } } ?? 0
    }
}
