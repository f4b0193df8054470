/// A data folder as recovery reads it, without changing anything; also while a service uses it, but then in another
/// process. What it trims can be read on, since its oldest segments stay open here; one that is gone before it could be
/// opened ends the reading with an error.
package final class FolderReading: RecoverySource {
    package let summary: RecoverySummary
    private let names: FolderNames
    private let state: Database
    private let segments: [SegmentInfo]
    /// Readers of the oldest segments, by their numbers, which a service trims first.
    private let held: [Int: SegmentReader]

    /// So many segments stay open at most: each takes three descriptors.
    private static let maximumHeld = 64

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
            var held: [Int: SegmentReader] = [:]
            for number in contents.segments where number >= known.firstSegment {
                let reader = try SegmentReader(path: names.segment(number), number: number)
                let first = (segments.last?.lastBatch ?? known.trimmedThrough) + 1
                let info = try reader.info(firstBatch: first)
                guard !info.isEmpty else { continue }
                segments.append(info)
                guard held.count < Self.maximumHeld else { continue }
                try reader.keepLittle()
                held[number] = reader
            }
            var summary = RecoverySummary()
            summary.epoch = known.epoch
            summary.lastBatch = segments.last?.lastBatch ?? known.trimmedThrough
            summary.keptAfter = (segments.first?.firstBatch ?? summary.lastBatch + 1) - 1
            summary.snapshotHoldsThrough = min(known.holdsThrough, summary.lastBatch)
            summary.clock = max(known.clock, segments.last?.lastAt ?? 0)
            summary.wasClosed = known.isClosed
            summary.mayHaveLostCommits = known.mayHaveLostCommits(in: bootID ?? FileSystem.bootID)
            summary.snapshotMayBeAhead = known.isAhead || summary.mayHaveLostCommits
            (self.summary, self.segments, self.held) = (summary, segments, held)
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
            try walk.visit(try reader(of: segment.number), visitor)
        }
    }

    private func reader(of number: Int) throws(SQLiteError) -> SegmentReader {
        if let reader = held[number] { return reader }
        return try SegmentReader(path: names.segment(number), number: number)
    }

    package func forEachAnswer(
        since: Int64, _ visit: (_ batch: UInt64, _ at: Int64, _ answer: Span<UInt8>) throws -> Void
    ) throws {
        try KeptAnswers(state).forEach(before: summary.keptAfter + 1, since: since) { (number, at, column) in
            try PackedRow.forEachNote(column) { try visit(number, at, $0) }
        }
        for segment in segments where segment.lastAt >= since {
            let rows = try reader(of: segment.number).answers(since: since)
            while try rows.step() {
                let (number, at) = (rows.unsigned(0), rows.integer(1))
                try rows.withSpan(2) { column in try PackedRow.forEachNote(column) { try visit(number, at, $0) } }
            }
        }
    }
}
