package import IsletCore

/// How many subscriptions peers have, by the descriptors of their connections.
///
/// libzmq takes each before anybody can look at it, and forgets it only with its connection. It keeps them in one trie, with
/// a node for each byte in which topics differ, and walks all of that trie on this thread whenever any subscriber leaves
/// (measured: 13 ms with 512 Ki nodes, 60 ms with 1 Mi, 0.7 s with 8 Mi). So the trie is
/// what is limited: topics that begin alike, and those of several peers, have their common part once.
///
/// It also knows who follows without ever saying how far it is: of those nobody knows whether they lose events.
package struct SubscriptionTable {
    /// Subscriptions of one peer (contract, "The process").
    package static let perPeer = 1_000
    /// Bytes in which the topics of all peers differ: some 64 MiB of memory. Beyond it the peer is cut that has brought
    /// most of them: to cut others with the same topics would free nothing.
    package static let bytesInAll = 2 << 20
    /// What each different topic weighs in addition, as it has peers of its own.
    package static let bytesPerTopic = 16

    /// Who has brought less than this part of what there may be has not brought it.
    private static let leastShare = 64

    static var limitInWords: String {
        "a peer has at most \(perPeer) subscriptions, and the topics of all differ in at most \(bytesInAll >> 20) MiB"
    }

    /// Nonces of one peer that are kept, the newest of those that it listens to: by them it may report how far it is.
    private static let noncesPerPeer = 4
    /// A follower that has said nothing of itself for so long since it came is silent, in milliseconds of real time.
    package static let patience: Milliseconds = 5_000

    private struct Peer {
        var topics: Set<[UInt8]> = []
        /// How many of them are of events, rather than the service's own words.
        var followed = 0
        /// Since when it follows anything; monotonic milliseconds.
        var since: Milliseconds = 0
        /// Of its joins, the newest last.
        var nonces: [[UInt8]] = []
        /// Whether it hands events on to others, and has applied none itself.
        var isRelay = false
        /// What its topics added when they came, to those that others had.
        var brought = 0
        /// What they all weigh, as if nobody else had any of them.
        var held = 0
        var isCut = false

        /// It has subscribed to a topic.
        mutating func note(_ topic: [UInt8], at time: Milliseconds) {
            if FollowedTopic.isOfEvents(topic) {
                if followed == 0 { since = time }
                followed += 1
            } else if let join = JoinTopic(topic) {
                nonces.append(join.nonce)
                if nonces.count > SubscriptionTable.noncesPerPeer { nonces.removeFirst() }
            } else if topic == FollowedTopic.relay {
                isRelay = true
            }
        }

        /// It has ended a subscription to a topic.
        mutating func noteEnd(of topic: [UInt8]) {
            if FollowedTopic.isOfEvents(topic) {
                followed -= 1
            } else if let join = JoinTopic(topic) {
                nonces.removeAll { $0 == join.nonce }
            }
        }

        func isSilent(at time: Milliseconds, reports: ([UInt8]) -> Bool) -> Bool {
            followed > 0 && !isRelay && time - since >= SubscriptionTable.patience && !nonces.contains(where: reports)
        }
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
    /// - Parameter time: monotonic milliseconds.
    /// - Returns: the peer that is to be cut for it, if that is too much: this one, or the one that has brought most.
    package mutating func subscribed(
        _ descriptor: Int32, to topic: UnsafeRawBufferPointer, at time: Milliseconds
    ) -> Int32? {
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
        peers[descriptor]?.held += shared.count + Self.bytesPerTopic
        peers[descriptor]?.note(shared, at: time)
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
        peers[descriptor]?.noteEnd(of: topic)
        peers[descriptor]?.held -= topic.count + Self.bytesPerTopic
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

    /// How many follow and report nothing.
    ///
    /// - Parameters:
    ///   - time: monotonic milliseconds.
    ///   - reports: whether anybody reports with this nonce.
    package func silentCount(at time: Milliseconds, reports: ([UInt8]) -> Bool) -> Int {
        peers.values.count { $0.isSilent(at: time, reports: reports) }
    }

    /// Those who follow and report nothing, the one that came first first. It looks at none of their topics, of which there
    /// may be a million.
    package func silent(at time: Milliseconds, reports: ([UInt8]) -> Bool) -> [SilentFollower] {
        peers.values.filter { $0.isSilent(at: time, reports: reports) }
            .map { SilentFollower(since: $0.since, topicCount: $0.followed, topics: $0.topics) }
            .sorted { $0.since < $1.since }
    }

    /// The peer that has brought most; of equals, the one that asks. Where those who brought the topics are gone and others
    /// have them still, nobody has brought much: then the one that holds most.
    private func whoBroughtMost(or descriptor: Int32) -> Int32 {
        let brought = peers.values.reduce(0) { max($0, $1.brought) }
        let weight: KeyPath<Peer, Int> = brought >= bytesInAll / Self.leastShare ? \.brought : \.held
        var most = (peer: descriptor, weight: peers[descriptor]?[keyPath: weight] ?? 0)
        for (other, peer) in peers where peer[keyPath: weight] > most.weight { most = (other, peer[keyPath: weight]) }
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
