/// What a journal left behind, as recovery reads it: first the snapshot's facts and entities, then the batches that the
/// snapshot does not hold, then the answers that retries may still ask for.
///
/// Bytes are lent for the call. A visitor that throws ends the reading.
package protocol RecoverySource: AnyObject {
    /// What is known before anything is read.
    var summary: RecoverySummary { get }

    /// The facts of the snapshot, in no order.
    func forEachFact(_ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws

    /// The entities of the snapshot in the order of their slots.
    func forEachEntity(_ visit: (RecoveredEntity) throws -> Void) throws

    /// The batches after that one, in their order: for each ``RecoveryVisitor/begin(_:)``, its facts, then its events.
    func forEachBatch(after number: UInt64, _ visitor: any RecoveryVisitor) throws

    /// The answers of batches in [since, through], oldest first, with the batch's number and domain time (milliseconds).
    /// `since` is a domain time; batches before it are left out.
    func forEachAnswer(since: Int64, _ visit: (_ batch: UInt64, _ at: Int64, _ answer: Span<UInt8>) throws -> Void)
        throws
}

/// What is known of a journal before it is read.
package struct RecoverySummary: Sendable, Equatable {
    /// Whether it was made just now, so that there is nothing to recover.
    package var isNew = false
    /// The epoch of its streams: opaque, at most 36 bytes.
    package var epoch = ""
    /// The batch up to which the snapshot holds everything; 0: nothing.
    package var snapshotHoldsThrough: UInt64 = 0
    /// The batch before the first one that is kept; 0: all are kept.
    package var keptAfter: UInt64 = 0
    /// The last committed batch; 0: none.
    package var lastBatch: UInt64 = 0
    /// The latest domain time that was persisted, in milliseconds since 1970; 0: none.
    package var clock: Int64 = 0
    /// Whether the last owner said goodbye.
    package var wasClosed = false
    /// Whether commits may have been lost that were not promised to survive (`sync=normal` and a machine that was
    /// rebooted): the epoch is a new one then.
    package var mayHaveLostCommits = false
    /// The batches that were acknowledged and are not there; nil: none is missing.
    package var lostBatches: ClosedRange<UInt64>?
    /// Whether the snapshot may show such commits: then and after every kill, until a round of the snapshot has ended.
    /// Its owner has to write with that round whatever is not as the journal says.
    package var snapshotMayBeAhead = false

    package init() {}
}

/// One entity of the snapshot, with the fields of ``StateChunk/Entity``.
///
/// Unsafe pointer: the bytes are the source's and are lent for the call that gives the value; nobody keeps it.
@safe
package struct RecoveredEntity {
    /// Where each part stands in the bytes.
    package struct Parts: Sendable {
        package var id: Range<Int>
        package var app: Range<Int>
        package var kind: Range<Int>
        package var key: Range<Int>
        package var device: Range<Int>
        package var attributes: Range<Int>
        package var content: Range<Int>
        package var image: Range<Int>

        package init(
            id: Range<Int>, app: Range<Int>, kind: Range<Int>, key: Range<Int>, device: Range<Int>,
            attributes: Range<Int>, content: Range<Int>, image: Range<Int>
        ) {
            (self.id, self.app, self.kind, self.key, self.device) = (id, app, kind, key, device)
            (self.attributes, self.content, self.image) = (attributes, content, image)
        }
    }

    package var slot: UInt64
    package var revision: UInt64
    package var seq: UInt64
    /// All parts, and perhaps others' before and behind.
    package var bytes: UnsafeRawBufferPointer
    package var parts: Parts

    package init(slot: UInt64, revision: UInt64, seq: UInt64, bytes: UnsafeRawBufferPointer, parts: Parts) {
        self.slot = slot
        self.revision = revision
        self.seq = seq
        unsafe self.bytes = bytes
        self.parts = parts
    }

    /// A copy of one part; for cold paths.
    package func copy(_ part: Range<Int>) -> [UInt8] { unsafe [UInt8](bytes[part]) }
}

/// What is told of each batch.
package protocol RecoveryVisitor: AnyObject {
    /// A batch begins. `at`: domain time in milliseconds.
    func begin(batch number: UInt64, at: Int64) throws
    /// A note of it.
    func fact(_ content: Span<UInt8>) throws
    /// An event of it, in the order in which they happened within an app.
    func event(
        app: Span<UInt8>, seq: UInt64, previous: UInt64, topic: Span<UInt8>, json: Span<UInt8>, image: Span<UInt8>)
        throws
    /// The state of an app's stream at the end of a batch in which it had events.
    func endStream(app: Span<UInt8>, seq: UInt64, entities: Int, digest: UInt64) throws
}
