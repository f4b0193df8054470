/// The copy of one stream: the events of one app, and where wanted the listed entities that they lead to.
///
/// A pure value: it is told what came in, and answers with what is to be done. It never loses an event in silence: a
/// gap is repaired by a replay, and where that is impossible the reader is told everything anew.
///
///                      ┌──────────────────── epoch changed ─────────────────────┐
///                      ▼                                                        │
///     ┌─────────┐  answer, entities wanted   ┌──────────────┐                   │
///     │ joining │ ─────────────────────────► │ snapshotting │ ◄─ digest differs, too old ─┐
///     └─────────┘                            └──────────────┘                   │         │
///          │ answer, events alone                   │ end                       │         │
///          ▼                                        ▼            gap     ┌───────────┐    │
///     ┌───────────┐ ◄───────────────────────────────┘ ┌────────────────► │ repairing │ ───┤
///     │ following │ ──────────────────────────────────┘                  └───────────┘    │
///     └───────────┘ ◄──────────────── replay ended ────────────────────────────┘          │
///          │  ▲ ──────────────────────────────────────────────────────────────────────────┘
///     full │  │ resume (repairs what came meanwhile)
///          ▼  │
///     ┌────────┐
///     │ paused │
///     └────────┘
///
/// - *joining*: the position is not known, or is of another epoch; events wait. Next: following, snapshotting.
/// - *snapshotting*: rows are collected, events wait. Next: following, joining.
/// - *following*: each event is the next one, or a gap. Next: repairing, snapshotting, paused, joining.
/// - *repairing*: replayed events are taken in, new ones wait. Next: following, snapshotting, paused, joining.
/// - *paused*: the reader is behind; events are dropped here, since a replay brings them again. Next: repairing,
///   snapshotting, joining.
///
/// A pause outlives every other change: whoever is behind is told nothing more than the end of a snapshot that was under
/// way, whatever happens to the stream meanwhile.
///
/// A filtered one cannot see a gap by numbers. So where its subscription may have missed something, above all with its
/// connection, it is *joining* until a join was answered after that, and then replays from where it stood.
///
/// A snapshot is fuzzy: its rows are from different moments between `fromSeq` A and its end B. An event up to A is in
/// the rows; one up to B is if the row's revision says so; at B the digest proves that all is there.
package struct StreamReplica: Sendable {
    package enum State: Sendable, Hashable {
        case joining, snapshotting, following, repairing, paused
    }

    /// What the reader wants.
    package enum Interest: Sendable, Hashable {
        /// All events, no entities.
        case events
        /// All events and all entities.
        case wholeApp
        /// Only what stands under topics of this prefix: other events are not even sent, so that a gap shows by
        /// revision and digest, not by sequence number.
        case filtered(prefix: String)
    }

    package let app: String
    package let interest: Interest
    package internal(set) var state = State.joining
    /// Nil until an event, or the service, has named one.
    package internal(set) var epoch: String?
    /// Where it begins, if that is before the first position that it is told.
    let start: UInt64?
    /// Every event up to this one was taken in.
    package internal(set) var seq: UInt64 = 0
    package internal(set) var entities = EntityTable()
    var waiting = EventBuffer()
    /// Whether the reader was told where it begins.
    var isSynced = false
    /// An event that is known to exist: where a pull has ended, this much must be there.
    var head: UInt64 = 0
    /// Why the reader must be told everything before anything else; nil: it need not.
    var need: SyncedState.Reason? = .joined
    /// Whether the reader is behind.
    var isPaused = false
    /// Filtered only: whether what comes may have a gap before it, until a join is answered.
    var isDoubted = false
    /// Whether a pull under way may have gone with the subscriptions' connection.
    var isReconnected = false
    /// `seq` when the join under way was asked for.
    var askedSeq: UInt64 = 0
    /// The snapshot under way, and how fuzzy the last one was.
    var snapshot = SnapshotProgress()
    /// How often the present pull has failed or proved wrong.
    var attempt = 0
    /// Filtered only: the position that was compared last.
    var checkedSeq: UInt64?
    /// Filtered only: what held since a digest was asked for; nil while none is.
    var trail: DigestTrail?
    /// Filtered only: whether a comparison should come before its usual time.
    package internal(set) var isCheckDue = false
    /// Filtered only: what the service says holds at a position that was not reached yet.
    var pendingDigest: Watermark?

    struct SnapshotProgress: Sendable {
        var rows: [Entity] = []
        /// A: events up to it are in the rows.
        var fromSeq: UInt64 = 0
        /// B: events up to it may be in the rows.
        var fuzzyUntil: UInt64 = 0
        /// Whether lost events make the snapshot's beginning the new position.
        var jumps = false
        /// Filtered only: whether events behind its beginning were dropped, which numbers do not show.
        var skips = false
        /// What holds at `fuzzyUntil`, until it was compared.
        var proof: Proof?

        struct Proof: Sendable, Hashable {
            var entities: Int?
            var digest: UInt64?
        }
    }

    /// A replica that waits for its first position.
    ///
    /// - Parameter start: for events alone: the event after which it begins; nil: with the join.
    package init(app: String, interest: Interest, startingAfter start: UInt64? = nil) {
        self.app = app
        self.interest = interest
        self.start = start
    }

    var keepsEntities: Bool { interest != .events }

    /// The prefix of a filtered one.
    var prefix: String? {
        guard case .filtered(let prefix) = interest else { return nil }
        return prefix
    }

    package var position: StreamPosition? {
        epoch.map { StreamPosition(epoch: $0, seq: seq) }
    }

    /// Whether this topic is of interest.
    func wants(_ topic: String) -> Bool {
        prefix.map(topic.hasPrefix) ?? true
    }
}
