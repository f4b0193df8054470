/// Over which connections of a ROUTER its peers speak, as far as their messages have told: of many that are received
/// together not all are asked (``InboundMessages``). Only those that are open are here.
package struct PeerConnections {
    private var peers: [Int32: Peer] = [:]
    private var descriptors: [Peer: Int32] = [:]

    package init() {}

    /// Whether it is known that the peer of this name speaks over a connection.
    package func knows(_ routingID: Span<UInt8>, over descriptor: Int32) -> Bool {
        guard let peer = peers[descriptor], peer.routingID.count == routingID.count else { return false }
        return routingID.indices.allSatisfy { peer.routingID[$0] == routingID[$0] }
    }

    /// The connection that a peer spoke over last, where it is known and open.
    package func descriptor(of peer: Peer) -> Int32? { descriptors[peer] }

    /// A message of a peer came over a connection.
    package mutating func spoke(_ peer: Peer, over descriptor: Int32) {
        if let former = peers.updateValue(peer, forKey: descriptor), former != peer, descriptors[former] == descriptor {
            descriptors[former] = nil
        }
        descriptors[peer] = descriptor
    }

    /// A connection has ended; gives whose it was, where that is known.
    package mutating func lost(_ descriptor: Int32) -> Peer? {
        guard let peer = peers.removeValue(forKey: descriptor) else { return nil }
        // It may speak over another one by now.
        if descriptors[peer] == descriptor { descriptors[peer] = nil }
        return peer
    }
}
