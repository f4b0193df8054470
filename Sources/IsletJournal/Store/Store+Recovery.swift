extension Store {
    package func forEachFact(_ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws {
        try reading(names.state) { try SnapshotRows(database: state.database, path: names.state).forEachFact(visit) }
    }

    package func forEachEntity(_ visit: (RecoveredEntity) throws -> Void) throws {
        openSegmentsAhead()
        try reading(names.state) { try EntitiesAhead.forEach(of: state, visit) }
    }

    /// Those that have batches behind the snapshot, or answers that are young enough to be asked for.
    private func openSegmentsAhead() {
        let since = max(summary.clock, options.answerRetention) - options.answerRetention
        let wanted = segments.segments.filter { segment in
            !segment.isEmpty && (segment.lastBatch > summary.snapshotHoldsThrough || segment.lastAt >= since)
        }
        // Without it recovery only takes longer.
        ahead = try? SegmentsAhead(wanted.map { ($0.number, names.segment($0.number)) })
    }

    package func forEachBatch(after number: UInt64, _ visitor: any RecoveryVisitor) throws {
        var walk = BatchWalk(last: number)
        for segment in segments.segments where !segment.isEmpty && segment.lastBatch > number {
            let path = names.segment(segment.number)
            try reading(path) {
                let reader = try SegmentReader(path: path, number: segment.number)
                try walk.visit(reader, visitor)
            }
            guard walk.last == segment.lastBatch else {
                throw StoreError.batchesMissing(file: path, expected: segment.lastBatch, found: walk.last)
            }
        }
    }

    package func forEachAnswer(
        since: Int64, _ visit: (_ batch: UInt64, _ at: Int64, _ answer: Span<UInt8>) throws -> Void
    ) throws {
        defer { ahead = nil }
        let known = segments.segments
        try reading(names.state) {
            // A segment may have been about to be trimmed, and then both have its answers.
            try KeptAnswers(state.database).forEach(before: known.first?.firstBatch ?? 1, since: since) {
                (number, at, column) in
                try PackedRow.forEachNote(column) { try visit(number, at, $0) }
            }
        }
        for segment in known where !segment.isEmpty && segment.lastAt >= since {
            let path = names.segment(segment.number)
            try reading(path) {
                let reader = try SegmentReader(path: path, number: segment.number)
                let rows = try reader.answers(since: since)
                while try rows.step() {
                    let (number, at) = (rows.unsigned(0), rows.integer(1))
                    try rows.withSpan(2) { column in
                        try PackedRow.forEachNote(column) { try visit(number, at, $0) }
                    }
                }
            }
        }
    }

    /// Says which file it was when reading fails; what a visitor throws goes through.
    private func reading(_ path: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SQLiteError {
            throw StoreError(error, file: path)
        } catch let error as PackingError {
            throw StoreError.damaged(file: path, reason: error.description)
        }
    }
}

/// Goes through the rows of segments and tells a visitor what they have.
struct BatchWalk {
    /// The last batch that was told.
    var last: UInt64

    mutating func visit(_ reader: SegmentReader, _ visitor: any RecoveryVisitor) throws {
        let rows = try reader.batches(from: last + 1)
        while try rows.step() {
            let number = rows.unsigned(0)
            if number != last {
                guard number == last + 1 else {
                    throw StoreError.batchesMissing(file: reader.path, expected: last + 1, found: number)
                }
                last = number
                try visitor.begin(batch: number, at: rows.integer(4))
                try rows.withSpan(7) { facts in try PackedRow.forEachNote(facts) { try visitor.fact($0) } }
            }
            if rows.isNull(1) { continue }
            do {
                try tellEvents(of: rows, visitor)
            } catch let error as PackingError {
                throw StoreError.damaged(file: reader.path, reason: "batch \(number): \(error)")
            }
        }
    }

    private func tellEvents(of rows: Statement, _ visitor: any RecoveryVisitor) throws {
        let range = SeqRange(first: rows.unsigned(2), last: rows.unsigned(3))
        let count = try range.count()
        try rows.withSpan(1) { app in
            try rows.withSpans(8, 9) { body, recovery in
                try PackedRow.forEachEvent(body: body, recovery: recovery, count: count) { event in
                    try visitor.event(
                        app: app, seq: range.first + UInt64(event.index), previous: event.previous,
                        topic: recovery.extracting(event.topic), json: body.extracting(event.json),
                        image: recovery.extracting(event.image))
                    return true
                }
            }
            // What does not end the batch's events of the app does not say how it then was.
            if rows.isNull(6) { return }
            try visitor.endStream(
                app: app, seq: range.last, entities: Int(rows.integer(5)), digest: rows.unsigned(6))
        }
    }
}

extension SeqRange {
    /// How many sequence numbers it has, if that can be true.
    func count() throws(PackingError) -> Int {
        guard first > 0, last >= first, last - first < UInt64(UInt32.max) else {
            throw PackingError(reason: "sequence numbers \(first) to \(last)", offset: 0)
        }
        return Int(last - first) + 1
    }
}
