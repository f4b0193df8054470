/// Rows of the snapshot, copied one behind another, on their way from one thread to another.
///
/// `@unchecked Sendable`: one thread at a time has it; it is handed over through a monitor.
final class EntityPack: @unchecked Sendable {
    private struct Row {
        var slot: UInt64
        var revision: UInt64
        var seq: UInt64
        var parts: RecoveredEntity.Parts
    }

    /// It is full with about as many bytes: those of a few hundred activities, which a core's cache holds.
    private static let fullBytes = 256 << 10

    private var rows: [Row] = []
    private let bytes = ByteBuffer()

    var isFull: Bool { bytes.count + rows.count * MemoryLayout<Row>.stride >= Self.fullBytes }

    func append(_ row: SnapshotRow) {
        rows.append(
            unsafe Row(
                slot: row.slot, revision: row.revision, seq: row.seq,
                parts: RecoveredEntity.Parts(
                    id: add(row.id), app: add(row.app), kind: add(row.kind), key: add(row.key),
                    device: add(row.device), attributes: add(row.attributes), content: add(row.content),
                    image: add(row.image))))
    }

    @unsafe @inline(__always)
    private func add(_ part: UnsafeRawBufferPointer) -> Range<Int> {
        let start = bytes.count
        unsafe bytes.append(part)
        return start..<bytes.count
    }

    /// Empties it, keeping its buffers.
    func removeAll() {
        rows.removeAll(keepingCapacity: true)
        bytes.removeAll()
    }

    func forEach(_ visit: (RecoveredEntity) throws -> Void) rethrows {
        for row in rows {
            // The buffer stands still until the pack is emptied.
            try visit(
                unsafe RecoveredEntity(
                    slot: row.slot, revision: row.revision, seq: row.seq, bytes: bytes.bytes, parts: row.parts))
        }
    }
}
