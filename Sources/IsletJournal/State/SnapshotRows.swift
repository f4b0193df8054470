/// Reads the snapshot's rows, and makes sure that they are as they were written.
struct SnapshotRows {
    let database: Database
    let path: String

    func forEachEntity(_ visit: (SnapshotRow) throws -> Void) throws {
        let rows = try database.prepare(
            """
            SELECT slot, revision, seq, next_at, id, app, kind, key, device, state, next_cause, attributes, content,
                image, sum
            FROM entity ORDER BY slot
            """)
        while try rows.step() {
            // Each column once: asking for them is most of the work. They are lent: the statement stays on its row
            // during the call.
            let (slot, revision, seq) = (rows.unsigned(0), rows.unsigned(1), rows.unsigned(2))
            let (id, app, kind, key) = unsafe (rows.bytes(4), rows.bytes(5), rows.bytes(6), rows.bytes(7))
            let (device, state, cause) = unsafe (rows.bytes(8), rows.bytes(9), rows.bytes(10))
            let (attributes, content, image) = unsafe (rows.bytes(11), rows.bytes(12), rows.bytes(13))
            var sum = RowChecksum()
            sum.add(slot)
            sum.add(revision)
            sum.add(seq)
            sum.add(rows.integer(3))
            unsafe sum.add(id)
            unsafe sum.add(app)
            unsafe sum.add(kind)
            unsafe sum.add(key)
            unsafe sum.add(device)
            unsafe sum.add(state)
            unsafe sum.add(cause)
            unsafe sum.add(attributes)
            unsafe sum.add(content)
            unsafe sum.add(image)
            guard sum.value == rows.unsigned(14) else { throw damaged("entity \(slot)") }
            try visit(
                unsafe SnapshotRow(
                    slot: slot, revision: revision, seq: seq, id: id, app: app, kind: kind, key: key, device: device,
                    attributes: attributes, content: content, image: image))
        }
    }

    func forEachFact(_ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws {
        let rows = try database.prepare("SELECT key, value, sum FROM fact")
        while try rows.step() {
            var sum = RowChecksum()
            for column: Int32 in 0...1 { unsafe sum.add(rows.bytes(column)) }
            guard sum.value == rows.unsigned(2) else { throw damaged("a fact") }
            try rows.withSpans(0, 1) { try visit($0, $1) }
        }
    }

    private func damaged(_ row: String) -> StoreError {
        .damaged(file: path, reason: "\(row) is not as it was written")
    }
}

/// One entity as the database has it.
///
/// Unsafe pointers: the bytes are the database's and are lent for the call that gives the value; nobody keeps it.
@safe
struct SnapshotRow {
    let slot: UInt64
    let revision: UInt64
    let seq: UInt64
    let id: UnsafeRawBufferPointer
    let app: UnsafeRawBufferPointer
    let kind: UnsafeRawBufferPointer
    let key: UnsafeRawBufferPointer
    let device: UnsafeRawBufferPointer
    let attributes: UnsafeRawBufferPointer
    let content: UnsafeRawBufferPointer
    let image: UnsafeRawBufferPointer
}
