/// A data folder as recovery reads it, without changing anything; also while a service uses it, but then in another
/// process, and what is trimmed meanwhile ends the reading with an error.
package final class FolderReading: RecoverySource {
    package let summary: RecoverySummary
    private let names: FolderNames
    private let state: Database
    private let segments: [SegmentInfo]

    /// - Parameter bootID: This run of the machine; nil: as the system says.
    package init(directory: String, bootID: String? = nil) throws(StoreError) {
        names = FolderNames(directory: directory)
        let contents = try Store.existingContents(names)
        guard contents.hasState else { throw .missing(file: names.state, reason: "it holds the snapshot") }
        do throws(SQLiteError) {
            state = try Database(path: names.state, mode: .readOnly)
            // At one moment, since a running service may write between two statements.
            try state.execute("BEGIN")
            let known = try KnownState(meta: Meta(state))
            var segments: [SegmentInfo] = []
            for number in contents.segments where number >= known.firstSegment {
                let reader = try SegmentReader(path: names.segment(number), number: number)
                let first = (segments.last?.lastBatch ?? known.trimmedThrough) + 1
                segments.append(try reader.info(firstBatch: first))
            }
            segments.removeAll { $0.isEmpty }
            var summary = RecoverySummary()
            summary.epoch = known.epoch
            summary.lastBatch = segments.last?.lastBatch ?? known.trimmedThrough
            summary.keptAfter = (segments.first?.firstBatch ?? summary.lastBatch + 1) - 1
            summary.snapshotHoldsThrough = min(known.holdsThrough, summary.lastBatch)
            summary.clock = max(known.clock, segments.last?.lastAt ?? 0)
            summary.wasClosed = known.isClosed
            summary.mayHaveLostCommits = known.mayHaveLostCommits(in: bootID ?? FileSystem.bootID)
            summary.snapshotMayBeAhead = known.isAhead || summary.mayHaveLostCommits
            (self.summary, self.segments) = (summary, segments)
        } catch {
            throw StoreError(error, file: names.directory)
        }
    }

    package func forEachFact(_ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws {
        try SnapshotRows(database: state, path: names.state).forEachFact(visit)
    }

    package func forEachEntity(_ visit: (RecoveredEntity) throws -> Void) throws {
        let pack = EntityPack()
        try SnapshotRows(database: state, path: names.state).forEachEntity { row in
            pack.removeAll()
            pack.append(row)
            try pack.forEach(visit)
        }
    }

    package func forEachBatch(after number: UInt64, _ visitor: any RecoveryVisitor) throws {
        var walk = BatchWalk(last: number)
        for segment in segments where segment.lastBatch > number {
            try walk.visit(try SegmentReader(path: names.segment(segment.number), number: segment.number), visitor)
        }
    }

    package func forEachAnswer(
        since: Int64, _ visit: (_ batch: UInt64, _ at: Int64, _ answer: Span<UInt8>) throws -> Void
    ) throws {
        try KeptAnswers(state).forEach(before: summary.keptAfter + 1, since: since) { (number, at, column) in
            try PackedRow.forEachNote(column) { try visit(number, at, $0) }
        }
        for segment in segments where segment.lastAt >= since {
            let reader = try SegmentReader(path: names.segment(segment.number), number: segment.number)
            let rows = try reader.answers(since: since)
            while try rows.step() {
                let (number, at) = (rows.unsigned(0), rows.integer(1))
                try rows.withSpan(2) { column in try PackedRow.forEachNote(column) { try visit(number, at, $0) } }
            }
        }
    }
}
