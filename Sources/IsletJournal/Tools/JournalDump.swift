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

/// Batches that a dump should have had: they were trimmed while it read, or a file is gone or damaged.
package struct DumpGap: Sendable, Equatable {
    package var first: UInt64
    /// nil: all that there were behind it when the dump began, as far as they had been listed.
    package var last: UInt64?

    package init(first: UInt64, last: UInt64?) {
        self.first = first
        self.last = last
    }
}

extension Store {
    /// Calls `visit` with every stored row from a batch on, oldest first; also while a service uses the folder, but
    /// then in another process.
    ///
    /// - Returns: what is missing between the first row and the last one that was there when it began, in order.
    package static func dump(
        directory: String, from first: UInt64 = 1, _ visit: (DumpedRow) throws -> Void
    ) throws -> [DumpGap] {
        let names = FolderNames(directory: directory)
        // Beyond the last number that a batch can have there is none, and it is no row's id.
        let first = min(first, SegmentReader.maximumBatch)
        var gaps: [DumpGap] = []
        var last: UInt64?
        var isSegmentGone = false
        for number in try existingContents(names).segments {
            let path = names.segment(number)
            // Once there is a row, all files of the segment are open, and it can be read on whatever becomes of them.
            var hasRows = false
            do {
                let reader = try SegmentReader(path: path, number: number)
                let rows = try reader.rows(from: first, through: SegmentReader.maximumBatch)
                while try rows.step() {
                    hasRows = true
                    let row = try dumped(rows, path)
                    // Batches have numbers without a gap, and what was trimmed before the dump began has none to tell of.
                    if let last, row.batch > last + 1 { gaps.append(DumpGap(first: last + 1, last: row.batch - 1)) }
                    last = row.batch
                    isSegmentGone = false
                    try visit(row)
                }
            } catch is SQLiteError where !hasRows && !FileSystem.exists(path) {
                // It was trimmed just now, perhaps between the openings of two of its files, which fails in many ways.
                isSegmentGone = true
                continue
            } catch let error as SQLiteError {
                throw StoreError(error, file: path)
            }
        }
        if isSegmentGone, let last { gaps.append(DumpGap(first: last + 1, last: nil)) }
        return gaps
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
