package import IsletCore

/// Joins that wait for their answers: those of one subscriber in their order, and subscribers by turns, so that nobody
/// waits behind another one's thousands.
///
/// Where a join names no app, its answer may have 100 KB, and what a subscriber does not read waits in this process. So
/// each subscriber has a share: so many bytes of answers at once, and so many more each second. Beyond it, its own joins
/// wait. How many joins may wait is the ledger's affair, whose tickets they hold.
///
/// A value; times are real monotonic milliseconds.
package struct JoinQueue {
    /// Bytes of answers that a subscriber may get at once…
    package static let share = 32 << 20
    /// …and for each second that passes.
    package static let sharePerSecond = 256 << 10
    /// Subscribers that are known; beyond it, those that may have their whole share again are forgotten.
    private static let maximumIdle = 4_096

    private struct Subscriber {
        var waiting: ArraySlice<JoinTopic> = []
        /// Bytes that it may still get. The last answer may have more.
        var left = JoinQueue.share
        /// When that was so.
        var at: Milliseconds

        init(at now: Milliseconds) { at = now }

        func left(at now: Milliseconds) -> Int {
            let milliseconds = Int(max(0, min(now - at, 1_000_000)))
            return min(JoinQueue.share, left + milliseconds * JoinQueue.sharePerSecond / 1_000)
        }

        /// When its next join may be answered.
        var readyAt: Milliseconds {
            left > 0 ? at : at + Milliseconds(-left * 1_000 / JoinQueue.sharePerSecond + 1)
        }
    }

    private var subscribers: [Peer: Subscriber] = [:]
    /// Those of them whose joins wait, the one whose turn is next first.
    private var turns: ArraySlice<Peer> = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// A subscriber has asked.
    package mutating func append(_ join: JoinTopic, of peer: Peer, at now: Milliseconds) {
        if subscribers[peer] == nil, subscribers.count >= Self.maximumIdle { forgetIdle(at: now) }
        let isFirst = subscribers[peer]?.waiting.isEmpty ?? true
        subscribers[peer, default: Subscriber(at: now)].waiting.append(join)
        if isFirst { turns.append(peer) }
        count += 1
    }

    /// Takes out the join that is answered next; nil where none waits, or none whose subscriber has bytes left.
    package mutating func next(at now: Milliseconds) -> (join: JoinTopic, peer: Peer)? {
        for _ in 0..<turns.count {
            guard let peer = turns.popFirst(), let left = subscribers[peer]?.left(at: now) else { continue }
            guard left > 0 else {
                turns.append(peer)
                continue
            }
            subscribers[peer]?.left = left
            subscribers[peer]?.at = now
            guard let join = subscribers[peer]?.waiting.popFirst() else { continue }
            count -= 1
            if subscribers[peer]?.waiting.isEmpty == false { turns.append(peer) }
            return (join, peer)
        }
        return nil
    }

    /// A subscriber was given so many bytes.
    package mutating func gave(_ bytes: Int, to peer: Peer) {
        subscribers[peer]?.left -= bytes
    }

    /// When the next join may be answered; nil where none waits.
    package func nextReady() -> Milliseconds? {
        turns.lazy.compactMap { subscribers[$0]?.readyAt }.min()
    }

    /// A subscriber listens no longer for an answer: gives the join, where it waits.
    package mutating func withdraw(_ topic: [UInt8], of peer: Peer) -> JoinTopic? {
        guard let waiting = subscribers[peer]?.waiting, let index = waiting.firstIndex(where: { $0.topic == topic })
        else { return nil }
        count -= 1
        let join = subscribers[peer]?.waiting.remove(at: index)
        if waiting.count == 1 { turns.removeAll { $0 == peer } }
        return join
    }

    /// A subscriber is gone, and nobody waits for its answers.
    package mutating func forget(_ peer: Peer) {
        guard let subscriber = subscribers.removeValue(forKey: peer) else { return }
        count -= subscriber.waiting.count
        if !subscriber.waiting.isEmpty { turns.removeAll { $0 == peer } }
    }

    private mutating func forgetIdle(at now: Milliseconds) {
        subscribers = subscribers.filter { !$0.value.waiting.isEmpty || $0.value.left(at: now) < Self.share }
    }
}
