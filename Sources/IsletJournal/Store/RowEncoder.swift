/// Puts the columns of a batch's rows together, in buffers that are used again.
///
/// `recovery`: the number of events, then for each the lengths of its JSON, topic and image (4 bytes each), the
/// sequence number of the entity's event before (8), the topic, the image. `facts` and `answers`: their number, then
/// each with its length before it. All integers with the lowest byte first.
final class RowEncoder {
    let app = ByteBuffer(capacity: 256)
    let body = ByteBuffer(capacity: 80 << 10)
    let recovery = ByteBuffer(capacity: 32 << 10)
    let facts = ByteBuffer()
    let answers = ByteBuffer(capacity: 64 << 10)
    /// Buffers that have grown beyond this give their memory back with ``removeAll()``, where a batch needed little of it.
    private static let keptBytes = 1 << 20
    /// A row ends with the event that makes its JSON as long as this: who wants one event reads its row, and what is put
    /// together, recorded and split into pages stays near (a history of 20 events that the system's memory has not: 35 ms from
    /// rows of 512 KiB, 16 ms from these; the committer's time an update 4 % less).
    private static let pieceBytes = 64 << 10

    /// Empties everything.
    func removeAll() {
        app.removeAll()
        for buffer in [body, recovery, facts, answers] { buffer.removeAll(keeping: Self.keptBytes) }
    }

    /// Fills ``facts`` and ``answers``.
    func encodeNotes(of batch: JournalBatch) {
        Self.encode(batch.facts, of: batch, into: facts)
        Self.encode(batch.answers, of: batch, into: answers)
    }

    /// Events of one app that become one row of the table.
    struct Piece {
        let firstSeq: UInt64
        fileprivate(set) var lastSeq: UInt64
        /// Where the app's events of the batch go on.
        fileprivate(set) var next: Int?
    }

    /// Fills ``app``, ``body`` and ``recovery`` with as many of an app's events as one row of the table has.
    ///
    /// - Parameter start: where the piece before ended; nil: with the first.
    func encode(row: Int, of batch: JournalBatch, from start: Int?) -> Piece {
        app.removeAll()
        batch.withBytes(of: batch.rows[row].name) { app.append($0) }
        body.removeAll()
        recovery.removeAll()
        recovery.append(0 as UInt32)
        var count: UInt32 = 0
        var piece: Piece?
        let next = batch.forEachEvent(ofRow: row, from: start) { event in
            body.append(count == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
            batch.withBytes(of: event.json) { body.append($0) }
            recovery.append(UInt32(event.json.count))
            recovery.append(UInt32(event.topic.count))
            recovery.append(UInt32(event.image.count))
            recovery.append(event.previous)
            batch.withBytes(of: event.topic) { recovery.append($0) }
            batch.withBytes(of: event.image) { recovery.append($0) }
            count += 1
            piece = Piece(firstSeq: piece?.firstSeq ?? event.seq, lastSeq: event.seq)
            return body.count < Self.pieceBytes
        }
        body.append(UInt8(ascii: "]"))
        recovery.replace(at: 0, by: count)
        guard var piece else { preconditionFailure("an app without events") }
        piece.next = next
        return piece
    }

    private static func encode(_ slices: [JournalBatch.Slice], of batch: JournalBatch, into buffer: ByteBuffer) {
        buffer.removeAll()
        guard !slices.isEmpty else { return }
        buffer.append(UInt32(slices.count))
        for slice in slices {
            buffer.append(UInt32(slice.count))
            batch.withBytes(of: slice) { buffer.append($0) }
        }
    }
}
