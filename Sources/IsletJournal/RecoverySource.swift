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
    /// The last committed batch; 0: none.
    package var lastBatch: UInt64 = 0
    /// The latest domain time that was persisted, in milliseconds since 1970; 0: none.
    package var clock: Int64 = 0
    /// Whether the last owner said goodbye.
    package var wasClosed = false
    /// Whether commits may have been lost that were not promised to survive (`sync=normal` and a machine that was
    /// rebooted): the epoch is a new one then.
    package var mayHaveLostCommits = false
    /// Whether the snapshot may show such commits: then and after every kill, until a round of the snapshot has ended.
    /// Its owner has to write with that round whatever is not as the journal says.
    package var snapshotMayBeAhead = false

    package init() {}
}

/// One entity of the snapshot, with the fields of ``StateChunk/Entity``.
///
/// Unsafe pointers: the bytes are the database's and are lent for the call that gives the value; nobody keeps it.
@safe
package struct RecoveredEntity {
    package var slot: UInt64
    package var revision: UInt64
    package var seq: UInt64
    package var id: UnsafeRawBufferPointer
    package var app: UnsafeRawBufferPointer
    package var kind: UnsafeRawBufferPointer
    package var key: UnsafeRawBufferPointer
    package var device: UnsafeRawBufferPointer
    package var attributes: UnsafeRawBufferPointer
    package var content: UnsafeRawBufferPointer
    package var image: UnsafeRawBufferPointer

    package init(
        slot: UInt64, revision: UInt64, seq: UInt64, id: UnsafeRawBufferPointer, app: UnsafeRawBufferPointer,
        kind: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, device: UnsafeRawBufferPointer,
        attributes: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer, image: UnsafeRawBufferPointer
    ) {
        self.slot = slot
        self.revision = revision
        self.seq = seq
        unsafe self.id = id
        unsafe self.app = app
        unsafe self.kind = kind
        unsafe self.key = key
        unsafe self.device = device
        unsafe self.attributes = attributes
        unsafe self.content = content
        unsafe self.image = image
    }
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
