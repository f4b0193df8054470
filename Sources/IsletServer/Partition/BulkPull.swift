import IsletCore
import IsletJournal

/// One snapshot or replay that a client pulls with credit.
final class BulkPull {
    /// Rows and bytes of one chunk.
    static let maximumRows = 256
    static let maximumBytes = 256 << 10
    static let maximumCredit = 16
    /// Pulls of one peer, and of all (``WaitingWork/pulls``).
    static let maximumPerPeer = 4
    static let maximumPulls = 16
    /// Real milliseconds without credit after which a pull ends.
    static let patience: Milliseconds = 30_000
    /// After so many it gives way where a new one finds no place: its client may be gone, which nothing tells.
    static let patienceOfOthers: Milliseconds = 2_000
    /// When a client whose pull has ended so may ask again, in milliseconds.
    static let askAgain: Milliseconds = 1_000
    /// When one may for which there was no place, while all others have credit: they are through within some turns.
    static let askAgainSoon: Milliseconds = 100

    enum Source {
        /// The listed entities from a place on, activities first; its upper 32 bits are the family. `digest` is the number of the scan over the prefix, once there is one.
        case snapshot(prefix: [UInt8]?, next: EntityPlace, digest: Int?)
        /// The stored events after a sequence number.
        case replay(after: UInt64)
    }

    let peer: Peer
    /// Routing id and envelope.
    let route: [[UInt8]]
    /// The client's name for it.
    let req: [UInt8]
    let app: [UInt8]
    /// Its place in the ledger, and that of the digest at its end.
    var ticket: WorkLedger.Ticket?
    var digestTicket: WorkLedger.Ticket?
    var source: Source
    var credit: Int
    /// The app's sequence number when it began.
    var fromSeq: UInt64 = 0
    /// The number of the read from the journal's files that is under way, and what it found.
    var read: UInt64?
    /// Whether it waits for one of the reads that are under way to end, so that its own may begin.
    var waitsForReader = false
    /// Whether its rows are through, and it waits for one of the digests that are computed to end, so that its own may begin.
    var waitsForDigest = false
    /// Whether what follows is not committed yet, and memory has given it up.
    var waitsForCommit = false
    var stored: JournalReadResult.Outcome?
    /// The number of chunks that were sent.
    var chunk = 0
    /// When its client last gave credit, in monotonic milliseconds.
    var lastCreditAt: Milliseconds

    /// What it keeps of its command.
    var bytes: Int {
        guard case .snapshot(let prefix?, _, _) = source else { return req.count + app.count }
        return req.count + app.count + prefix.count
    }

    init(
        peer: Peer, route: [[UInt8]], req: [UInt8], app: [UInt8], source: Source, credit: Int, at now: Milliseconds
    ) {
        self.peer = peer
        self.route = route
        self.req = req
        self.app = app
        self.source = source
        self.credit = credit
        lastCreditAt = now
    }
}
