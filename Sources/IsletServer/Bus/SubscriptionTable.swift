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
        /// The bytes of each topic, by its hash: a peer may end a subscription that it never had, and then nothing is over.
        var topics: [Int: Int] = [:]
        var bytes = 0
        var isCut = false
    }

    private let perPeer: Int
    private let bytesInAll: Int
    private var peers: [Int32: Peer] = [:]
    private var bytes = 0
    package private(set) var count = 0
    /// How many peers were cut.
    package private(set) var cut: UInt64 = 0

    package init(perPeer: Int = Self.perPeer, bytesInAll: Int = Self.bytesInAll) {
        self.perPeer = perPeer
        self.bytesInAll = bytesInAll
    }

    /// Whether a peer was cut: what it has sent before is of no interest any more.
    package func isCut(_ descriptor: Int32) -> Bool { peers[descriptor]?.isCut ?? false }

    /// A peer subscribes to a topic; false: that is too much, and it is to be cut.
    package mutating func subscribed(_ descriptor: Int32, to topic: UnsafeRawBufferPointer) -> Bool {
        var peer = peers.removeValue(forKey: descriptor) ?? Peer()
        defer { peers[descriptor] = peer }
        // To subscribe again to the same changes nothing.
        guard !peer.isCut, peer.topics.updateValue(topic.count, forKey: Self.hash(topic)) == nil else {
            return !peer.isCut
        }
        peer.bytes += topic.count
        count += 1
        bytes += topic.count
        peer.isCut = peer.topics.count > perPeer || bytes > bytesInAll
        if peer.isCut { cut += 1 }
        return !peer.isCut
    }

    /// A peer ends a subscription, if it has it.
    package mutating func unsubscribed(_ descriptor: Int32, from topic: UnsafeRawBufferPointer) {
        guard let size = peers[descriptor]?.topics.removeValue(forKey: Self.hash(topic)) else { return }
        peers[descriptor]?.bytes -= size
        count -= 1
        bytes -= size
    }

    private static func hash(_ topic: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: topic)
        return hasher.finalize()
    }

    /// A connection is gone, with all of its subscriptions.
    package mutating func lost(_ descriptor: Int32) {
        guard let peer = peers.removeValue(forKey: descriptor) else { return }
        count -= peer.topics.count
        bytes -= peer.bytes
    }
}
