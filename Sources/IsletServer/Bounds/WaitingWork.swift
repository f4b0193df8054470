package import IsletCore
import IsletJournal

/// What waits or is remembered for a peer, by kind.
///
/// All of it is counted and weighed in one ``WorkLedger``. The limits stand here and nowhere else; `docs/limits.md` shows
/// them to those who run the service, and a test compares the two.
package enum WaitingWork: String, CaseIterable, Sendable {
    /// Reads with `minSeq`.
    case reads
    /// Lists over many turns.
    case lists
    /// `history` and `explain` whose answer stands in files, each with what memory has of it.
    case histories
    /// Digests over a prefix, those at the end of a filtered snapshot among them.
    case digests
    /// Commands that a provider is asked for: options, snapshots, recommendations, values of controls.
    case questions
    /// `service.backup`, and those that ask for the same one again.
    case backups
    /// Messages some of whose answers are there and wait for the others. They weigh what their answers weigh.
    case answers
    /// Messages on a manual clock that travels, and what is left of those whose turn has done enough.
    case messages
    /// Snapshots and replays that are pulled.
    case pulls
    /// Joins that are to be answered.
    case joins
    /// What subscribers report of themselves.
    case reports

    /// How much of a kind there may be.
    package struct Limits: Equatable, Sendable {
        /// Of all peers together, and of one.
        package var count: Int
        package var countOfPeer: Int
        /// The same in bytes.
        package var bytes: Int
        package var bytesOfPeer: Int
        /// How long it waits at most, in milliseconds of real time; nil where its own work ends it.
        package var longest: Milliseconds?

        package init(count: Int, countOfPeer: Int, bytes: Int, bytesOfPeer: Int, longest: Milliseconds? = nil) {
            self.count = count
            self.countOfPeer = countOfPeer
            self.bytes = bytes
            self.bytesOfPeer = bytesOfPeer
            self.longest = longest
        }
    }

    package var limits: Limits {
        switch self {
        case .reads: Self.limits((1_024, 256), (16 << 20, 4 << 20), longest: Partition.longestMinSeqWait)
        case .lists: Self.limits((256, 64), (256 << 20, 64 << 20))
        case .histories: Self.limits((1_024, 256), (32 << 20, 8 << 20))
        case .digests: Self.limits((Engine.maximumDigestScans, Engine.maximumDigestScans / 2), (64 << 10, 32 << 10))
        case .questions: Self.limits((1_024, 256), (16 << 20, 4 << 20), longest: Partition.longestQuestion)
        case .backups: Self.limits((64, 16), (64 << 10, 16 << 10))
        case .answers: Self.limits((4_096, 1_024), (128 << 20, 32 << 20))
        case .messages: Self.limits((1_024, 512), (128 << 20, 48 << 20))
        case .pulls:
            Self.limits((BulkPull.maximumPulls, BulkPull.maximumPerPeer), (64 << 10, 16 << 10), longest: BulkPull.patience)
        case .joins: Self.limits((65_536, 1_024), (16 << 20, 256 << 10))
        case .reports: Self.limits((10_000, 2_000), (32 << 20, 8 << 20), longest: SubscriberTable.longestSilence)
        }
    }

    /// Whether it is done though its peer is gone: commands were sent, and whoever sends need not stay.
    package var outlivesPeer: Bool { self == .messages }

    /// Whether a ``Job`` stands for it.
    var isJob: Bool {
        switch self {
        case .reads, .lists, .histories, .digests, .questions, .backups: true
        case .answers, .messages, .pulls, .joins, .reports: false
        }
    }

    private static func limits(
        _ count: (inAll: Int, ofPeer: Int), _ bytes: (inAll: Int, ofPeer: Int), longest: Milliseconds? = nil
    ) -> Limits {
        Limits(
            count: count.inAll, countOfPeer: count.ofPeer, bytes: bytes.inAll, bytesOfPeer: bytes.ofPeer,
            longest: longest)
    }
}
