import IsletJournal

/// An open journal of a test with what it reports.
struct JournalRun {
    let folder: TemporaryFolder
    let store: Store
    let journal: SQLiteJournal
    let notices: Notices

    init(_ folder: TemporaryFolder, _ options: StoreOptions = .testing()) throws {
        self.folder = folder
        notices = Notices()
        store = try Store.open(directory: folder.data, options: options)
        journal = try store.startJournal(after: store.summary.lastBatch, report: notices.report)
    }

    /// Commits batches one after another.
    func commit(_ batches: JournalBatch...) async {
        for batch in batches {
            _ = journal.append(batch)
            await notices.committed(batch.number)
        }
    }

    /// Commits batches with one event each.
    func commit(_ numbers: ClosedRange<UInt64>, padding: Int = 0) async {
        for number in numbers { await commit(.single(number, padding: padding)) }
    }

    /// Commits batches with one event each until there are so many segments.
    ///
    /// - Returns: The last batch.
    func commit(from first: UInt64, untilSegments count: Int, padding: Int = 4_000) async -> UInt64 {
        var number = first
        while true {
            await commit(.single(number, padding: padding))
            if store.segmentCount >= count { return number }
            number += 1
        }
    }

    /// Writes the end of a round of the snapshot; nobody asks for earlier answers than those of a batch any more.
    func hold(through number: UInt64, sweep count: Int, answersFrom: UInt64 = 0) async {
        var chunk = StateChunk()
        chunk.at = 1_000 * Int64(number)
        chunk.holdsThrough = number
        chunk.answersFrom = answersFrom
        journal.sweep(chunk)
        await notices.swept(count)
    }

    func read(_ app: String, _ kind: JournalRead.Kind, rows: Int = 100, bytes: Int = 1 << 20, id: UInt64 = 1) async
        -> JournalReadResult.Outcome?
    {
        journal.read(
            JournalRead(id: id, app: Array(app.utf8), kind: kind, maximumRows: rows, maximumBytes: bytes))
        return await notices.read(id)
    }
}

extension JournalReadResult.Outcome {
    /// The sequence numbers of the events; nil: they are too old.
    var seqs: [UInt64]? {
        switch self {
        case .events(let events): events.map(\.seq)
        case .tooOld, .notNow: nil
        }
    }
}
