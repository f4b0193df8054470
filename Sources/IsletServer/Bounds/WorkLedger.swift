/// Why something may not wait.
package enum WorkShortage: Error, Equatable {
    /// All peers together have as much as there may be.
    case inAll
    /// The peer has its share.
    case ofPeer
}

/// The one account of everything that waits or is remembered for peers: how much there is of each kind and what it
/// weighs, of each peer and in all.
///
/// Whoever keeps something takes a ``Ticket`` for it first, and gives it back when it is over. A peer that is gone gives
/// back everything at once that is not done without it; its tickets are worth nothing then, and to give them back does no
/// harm. Each call takes the same time however much waits. A change or a ping, which wait for nothing, never come here.
package struct WorkLedger {
    /// The right to keep one thing.
    package struct Ticket {
        package let work: WaitingWork
        package let peer: Peer
        package fileprivate(set) var bytes: Int
        /// It holds as long as this is the number of its kind in the peer's account.
        fileprivate let number: UInt64
    }

    /// How much there is of a kind.
    package struct Usage: Equatable, Sendable {
        package var count: Int
        package var bytes: Int

        package init(count: Int = 0, bytes: Int = 0) {
            self.count = count
            self.bytes = bytes
        }
    }

    private struct PeerAccount {
        /// How many tickets it has.
        var tickets = 0
        var usage = Array(repeating: Usage(), count: WaitingWork.allCases.count)
        /// By kind: what tickets of the kind are numbered with. Given back all at once, they get another.
        var numbers: [UInt64]

        init(number: UInt64) { numbers = Array(repeating: number, count: WaitingWork.allCases.count) }
    }

    private let limits: [WaitingWork.Limits]
    private var usage = Array(repeating: Usage(), count: WaitingWork.allCases.count)
    private var refusals = Array(repeating: UInt64(0), count: WaitingWork.allCases.count)
    private var peers: [Peer: PeerAccount] = [:]
    private var lastNumber: UInt64 = 0
    /// Peers whose connections nobody knows yet.
    private var unlocated: Set<Peer> = []

    /// - Parameter limits: of each kind.
    package init(limits: (WaitingWork) -> WaitingWork.Limits = \.limits) {
        self.limits = WaitingWork.allCases.map(limits)
    }

    /// What there is of a kind, of all peers.
    package func usage(of work: WaitingWork) -> Usage { usage[work.index] }

    /// What a peer has of a kind.
    package func usage(of work: WaitingWork, for peer: Peer) -> Usage { peers[peer]?.usage[work.index] ?? Usage() }

    /// How often something of a kind was refused.
    package func refusals(of work: WaitingWork) -> UInt64 { refusals[work.index] }

    /// All of it, for whoever runs the service.
    package var figures: [WorkFigures] {
        WaitingWork.allCases.map {
            WorkFigures(work: $0, usage: usage(of: $0), refusals: refusals(of: $0))
        }
    }

    /// How many peers have anything.
    package var peerCount: Int { peers.count }

    /// Why something more may not wait; nil where it may.
    package func shortage(of work: WaitingWork, for peer: Peer, bytes: Int) -> WorkShortage? {
        let (limits, inAll) = (limits[work.index], usage[work.index])
        let own = peers[peer]?.usage[work.index] ?? Usage()
        if own.count >= limits.countOfPeer || bytes > limits.bytesOfPeer - own.bytes { return .ofPeer }
        return inAll.count >= limits.count || bytes > limits.bytes - inAll.bytes ? .inAll : nil
    }

    /// Admits something within the limits.
    package mutating func admit(_ work: WaitingWork, for peer: Peer, bytes: Int) throws(WorkShortage) -> Ticket {
        if let shortage = shortage(of: work, for: peer, bytes: bytes) {
            refused(work)
            throw shortage
        }
        return enter(work, for: peer, bytes: bytes)
    }

    /// Notes that something was refused whose shortage was known.
    package mutating func refused(_ work: WaitingWork) { refusals[work.index] += 1 }

    /// Enters what cannot be refused any more, as its part was admitted or executed before: the answers of a message.
    package mutating func enter(_ work: WaitingWork, for peer: Peer, bytes: Int) -> Ticket {
        if peers[peer] == nil {
            lastNumber += 1
            peers[peer] = PeerAccount(number: lastNumber)
            unlocated.insert(peer)
        }
        let ticket = Ticket(
            work: work, peer: peer, bytes: bytes, number: peers[peer]?.numbers[work.index] ?? lastNumber)
        change(ticket, count: 1, bytes: bytes)
        return ticket
    }

    /// What was admitted weighs something else now.
    package mutating func weigh(_ ticket: inout Ticket?, bytes: Int) {
        guard let held = ticket, isHeld(held) else { return }
        change(held, count: 0, bytes: bytes - held.bytes)
        ticket?.bytes = bytes
    }

    /// Gives back what was admitted.
    package mutating func giveBack(_ ticket: inout Ticket?) {
        guard let held = ticket.take(), isHeld(held) else { return }
        change(held, count: -1, bytes: -held.bytes)
        if peers[held.peer]?.tickets == 0 { forget(held.peer) }
    }

    /// A peer is gone, and gives back everything but what is done without it.
    ///
    /// - Returns: the kinds of which it gave something back, which is to be cancelled.
    package mutating func peerIsGone(_ peer: Peer) -> Set<WaitingWork> {
        guard var account = peers[peer] else { return [] }
        var had: Set<WaitingWork> = []
        lastNumber += 1
        for work in WaitingWork.allCases where account.usage[work.index].count > 0 && !work.outlivesPeer {
            let given = account.usage[work.index]
            usage[work.index].count -= given.count
            usage[work.index].bytes -= given.bytes
            account.tickets -= given.count
            account.usage[work.index] = Usage()
            account.numbers[work.index] = lastNumber
            had.insert(work)
        }
        peers[peer] = account
        if account.tickets == 0 { forget(peer) }
        return had
    }

    /// Whether the connection of a peer that has something is not known.
    package var hasUnlocated: Bool { !unlocated.isEmpty }

    /// Whether a peer has something, and its connection is not known.
    package func isUnlocated(_ peer: Peer) -> Bool { unlocated.contains(peer) }

    /// The connection of a peer is known now: its end will be told with ``peerIsGone(_:)``.
    package mutating func located(_ peer: Peer) { unlocated.remove(peer) }

    private func isHeld(_ ticket: Ticket) -> Bool {
        peers[ticket.peer]?.numbers[ticket.work.index] == ticket.number
    }

    private mutating func forget(_ peer: Peer) {
        peers[peer] = nil
        unlocated.remove(peer)
    }

    private mutating func change(_ ticket: Ticket, count: Int, bytes: Int) {
        let index = ticket.work.index
        usage[index].count += count
        usage[index].bytes += bytes
        peers[ticket.peer]?.tickets += count
        peers[ticket.peer]?.usage[index].count += count
        peers[ticket.peer]?.usage[index].bytes += bytes
    }
}

extension WaitingWork {
    fileprivate var index: Int {
        switch self {
        case .reads: 0
        case .lists: 1
        case .histories: 2
        case .digests: 3
        case .questions: 4
        case .backups: 5
        case .answers: 6
        case .messages: 7
        case .pulls: 8
        case .joins: 9
        case .reports: 10
        }
    }
}
