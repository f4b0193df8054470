/// A piece of the snapshot: some entities as they stand, and some facts.
///
/// The snapshot is fuzzy. Its entities are written in the order of their slots and over many batches, so each says how
/// far its app's stream had come when it last changed, and recovery applies the journal's events from there on. A round
/// has gone through all slots that had changed when it began; after it the journal is not needed any more from before
/// that batch, other than for replays, histories and retries (``answersFrom``).
package struct StateChunk: Sendable {
    /// At most this many entities and facts are in one, and about as many bytes.
    package static let maximumRows = 16_384
    package static let maximumBytes = 8 << 20

    /// A run of the chunk's bytes.
    package struct Slice: Equatable, Sendable, BitwiseCopyable {
        fileprivate var offset: Int
        package fileprivate(set) var count: Int

        package static let empty = Slice(offset: 0, count: 0)
    }

    /// One entity. What is text here is there for people with `sqlite3`, but for the payloads: recovery takes the rest
    /// from the image.
    package struct Entity: Sendable {
        /// Where it lives; it comes back there. The family in the upper 32 bits.
        package var slot: UInt64
        package var id = Slice.empty
        package var app = Slice.empty
        /// An activity's type, a control's or widget's kind.
        package var kind = Slice.empty
        package var key = Slice.empty
        package var device = Slice.empty
        package var state = Slice.empty
        package var revision: UInt64 = 0
        /// The sequence number of its last event.
        package var seq: UInt64 = 0
        /// Its next deadline in milliseconds since 1970, where it has one, and what that is.
        package var nextAt: Int64?
        package var nextCause = Slice.empty
        /// Payloads: an activity's attributes and content state.
        package var attributes = Slice.empty
        package var content = Slice.empty
        package var image = Slice.empty

        package init(slot: UInt64) {
            self.slot = slot
        }
    }

    /// Something that is known under a key, whatever it is: the journal does not look into it.
    package struct Fact: Sendable {
        package let key: Slice
        /// nil: it is not known any more.
        package let value: Slice?
    }

    /// The end of a round: the batch up to which, and with which, the snapshot now holds everything.
    package var holdsThrough: UInt64?
    /// With ``holdsThrough``: the first batch with an answer that a retry may still ask for. What was forgotten of earlier
    /// ones left its traces in this round at the latest; 0: all are needed.
    package var answersFrom: UInt64 = 0
    /// Domain time when it was filled, in milliseconds since 1970.
    package var at: Int64 = 0
    package private(set) var entities: [Entity] = []
    /// Slots that are free now.
    package private(set) var freed: [UInt64] = []
    package private(set) var facts: [Fact] = []
    private var bytes: [UInt8] = []

    package init() {}

    /// Whether there is nothing to write.
    package var isEmpty: Bool { entities.isEmpty && freed.isEmpty && facts.isEmpty && holdsThrough == nil }

    /// Whether no more should be added.
    package var isFull: Bool {
        entities.count + freed.count + facts.count >= Self.maximumRows || bytes.count >= Self.maximumBytes
    }

    /// How many rows it writes.
    package var rowCount: Int { entities.count + freed.count + facts.count }

    /// Empties it, keeping its buffers.
    package mutating func reset() {
        holdsThrough = nil
        answersFrom = 0
        entities.removeAll(keepingCapacity: true)
        freed.removeAll(keepingCapacity: true)
        facts.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Keeps some bytes, for an entity that is being put together.
    package mutating func store(_ content: Span<UInt8>) -> Slice {
        let slice = Slice(offset: bytes.count, count: content.count)
        unsafe content.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        return slice
    }

    package mutating func append(_ entity: Entity) {
        entities.append(entity)
    }

    package mutating func free(_ slot: UInt64) {
        freed.append(slot)
    }

    /// - Parameter value: nil forgets it.
    package mutating func set(_ key: Span<UInt8>, to value: Span<UInt8>) {
        facts.append(Fact(key: store(key), value: store(value)))
    }

    package mutating func forget(_ key: Span<UInt8>) {
        facts.append(Fact(key: store(key), value: nil))
    }

    /// Calls `body` with some of its bytes, which it must not keep.
    @inline(__always)
    package func withBytes<Result: ~Copyable, Failure: Error>(
        of slice: Slice, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.span.extracting(slice.offset..<(slice.offset + slice.count)))
    }
}
