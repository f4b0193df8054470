/// Over which connections of a ROUTER its peers speak, as far as their messages have told: of many that are received
/// together not all are asked (``InboundMessages``). Only those that are open are here.
package struct PeerConnections {
    private var peers: [Int32: Peer] = [:]
    private var descriptors: [Peer: Int32] = [:]
    /// How many of the connections are those of peers that named themselves.
    private var namedCount = 0

    package init() {}

    /// Whether one of the peers has named itself.
    package var hasNamed: Bool { namedCount > 0 }

    /// Whether it is known that the peer of this name speaks over a connection.
    package func knows(_ routingID: Span<UInt8>, over descriptor: Int32) -> Bool {
        guard let peer = peers[descriptor], peer.routingID.count == routingID.count else { return false }
        return routingID.indices.allSatisfy { peer.routingID[$0] == routingID[$0] }
    }

    /// The connection that a peer spoke over last, where it is known and open.
    package func descriptor(of peer: Peer) -> Int32? { descriptors[peer] }

    /// Whose connections have ended, as is seen by the message of a peer that comes over this one, though it was not
    /// told: its own former one, and whoever spoke over this descriptor before. Only peers that named themselves.
    package func endedBy(_ peer: Peer, over descriptor: Int32) -> Set<Peer> {
        var ended: Set<Peer> = []
        if peer.isNamed, let former = descriptors[peer], former != descriptor { ended.insert(peer) }
        if let former = peers[descriptor], former.isNamed, former != peer, descriptors[former] == descriptor {
            ended.insert(former)
        }
        return ended
    }

    /// A message of a peer came over a connection.
    package mutating func spoke(_ peer: Peer, over descriptor: Int32) {
        if peer.isNamed { namedCount += 1 }
        if let former = peers.updateValue(peer, forKey: descriptor) {
            if former.isNamed { namedCount -= 1 }
            if former != peer, descriptors[former] == descriptor { descriptors[former] = nil }
        }
        descriptors[peer] = descriptor
    }

    /// A connection has ended; gives whose it was, where that is known.
    package mutating func lost(_ descriptor: Int32) -> Peer? {
        guard let peer = peers.removeValue(forKey: descriptor) else { return nil }
        if peer.isNamed { namedCount -= 1 }
        // It may speak over another one by now.
        if descriptors[peer] == descriptor { descriptors[peer] = nil }
        return peer
    }
}
