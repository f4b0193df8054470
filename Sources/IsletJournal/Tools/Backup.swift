/// Copies a folder that is in use into one file: the snapshot, the batches that it does not hold, and the answers of those
/// before that retries may still ask for.
///
/// The snapshot is copied by its writing connection, and shows nothing that was not committed by then; the batches are
/// copied after it. So they lead from the snapshot to one moment, the end of the last one.
struct Backup {
    let names: FolderNames
    let state: StateDatabase
    let segments: SegmentDirectory
    /// Whether nobody wants it any more; asked again and again while it is made.
    var isOver: () -> Bool = { false }

    /// - Returns: The bytes of the file.
    func write(to path: String) throws(StoreError) -> Int {
        try checkPlace(of: path)
        guard !FileSystem.exists(path) else { throw .exists(path) }
        let unfinished = FolderNames.unfinished(path)
        do throws(StoreError) {
            try copy(to: unfinished, for: path)
            do throws(SystemError) {
                try FileSystem.sync(unfinished)
                guard !FileSystem.exists(path) else { throw SystemError.exists(path) }
                try FileSystem.rename(unfinished, to: path)
                try FileSystem.sync(FileSystem.directory(of: path))
            } catch {
                throw StoreError(error)
            }
        } catch {
            try? FolderNames.removeDatabase(unfinished)
            throw error
        }
        return FileSystem.size(of: path) ?? 0
    }

    /// Refuses a place where the backup would be taken for a part of a data folder: anywhere within this one or another,
    /// and under a name of a journal's anywhere, since the folder may become one. The next start would refuse such a
    /// folder, and a roll-over, trimming or another backup would delete the backup.
    private func checkPlace(of path: String) throws(StoreError) {
        let folder = FileSystem.directory(of: path)
        guard !FileSystem.isWithin(names.directory, folder) else {
            throw .within(path: path, directory: names.directory)
        }
        try Store.checkIsOutside(path, in: folder, besides: names)
        guard !FolderNames.isOfJournal(FileSystem.name(of: path)) else { throw .backupNamedAsJournal(file: path) }
    }

    private func copy(to unfinished: String, for path: String) throws(StoreError) {
        do throws(SystemError) {
            try FolderNames.removeDatabase(unfinished)
            // SQLite fills an empty file as it is, and would make one that everybody may read.
            try FileSystem.makeFile(unfinished)
        } catch {
            throw StoreError(error)
        }
        do throws(SQLiteError) {
            try state.database.interruptible(when: isOver) { () throws(SQLiteError) in
                try state.database.execute("VACUUM INTO \(quoted(unfinished))")
            }
        } catch {
            throw notCopied(error, to: path)
        }
        do throws(SQLiteError) {
            let target = try Database(path: unfinished, mode: .readWrite)
            // One file is wanted; it is synced as a whole afterwards.
            try target.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            // As the copy says, since a restore goes by it: the snapshot may be further than anybody was told.
            let known = try KnownState(meta: Meta(target))
            let holdsThrough = known.holdsThrough
            try target.execute(Schema.backupBatches)
            try target.execute("BEGIN")
            try target.interruptible(when: isOver) { () throws(SQLiteError) in
                try copyBatches(from: holdsThrough + 1, into: target)
                try copyAnswers(from: known.answersFrom, through: holdsThrough, into: target)
            }
            try target.execute("COMMIT")
        } catch {
            // It names the file that is meant: one that is read, or this one.
            throw .database(error)
        }
    }

    /// Why the snapshot was not copied. SQLite names the file that it reads, also where it means the one that it writes.
    private func notCopied(_ error: SQLiteError, to path: String) -> StoreError {
        let source = "\(names.state): "
        func cause(_ message: String) -> Substring {
            message.hasPrefix(source) ? message.dropFirst(source.count) : message[...]
        }
        switch error {
        case .full(let message):
            return .database(.full("\(path): there is no room for the backup: \(cause(message))"))
        // The snapshot itself is open.
        case .cannotOpen(let message):
            let isTooLong = FolderNames.unfinished(path).utf8.count > Self.longestPath
            let reason = isTooLong ? "its path is too long for SQLite, take a shorter one" : "\(cause(message))"
            return .database(.cannotOpen("\(path): the backup cannot be written there: \(reason)"))
        case .noDescriptor, .busy, .corrupt, .notADatabase, .io, .other: return StoreError(error, file: names.state)
        }
    }

    /// Bytes of a path that SQLite takes, without what it appends itself.
    private static let longestPath = 504

    /// Those of the batches that are left out. Whoever sent a command to the folder that is copied may send it again to
    /// the one that is restored.
    private func copyAnswers(
        from answersFrom: UInt64, through last: UInt64, into target: Database
    ) throws(SQLiteError) {
        for segment in segments.segments
        where !segment.isEmpty && segment.lastBatch >= answersFrom && segment.firstBatch <= last {
            let reader = try SegmentReader(path: names.segment(segment.number), number: segment.number)
            let rows = try reader.answers(from: answersFrom, through: min(segment.lastBatch, last))
            try KeptAnswers(target).add(rows)
        }
    }

    private func copyBatches(from first: UInt64, into target: Database) throws(SQLiteError) {
        var copy = BatchCopy()
        for segment in segments.segments where !segment.isEmpty && segment.lastBatch >= first {
            let reader = try SegmentReader(path: names.segment(segment.number), number: segment.number)
            try copy.copy(try reader.rows(from: first, through: segment.lastBatch), into: target)
        }
        try Meta.set(Schema.Key.batchSum, to: copy.sum.value, in: target)
    }
}
