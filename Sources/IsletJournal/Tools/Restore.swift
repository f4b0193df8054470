extension Store {
    /// Makes a new data folder from a backup. Its streams have a new epoch, so that everybody who follows them starts
    /// again from a snapshot.
    ///
    /// - Parameters:
    ///   - file: What ``BackupRequest`` made.
    ///   - directory: A folder that is empty or not there.
    ///   - epoch: Random, at most 36 bytes, none that was used before.
    package static func restore(
        from file: String, into directory: String, epoch: String, options: StoreOptions
    ) throws(StoreError) {
        let names = FolderNames(directory: directory)
        try checkIsNew(names)
        try Schema.checkHeader(of: file)
        try makeNew(names, options) { () throws(StoreError) in
            let restore = Restore(file: file, names: names, epoch: epoch, options: options)
            do throws(StoreError) {
                try restore.run()
                try restore.check()
            } catch {
                restore.removeAll()
                throw error
            }
        }
    }
}

/// Takes a backup apart again.
private struct Restore {
    let file: String
    let names: FolderNames
    let epoch: String
    let options: StoreOptions

    /// Reads everything back: pages of a backup that are damaged are found here, and not by the next start.
    func check() throws(StoreError) {
        let report = try Store.verify(directory: names.directory, bootID: options.bootID)
        guard let first = report.findings.first else { return }
        throw .damagedBackup(file: file, reason: first.meaning)
    }

    /// The folder is as it was, but for its lock: there was nothing in it.
    func removeAll() {
        for path in [names.mark, FolderNames.unfinished(names.mark)] { try? FileSystem.remove(path) }
        for path in [names.state, names.segment(1)] {
            try? FolderNames.removeDatabase(FolderNames.unfinished(path))
            try? FolderNames.removeDatabase(path)
        }
        try? FileSystem.remove(names.halfMade)
    }

    /// Every start refuses the folder until all of it is there: half a restore is neither taken for a whole one nor for a
    /// folder with nothing in it.
    func run() throws(StoreError) {
        try checkIsBackup()
        do throws(SystemError) {
            try FileSystem.makeFile(names.halfMade)
            try FileSystem.sync(names.directory)
        } catch {
            throw StoreError(error)
        }
        let known: KnownState
        let lastBatch: UInt64
        let sum: UInt64?
        do throws(SQLiteError) {
            let backup = try Database(path: file, mode: .readOnly)
            let meta = try Meta(backup)
            known = try KnownState(meta: meta)
            sum = meta[Schema.Key.batchSum].flatMap { Int64($0) }.map { UInt64(bitPattern: $0) }
            let last = try backup.integer("SELECT max(number) FROM batch").map(UInt64.init(bitPattern:))
            lastBatch = last ?? known.holdsThrough
        } catch {
            throw damaged(error)
        }
        let copied = try restoreBatches(from: known.holdsThrough + 1, through: lastBatch)
        if let sum, sum != copied { throw .damagedBackup(file: file, reason: "its batches are not as they were written") }
        try restoreState(like: known)
        do throws(SystemError) {
            let mark = Mark(lastBatch: lastBatch, sync: options.sync, bootID: options.bootID)
            _ = try MarkFile(path: names.mark, mark: mark)
            try FileSystem.sync(names.directory)
            try FileSystem.remove(names.halfMade)
            try FileSystem.sync(names.directory)
        } catch {
            throw StoreError(error)
        }
    }

    /// Of a data folder's files, a snapshot has the entities alone, and a segment the batches.
    private func checkIsBackup() throws(StoreError) {
        let tables: Int64?
        do throws(SQLiteError) {
            tables = try Database(path: file, mode: .readOnly)
                .integer("SELECT count(*) FROM sqlite_schema WHERE name IN ('batch', 'entity')")
        } catch {
            throw damaged(error)
        }
        guard tables == 2 else { throw .noBackup(file: file) }
    }

    /// What SQLite says of the backup's own pages.
    private func damaged(_ error: SQLiteError) -> StoreError {
        switch error {
        case .corrupt(let reason): .damagedBackup(file: file, reason: reason)
        // SQLite names the file that it reads, and means the one that it writes.
        case .full: .database(.full("\(names.directory): there is no room for what \(file) has"))
        case .notADatabase, .noDescriptor, .busy, .cannotOpen, .io, .other: StoreError(error, file: file)
        }
    }

    /// - Returns: the sum of the rows that were copied.
    private func restoreBatches(from first: UInt64, through last: UInt64) throws(StoreError) -> UInt64 {
        let meta = [
            Schema.Key.store: epoch, Schema.Key.epoch: epoch, Schema.Key.sync: options.sync.rawValue,
            Schema.Key.segment: "1",
        ]
        var copy = BatchCopy()
        do throws(StoreError) {
            try DatabaseFile.create(path: names.segment(1), schema: Schema.segment, meta: meta) {
                (target) throws(SQLiteError) in
                let backup = try Database(path: file, mode: .readOnly)
                let rows = try SegmentReader.rows(of: backup, from: first, through: last)
                try target.transaction { () throws(SQLiteError) in try copy.copy(rows, into: target) }
            }
        } catch .damaged(_, let reason) {
            throw .damagedBackup(file: file, reason: reason)
        }
        return copy.sum.value
    }

    private func restoreState(like saved: KnownState) throws(StoreError) {
        let unfinished = FolderNames.unfinished(names.state)
        var known = KnownState(store: epoch, epoch: epoch, sync: options.sync, bootID: options.bootID)
        (known.isClosed, known.holdsThrough, known.clock) = (true, saved.holdsThrough, saved.clock)
        (known.trimmedThrough, known.isAhead) = (saved.holdsThrough, saved.isAhead)
        known.answersFrom = saved.answersFrom
        do throws(SQLiteError) {
            let backup = try Database(path: file, mode: .readOnly)
            try backup.execute("VACUUM INTO \(quoted(unfinished))")
            let target = try Database(path: unfinished, mode: .readWrite)
            try target.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL")
            try target.transaction { () throws(SQLiteError) in
                try target.execute(Schema.dropBackupBatches)
                // The old folder's streams are not there to be replayed.
                try target.execute(
                    "DELETE FROM segment; DELETE FROM segment_app; DELETE FROM trimmed; DELETE FROM meta")
                for (key, value) in known.meta { try Meta.set(key, to: value, in: target) }
            }
            try target.execute("PRAGMA journal_mode = WAL")
        } catch {
            throw damaged(error)
        }
        try DatabaseFile.finish(names.state)
    }
}
