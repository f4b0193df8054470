/// The one connection that writes a segment.
///
/// `@unchecked Sendable`: it is handed over, from the thread that opens segments to the one that commits, and used by
/// one at a time.
final class SegmentWriter: @unchecked Sendable {
    /// The rows of a batch are numbered in the lower bits of their ids.
    static let rowBits: UInt64 = 20

    let identity: SegmentIdentity
    let path: String
    private let database: Database
    private let begin: Statement
    private let insert: Statement
    private let commit: Statement
    /// Bytes of the file, which does not grow, and of its log, without the room that this has.
    private let fileBytes: Int
    private(set) var bytes: Int
    private var log: CachedLog
    private var room: LogRoom
    /// Of the log, up to the last commit; 0 before the first one here.
    private var logBytes: Int { LogFormat.bytes(frames: database.logPages, pageSize: pageSize) }
    private let pageSize: Int

    /// How long another process may hold the lock, such as `sqlite3` in the hands of somebody who writes.
    private static let lockMilliseconds: Int32 = 1_000
    /// KiB of pages that are kept: those that the next batch changes again, and no more, so that they stay near.
    private static let cacheKiB = 1_024

    /// Opens a segment that has its schema.
    ///
    /// - Parameter roomEnd: Room of its log ends where the segment has so many bytes; 0: it has none.
    init(path: String, identity: SegmentIdentity, roomEnd: Int) throws(SQLiteError) {
        self.path = path
        self.identity = identity
        database = try Database(path: path, mode: .append)
        database.waitForLocks(milliseconds: Self.lockMilliseconds)
        // No page may reach the log before its commit: a failed attempt would leave frames there.
        try database.execute(
            """
            PRAGMA synchronous = \(identity.sync.rawValue);
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_spill = OFF;
            PRAGMA cache_size = -\(Self.cacheKiB);
            """)
        database.countLogPages()
        begin = try database.prepare("BEGIN IMMEDIATE", isKept: true)
        insert = try database.prepare(BatchCopy.insert, isKept: true)
        commit = try database.prepare("COMMIT", isKept: true)
        pageSize = Int(try database.integer("PRAGMA page_size") ?? 0)
        fileBytes = FileSystem.size(of: path) ?? 0
        bytes = FolderNames.bytes(of: path)
        log = CachedLog(path: FolderNames.log(of: path))
        room = LogRoom(path: FolderNames.log(of: path), limit: roomEnd - fileBytes)
    }

    /// Makes a segment and opens it, so that its first commit costs no more than any other.
    static func make(
        _ identity: SegmentIdentity, names: FolderNames, roomEnd: Int
    ) throws(StoreError) -> SegmentWriter {
        let path = names.segment(identity.number)
        // What an attempt on a full disk may have left.
        do throws(SystemError) { try FolderNames.removeDatabase(path) } catch { throw StoreError(error) }
        try create(path: path, identity: identity)
        let writer: SegmentWriter
        do throws(SQLiteError) {
            writer = try SegmentWriter(path: path, identity: identity, roomEnd: roomEnd)
            try writer.warmUp()
        } catch {
            throw StoreError(error, file: path)
        }
        // SQLite syncs the name of a new log, but where it finds no descriptor for the folder it says nothing and goes on.
        do throws(SystemError) { try FileSystem.sync(names.directory) } catch { throw StoreError(error) }
        return writer
    }

    /// Makes a segment under its final name, complete and durable.
    private static func create(path: String, identity: SegmentIdentity) throws(StoreError) {
        let settings = [
            Schema.Key.store: identity.store, Schema.Key.epoch: identity.epoch,
            Schema.Key.sync: identity.sync.rawValue, Schema.Key.segment: String(identity.number),
        ]
        try DatabaseFile.create(path: path, schema: Schema.segment, meta: settings)
    }

    /// Does what the first commit would have to do besides: makes the log and its index, and syncs their names.
    private func warmUp() throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            try Meta.set("opened", to: UInt64(1), in: database)
        }
    }

    /// Pushes everything that was committed to the disk, whatever the mode.
    func sync() throws(SQLiteError) {
        try database.execute("PRAGMA synchronous = FULL")
        do throws(SQLiteError) {
            try database.transaction { () throws(SQLiteError) in
                try Meta.set("synced", to: UInt64(1), in: database)
            }
        } catch {
            try database.execute("PRAGMA synchronous = \(identity.sync.rawValue)")
            throw error
        }
        try database.execute("PRAGMA synchronous = \(identity.sync.rawValue)")
    }

    /// Writes and commits a batch. Where it throws, nothing of it remains.
    func write(_ batch: JournalBatch, with encoder: RowEncoder) throws(SQLiteError) {
        do throws(SQLiteError) {
            try begin.run()
            room.extend(behind: logBytes)
            try insertRows(of: batch, with: encoder)
            try commit.run()
        } catch {
            insert.reset()
            database.rollBack()
            throw error
        }
        bytes = fileBytes + logBytes
        if identity.sync == .full { log.keepEnd(of: logBytes) }
    }

    /// Cuts off the room behind the last commit, which is also the last here. Where another process is writing it stays.
    func giveBackRoom() {
        guard logBytes > 0, room.wasMade else { return }
        database.waitForLocks(milliseconds: 0)
        do throws(SQLiteError) { try begin.run() } catch { return }
        room.giveBack(behind: logBytes)
        database.rollBack()
    }

    private func insertRows(of batch: JournalBatch, with encoder: RowEncoder) throws(SQLiteError) {
        encoder.encodeNotes(of: batch)
        var count: UInt64 = 0
        if batch.rows.isEmpty {
            for column: Int32 in [3, 4, 5, 7, 8, 11, 12] { insert.bindNull(at: column) }
            try insertRow(&count, of: batch, with: encoder)
        }
        for row in batch.rows.indices {
            var start: Int?
            repeat {
                let piece = encoder.encode(row: row, of: batch, from: start)
                start = piece.next
                // The encoder's buffers stand still until the next piece.
                unsafe insert.bindText(encoder.app.bytes, at: 3)
                insert.bind(piece.firstSeq, at: 4)
                insert.bind(piece.lastSeq, at: 5)
                if start == nil {
                    insert.bind(Int64(batch.rows[row].entities), at: 7)
                    insert.bind(batch.rows[row].digest, at: 8)
                } else {
                    for column: Int32 in [7, 8] { insert.bindNull(at: column) }
                }
                unsafe insert.bindText(encoder.body.bytes, at: 11)
                unsafe insert.bindBlob(encoder.recovery.bytes, at: 12)
                try insertRow(&count, of: batch, with: encoder)
            } while start != nil
        }
        insert.clearBindings()
        encoder.removeAll()
    }

    /// Inserts what is bound and what all rows of a batch have.
    private func insertRow(
        _ count: inout UInt64, of batch: JournalBatch, with encoder: RowEncoder
    ) throws(SQLiteError) {
        precondition(count < 1 << Self.rowBits, "a batch with \(count) rows")
        insert.bind(batch.number << Self.rowBits | count, at: 1)
        insert.bind(batch.number, at: 2)
        insert.bind(batch.at, at: 6)
        bindNotes(encoder.facts, isFirst: count == 0, at: 9)
        bindNotes(encoder.answers, isFirst: count == 0, at: 10)
        try insert.run()
        count += 1
    }

    private func bindNotes(_ notes: ByteBuffer, isFirst: Bool, at index: Int32) {
        if isFirst, notes.count > 0 {
            unsafe insert.bindBlob(notes.bytes, at: index)
        } else {
            insert.bindNull(at: index)
        }
    }
}
