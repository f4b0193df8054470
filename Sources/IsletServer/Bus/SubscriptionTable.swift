/// How many subscriptions peers have, by the descriptors of their connections.
///
/// libzmq takes each before anybody can look at it, and forgets it only with its connection: who has too many is cut.
/// What is protected is this process's memory, where a subscription takes some 32 bytes for each byte of its topic.
package struct SubscriptionTable {
    /// Subscriptions of one peer (contract, "The process").
    package static let perPeer = 1_000
    /// Bytes of all topics of all peers: some 256 MiB of memory. The peer that asks for more is cut.
    package static let bytesInAll = 8 << 20

    static var limitInWords: String {
        "a peer has at most \(perPeer) subscriptions, and the topics of all have \(bytesInAll >> 20) MiB"
    }

    private struct Peer {
        var count = 0
        var bytes = 0
        var isCut = false
    }

    private let perPeer: Int
    private let bytesInAll: Int
    private var peers: [Int32: Peer] = [:]
    private var bytes = 0
    private(set) var count = 0
    /// How many peers were cut.
    private(set) var cut: UInt64 = 0

    init(perPeer: Int = Self.perPeer, bytesInAll: Int = Self.bytesInAll) {
        self.perPeer = perPeer
        self.bytesInAll = bytesInAll
    }

    /// Whether a peer was cut: what it has sent before is of no interest any more.
    func isCut(_ descriptor: Int32) -> Bool { peers[descriptor]?.isCut ?? false }

    /// A peer subscribes to a topic of so many bytes; false: that is too much, and it is to be cut.
    mutating func subscribed(_ descriptor: Int32, bytes size: Int) -> Bool {
        var peer = peers[descriptor] ?? Peer()
        peer.count += 1
        peer.bytes += size
        count += 1
        bytes += size
        let isCut = peer.count > perPeer || bytes > bytesInAll
        if isCut, !peer.isCut { cut += 1 }
        peer.isCut = peer.isCut || isCut
        peers[descriptor] = peer
        return !isCut
    }

    /// A peer ends a subscription.
    mutating func unsubscribed(_ descriptor: Int32, bytes size: Int) {
        guard var peer = peers[descriptor], peer.count > 0 else { return }
        let known = min(size, peer.bytes)
        peer.count -= 1
        peer.bytes -= known
        count -= 1
        bytes -= known
        peers[descriptor] = peer
    }

    /// A connection is gone, with all of its subscriptions.
    mutating func lost(_ descriptor: Int32) {
        guard let peer = peers.removeValue(forKey: descriptor) else { return }
        count -= peer.count
        bytes -= peer.bytes
    }
}
