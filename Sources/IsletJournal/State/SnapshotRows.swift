/// Reads the snapshot's rows, and makes sure that they are as they were written.
struct SnapshotRows {
    let database: Database
    let path: String

    func forEachEntity(_ visit: (RecoveredEntity) throws -> Void) throws {
        let rows = try database.prepare(
            """
            SELECT slot, revision, seq, next_at, id, app, kind, key, device, state, next_cause, attributes, content, image, sum
            FROM entity ORDER BY slot
            """)
        while try rows.step() {
            var sum = RowChecksum()
            for column: Int32 in 0...3 { sum.add(rows.unsigned(column)) }
            for column: Int32 in 4...13 { unsafe sum.add(rows.bytes(column)) }
            guard sum.value == rows.unsigned(14) else { throw damaged("entity \(rows.unsigned(0))") }
            // Lent: the statement stays on its row during the call.
            try visit(
                unsafe RecoveredEntity(
                    slot: rows.unsigned(0), revision: rows.unsigned(1), seq: rows.unsigned(2), id: rows.bytes(4),
                    app: rows.bytes(5), kind: rows.bytes(6), key: rows.bytes(7), device: rows.bytes(8),
                    attributes: rows.bytes(11), content: rows.bytes(12), image: rows.bytes(13)))
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
