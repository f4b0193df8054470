/// A snapshot as of one moment.
///
/// The rows of a snapshot are of different moments between its beginning and its end. The events between the two, by a
/// replay, bring all of them to its end. A pure value.
package struct SnapshotCut: Sendable {
    /// A listed entity.
    package struct Row: Sendable, Hashable {
        /// As a snapshot has it: `{"activity":{…}}`.
        package var bytes: [UInt8]
        package var revision: UInt64

        package init(bytes: [UInt8], revision: UInt64) {
            self.bytes = bytes
            self.revision = revision
        }
    }

    /// By topic.
    package private(set) var rows: [String: Row] = [:]
    /// The contract's digest over the rows.
    package private(set) var digest: UInt64 = 0
    /// How many rows there are.
    package private(set) var count = 0
    /// Its moment.
    package let position: StreamPosition
    /// How far whoever has its rows knows the stream: to its moment, or to an earlier one that they were brought back
    /// to.
    package var knownTo: UInt64
    /// No row is older than this.
    package let fromSeq: UInt64
    private let prefix: String?
    /// How many there are at its end, and their digest, as the service says; nil of a part of an app.
    private let proof: (entities: Int?, digest: UInt64?)?

    /// - Parameters:
    ///   - chunks: of the snapshot, all of them.
    ///   - prefix: what topics begin with; nil for all of the app.
    package init(_ chunks: [BulkChunk], app: String, prefix: String?) throws(IsletError) {
        guard case .complete(let end, let entities, let digest)? = chunks.last?.end, let epoch = chunks.first?.epoch,
            chunks.allSatisfy({ $0.epoch == epoch })
        else { throw .unreadable("a snapshot of \(app) without its end") }
        fromSeq = min(chunks.first?.fromSeq ?? end, end)
        position = StreamPosition(epoch: epoch, seq: end)
        knownTo = end
        proof = prefix == nil ? (entities, digest) : nil
        self.prefix = prefix
        for row in chunks.lazy.flatMap(\.rows) {
            guard let entity = Entity(topic: row.topic, row: row.bytes) else {
                throw .unreadable("a snapshot of \(app) with a row that is none")
            }
            set(row.topic, Row(bytes: row.bytes, revision: entity.revision))
        }
    }

    /// Gives back the room of the rows, once they are written.
    package mutating func forgetRows() {
        rows = [:]
    }

    /// Whether all rows are of its moment already.
    package var isExact: Bool { fromSeq == position.seq && isProven }

    /// Whether the rows are what the service says that there is.
    private var isProven: Bool {
        guard let proof else { return true }
        return (proof.entities ?? rows.count) == rows.count && (proof.digest ?? digest) == digest
    }

    /// Brings the rows to its moment.
    ///
    /// - Parameter chunks: of a replay from where the snapshot began.
    /// - Returns: false where that leads nowhere, so that another snapshot is needed.
    package mutating func take(_ chunks: [BulkChunk]) throws(IsletError) -> Bool {
        var seq = fromSeq
        for chunk in chunks {
            guard chunk.epoch == position.epoch else { return false }
            for row in chunk.rows where seq < position.seq {
                guard let event = StreamEvent(topic: row.topic, bytes: row.bytes) else {
                    throw .unreadable("a replay with a row that is no event")
                }
                guard event.seq > seq else { continue }
                guard event.seq == seq + 1, take(event) else { return false }
                seq = event.seq
            }
        }
        return seq == position.seq && isProven
    }

    /// Takes an event in, unless its row has it already; false where that is not possible.
    private mutating func take(_ event: StreamEvent) -> Bool {
        guard prefix.map(event.topic.hasPrefix) ?? true, let revision = event.revision else { return true }
        let held = rows[event.topic]
        // What has no row and does not begin is gone at the end, or begins again before it.
        guard held.map({ revision > $0.revision }) ?? event.isStart else { return true }
        guard event.leavesListed else {
            set(event.topic, nil)
            return true
        }
        var members = event.patch
        if !event.isStart {
            guard let held, revision == held.revision + 1,
                let entity = Entity(topic: event.topic, row: held.bytes)
            else { return false }
            members = entity.members
            members.merge(event.patch)
        }
        let family = String(event.name.prefix { $0 != "." })
        set(event.topic, Row(bytes: RawJSON.object([.init(family, members.json)]).bytes, revision: revision))
        return true
    }

    /// Puts a row in the place of another one, or takes it out, for another moment than the snapshot's.
    package mutating func replace(_ topic: String, by row: Row?) {
        set(topic, row)
    }

    private mutating func set(_ topic: String, _ row: Row?) {
        if let old = rows[topic] { digest ^= Entity.digest(of: topic, revision: old.revision) }
        if let row { digest ^= Entity.digest(of: topic, revision: row.revision) }
        rows[topic] = row
        count = rows.count
    }
}
