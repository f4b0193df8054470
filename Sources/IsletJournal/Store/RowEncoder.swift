/// Puts the columns of a batch's rows together, in buffers that are used again.
///
/// `recovery`: the number of events, then for each the lengths of its JSON, topic and image (4 bytes each), the
/// sequence number of the entity's event before (8), the topic, the image. `facts` and `answers`: their number, then
/// each with its length before it. All integers with the lowest byte first.
final class RowEncoder {
    let app = ByteBuffer(capacity: 256)
    let body = ByteBuffer(capacity: 256 << 10)
    let recovery = ByteBuffer(capacity: 256 << 10)
    let facts = ByteBuffer()
    let answers = ByteBuffer(capacity: 64 << 10)
    /// Buffers that have grown beyond this give their memory back with ``removeAll()``, where a batch needed little of it.
    private static let keptBytes = 1 << 20

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

    /// Fills ``app``, ``body`` and ``recovery``.
    func encode(row: Int, of batch: JournalBatch) {
        app.removeAll()
        batch.withBytes(of: batch.rows[row].name) { app.append($0) }
        body.removeAll()
        recovery.removeAll()
        recovery.append(UInt32(batch.rows[row].lastSeq - batch.rows[row].firstSeq + 1))
        var separator = UInt8(ascii: "[")
        batch.forEachEvent(ofRow: row) { event in
            body.append(separator)
            separator = UInt8(ascii: ",")
            batch.withBytes(of: event.json) { body.append($0) }
            recovery.append(UInt32(event.json.count))
            recovery.append(UInt32(event.topic.count))
            recovery.append(UInt32(event.image.count))
            recovery.append(event.previous)
            batch.withBytes(of: event.topic) { recovery.append($0) }
            batch.withBytes(of: event.image) { recovery.append($0) }
        }
        body.append(UInt8(ascii: "]"))
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
