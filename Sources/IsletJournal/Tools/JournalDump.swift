/// A stored row: events of one app in one batch, all or one piece of them, or a batch without events.
package struct DumpedRow: Sendable, Equatable {
    package var batch: UInt64
    /// Domain time in milliseconds since 1970.
    package var at: Int64
    /// nil: the batch has no event.
    package var app: [UInt8]?
    package var events: [StoredEvent]
    /// How many notes for recovery and answers the batch has; 0 but in its first row.
    package var facts: Int
    package var answers: Int
}

extension Store {
    /// Calls `visit` with every stored row from a batch on, oldest first; also while a service uses the folder, but
    /// then in another process.
    package static func dump(
        directory: String, from first: UInt64 = 1, _ visit: (DumpedRow) throws -> Void
    ) throws {
        let names = FolderNames(directory: directory)
        // Beyond the last number that a batch can have there is none, and it is no row's id.
        let first = min(first, SegmentReader.maximumBatch)
        for number in try existingContents(names).segments {
            let path = names.segment(number)
            // Once there is a row, all files of the segment are open, and it can be read on whatever becomes of them.
            var hasRows = false
            do {
                let reader = try SegmentReader(path: path, number: number)
                let rows = try reader.rows(from: first, through: SegmentReader.maximumBatch)
                while try rows.step() {
                    hasRows = true
                    try visit(try dumped(rows, path))
                }
            } catch is SQLiteError where !hasRows && !FileSystem.exists(path) {
                // It was trimmed just now, perhaps between the openings of two of its files, which fails in many ways.
                continue
            } catch let error as SQLiteError {
                throw StoreError(error, file: path)
            }
        }
    }

    private static func dumped(_ rows: Statement, _ path: String) throws -> DumpedRow {
        var row = DumpedRow(
            batch: rows.unsigned(1), at: rows.integer(5), app: rows.isNull(2) ? nil : rows.array(2), events: [],
            facts: 0,
            answers: 0)
        do {
            try rows.withSpan(8) { try PackedRow.forEachNote($0) { _ in row.facts += 1 } }
            try rows.withSpan(9) { try PackedRow.forEachNote($0) { _ in row.answers += 1 } }
            guard row.app != nil else { return row }
            let range = SeqRange(first: rows.unsigned(3), last: rows.unsigned(4))
            var collection = EventCollection(rows: .max, bytes: .max)
            let count = try range.count()
            try rows.withSpans(10, 11) { body, recovery in
                try PackedRow.forEachEvent(body: body, recovery: recovery, count: count) { event in
                    collection.append(range.first + UInt64(event.index), event, body, recovery)
                }
            }
            row.events = collection.events
            return row
        } catch let error as PackingError {
            throw StoreError.damaged(file: path, reason: "batch \(row.batch): \(error)")
        }
    }
}
