/// The snapshot's file, with what is known of the segments beside it.
///
/// `@unchecked Sendable`: it is handed over, from whoever opens the folder to the thread that reads the entities ahead,
/// back, and to the thread that sweeps, and used by one at a time. That connection alone writes and checkpoints.
final class StateDatabase: @unchecked Sendable {
    let path: String
    let database: Database
    private let buffer = ByteBuffer(capacity: 64 << 10)
    private let upsert: Statement
    private let free: Statement
    private let setFact: Statement
    private let forgetFact: Statement

    private static let lockMilliseconds: Int32 = 1_000
    /// The log is moved into the file when it has so many pages: no more than is written without anybody noticing.
    private static let checkpointPages = 256
    private static let vacuumedPages = 128
    /// A log that was larger once, as for all answers of a segment, gives the rest back when it begins again.
    private static let keptLogBytes = 4 << 20

    init(path: String) throws(SQLiteError) {
        self.path = path
        database = try Database(path: path, mode: .readWrite)
        database.waitForLocks(milliseconds: Self.lockMilliseconds)
        // Checkpoints are made here and not by SQLite, which would not say that one failed. Rows come in the order of
        // their slots, so that few pages are wanted twice.
        try database.execute(
            """
            PRAGMA synchronous = NORMAL;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = \(Self.keptLogBytes);
            PRAGMA cache_size = -1024;
            """)
        database.countLogPages()
        try Schema.migrate(database)
        upsert = try database.prepare(
            "INSERT OR REPLACE INTO entity VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", isKept: true)
        free = try database.prepare("DELETE FROM entity WHERE slot = ?", isKept: true)
        setFact = try database.prepare("INSERT OR REPLACE INTO fact VALUES(?,?,?)", isKept: true)
        forgetFact = try database.prepare("DELETE FROM fact WHERE key = ?", isKept: true)
    }

    /// Makes the file.
    static func create(path: String, meta: [String: String]) throws(StoreError) {
        try DatabaseFile.create(path: path, schema: Schema.state, meta: meta, givesBackRoom: true)
    }

    func meta() throws(SQLiteError) -> Meta { try Meta(database) }

    /// Runs a transaction that is on the disk when this returns.
    func durably(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try database.execute("PRAGMA synchronous = FULL")
        do throws(SQLiteError) {
            try database.transaction(body)
        } catch {
            try database.execute("PRAGMA synchronous = NORMAL")
            throw error
        }
        try database.execute("PRAGMA synchronous = NORMAL")
    }

    /// Writes a piece of the snapshot. The end of a round is on the disk when this returns.
    func write(_ chunk: StateChunk) throws(SQLiteError) {
        guard let through = chunk.holdsThrough else {
            return try database.transaction { () throws(SQLiteError) in try writeRows(of: chunk) }
        }
        try durably { () throws(SQLiteError) in
            try writeRows(of: chunk)
            try Meta.set(Schema.Key.holdsThrough, to: through, in: database)
            try Meta.set(Schema.Key.answersFrom, to: chunk.answersFrom, in: database)
            // Everything that was lost is written over by now.
            try Meta.set(Schema.Key.isAhead, to: UInt64(0), in: database)
        }
    }

    private func writeRows(of chunk: StateChunk) throws(SQLiteError) {
        for entity in chunk.entities { try write(entity, of: chunk) }
        for slot in chunk.freed {
            free.bind(slot, at: 1)
            try free.run()
        }
        for fact in chunk.facts { try write(fact, of: chunk) }
        try Meta.set(Schema.Key.clock, to: chunk.at, in: database)
    }

    private func write(_ entity: StateChunk.Entity, of chunk: StateChunk) throws(SQLiteError) {
        buffer.removeAll()
        var sum = RowChecksum()
        upsert.bind(entity.slot, at: 1)
        upsert.bind(entity.revision, at: 8)
        upsert.bind(entity.seq, at: 9)
        if let next = entity.nextAt { upsert.bind(next, at: 10) } else { upsert.bindNull(at: 10) }
        sum.add(entity.slot)
        sum.add(entity.revision)
        sum.add(entity.seq)
        sum.add(entity.nextAt ?? 0)
        // In the order in which ``SnapshotRows`` reads them.
        let columns: [(Int32, StateChunk.Slice)] = [
            (2, entity.id), (3, entity.app), (4, entity.kind), (5, entity.key), (6, entity.device), (7, entity.state),
            (11, entity.nextCause), (12, entity.attributes), (13, entity.content), (14, entity.image),
        ]
        for (_, slice) in columns { chunk.withBytes(of: slice) { buffer.append($0) } }
        var offset = 0
        for (column, slice) in columns {
            // The buffer stands still until the next entity.
            let bytes = unsafe buffer.bytes(offset..<(offset + slice.count))
            offset += slice.count
            unsafe sum.add(bytes)
            if column == 14 {
                unsafe upsert.bindBlob(bytes, at: column)
            } else if slice.count == 0 {
                upsert.bindNull(at: column)
            } else {
                unsafe upsert.bindText(bytes, at: column)
            }
        }
        upsert.bind(sum.value, at: 15)
        try upsert.run()
    }

    private func write(_ fact: StateChunk.Fact, of chunk: StateChunk) throws(SQLiteError) {
        buffer.removeAll()
        chunk.withBytes(of: fact.key) { buffer.append($0) }
        if let value = fact.value { chunk.withBytes(of: value) { buffer.append($0) } }
        // The buffer stands still until the next fact.
        let key = unsafe buffer.bytes(0..<fact.key.count)
        guard fact.value != nil else {
            unsafe forgetFact.bindBlob(key, at: 1)
            return try forgetFact.run()
        }
        let value = unsafe buffer.bytes(fact.key.count..<buffer.count)
        var sum = RowChecksum()
        unsafe sum.add(key)
        unsafe sum.add(value)
        unsafe setFact.bindBlob(key, at: 1)
        unsafe setFact.bindBlob(value, at: 2)
        setFact.bind(sum.value, at: 3)
        try setFact.run()
    }

    /// Removes some of the answers before a batch, the oldest. Few at a time, since every page that is changed stands in
    /// the log first: where answers have filled the disk, there is no room for all of them there.
    ///
    /// - Returns: Whether there may be more.
    func removeAnswers(before batch: UInt64) throws(SQLiteError) -> Bool {
        let areMore = try database.transaction { () throws(SQLiteError) in
            try KeptAnswers(database).removeOldest(before: batch)
        }
        // What they took goes back to the disk, but where the file was made by an older version.
        try database.prepare("PRAGMA incremental_vacuum(\(Self.vacuumedPages))").run()
        try checkpointIfNeeded()
        return areMore
    }

    /// Moves the log into the file and gives its room back, unless somebody reads it: a transaction that found the disk
    /// full has left its part there.
    func giveBackLog() throws(SQLiteError) {
        database.waitForLocks(milliseconds: 0)
        defer { database.waitForLocks(milliseconds: Self.lockMilliseconds) }
        try database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").run()
    }

    /// Moves the log into the file when it has grown.
    func checkpointIfNeeded() throws(SQLiteError) {
        if database.logPages >= Self.checkpointPages { try checkpoint() }
    }

    /// Moves the log into the file, as far as readers allow.
    func checkpoint() throws(SQLiteError) {
        try database.prepare("PRAGMA wal_checkpoint(PASSIVE)").run()
    }
}
