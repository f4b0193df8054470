/// How many subscriptions peers have, by the descriptors of their connections.
///
/// libzmq takes each before anybody can look at it, and forgets it only with its connection. It keeps them in one trie, with
/// a node for each byte in which topics differ, and walks all of that trie on this thread whenever any subscriber leaves
/// (measured: 13 ms with 512 Ki nodes, 60 ms with 1 Mi, 0.7 s with 8 Mi). So the trie is
/// what is limited: topics that begin alike, and those of several peers, have their common part once.
package struct SubscriptionTable {
    /// Subscriptions of one peer (contract, "The process").
    package static let perPeer = 1_000
    /// Bytes in which the topics of all peers differ: some 64 MiB of memory. Beyond it the peer is cut that has brought
    /// most of them: to cut others with the same topics would free nothing.
    package static let bytesInAll = 2 << 20
    /// What each different topic weighs in addition, as it has peers of its own.
    package static let bytesPerTopic = 16

    static var limitInWords: String {
        "a peer has at most \(perPeer) subscriptions, and the topics of all differ in at most \(bytesInAll >> 20) MiB"
    }

    private struct Peer {
        var topics: Set<[UInt8]> = []
        /// What its topics added when they came, to those that others had.
        var brought = 0
        var isCut = false
    }

    private let perPeer: Int
    private let bytesInAll: Int
    private var peers: [Int32: Peer] = [:]
    private var topics = TopicOrder()
    package private(set) var count = 0
    /// How many peers were cut.
    package private(set) var cut: UInt64 = 0

    package init(perPeer: Int = Self.perPeer, bytesInAll: Int = Self.bytesInAll) {
        self.perPeer = perPeer
        self.bytesInAll = bytesInAll
    }

    /// What all topics weigh.
    package var bytes: Int { topics.nodes + topics.count * Self.bytesPerTopic }

    /// Whether a peer was cut: what it has sent before is of no interest any more.
    package func isCut(_ descriptor: Int32) -> Bool { peers[descriptor]?.isCut ?? false }

    /// A peer subscribes to a topic.
    ///
    /// - Returns: the peer that is to be cut for it, if that is too much: this one, or the one that has brought most.
    package mutating func subscribed(_ descriptor: Int32, to topic: UnsafeRawBufferPointer) -> Int32? {
        guard !isCut(descriptor) else { return nil }
        let before = bytes
        let shared = topics.insert(topic)
        guard peers[descriptor, default: Peer()].topics.insert(shared).inserted else {
            // To subscribe again to the same changes nothing.
            topics.remove(shared)
            return nil
        }
        let added = bytes - before
        peers[descriptor]?.brought += added
        count += 1
        var toCut: Int32?
        if peers[descriptor]?.topics.count ?? 0 > perPeer {
            toCut = descriptor
        } else if bytes > bytesInAll {
            toCut = whoBroughtMost(or: descriptor)
        }
        if let toCut { cut(toCut) }
        return toCut
    }

    /// A peer ends a subscription, if it has it.
    package mutating func unsubscribed(_ descriptor: Int32, from topic: UnsafeRawBufferPointer) {
        guard let topic = peers[descriptor]?.topics.remove(Array(topic)) else { return }
        let before = bytes
        forget(topic)
        // Others may have it by now, or have brought what it shares: what it frees is no more than an estimate.
        let left = (peers[descriptor]?.brought ?? 0) - (before - bytes)
        peers[descriptor]?.brought = max(0, left)
    }

    /// A connection is gone, with all of its subscriptions.
    package mutating func lost(_ descriptor: Int32) {
        guard let peer = peers.removeValue(forKey: descriptor) else { return }
        for topic in peer.topics { forget(topic) }
    }

    /// The peer that has brought most; of equals, the one that asks.
    private func whoBroughtMost(or descriptor: Int32) -> Int32 {
        var most = (peer: descriptor, brought: peers[descriptor]?.brought ?? 0)
        for (other, peer) in peers where peer.brought > most.brought { most = (other, peer.brought) }
        return most.peer
    }

    /// What a peer has is given back at once: its connection is about to end.
    private mutating func cut(_ descriptor: Int32) {
        lost(descriptor)
        peers[descriptor] = Peer(isCut: true)
        cut += 1
    }

    private mutating func forget(_ topic: [UInt8]) {
        count -= 1
        topics.remove(topic)
    }
}
