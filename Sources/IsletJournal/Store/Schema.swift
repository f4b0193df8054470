/// The tables of the files, and how older ones become the present ones.
enum Schema {
    /// In every file (`PRAGMA application_id`): "Islt".
    static let applicationID: Int32 = 0x4973_6c74
    /// In every file (`PRAGMA user_version`).
    static let version = 1

    /// What makes a state file of version n + 1 out of one of version n, for n from 1.
    ///
    /// Segments are not changed once they are written: a version that lays them out differently begins a new one, and
    /// reads the older ones as their `user_version` says until they are trimmed.
    static let migrations: [String] = []

    /// Names in the `meta` tables.
    enum Key {
        /// The random name of the folder's content: files of different folders do not mix.
        static let store = "store"
        static let epoch = "epoch"
        /// The state: the epoch of the last segment with batches when the epoch began; absent in older files.
        static let journalEpoch = "journal_epoch"
        static let sync = "sync"
        /// Segments: its number.
        static let segment = "segment"
        /// The state: the last batch that it holds everything of.
        static let holdsThrough = "holds_through"
        /// The state: the first batch with an answer that a retry may still ask for; absent in older files.
        static let answersFrom = "answers_from"
        /// The state: the latest domain time that was written.
        static let clock = "clock"
        /// The state: the last batch that was trimmed, and the first segment that was not.
        static let trimmedThrough = "trimmed_through"
        static let firstSegment = "first_segment"
        /// The state: the run of the machine, and whether its owner said goodbye.
        static let bootID = "boot_id"
        static let isClosed = "closed"
        /// The state: whether it may show what the journal has lost; absent in older files.
        static let isAhead = "ahead"
        /// Backups: the sum of their batches; absent in older files.
        static let batchSum = "batch_sum"
        /// The state: the sum of what was trimmed of each app; absent in older files.
        static let trimmedSum = "trimmed_sum"
        /// The state: the sum of what is noted of a full segment; absent in older files.
        static func segmentSum(_ number: Int) -> String { "segment_sum_\(number)" }
    }

    private static let header = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
        """

    /// Rows for each app that a batch has events of, one for about 64 KiB of them, or one without an app. `entities` and
    /// `digest` are in the last of an app's rows: how it was then.
    ///
    /// `id`: the batch's number and 20 bits for the row. `body`: a JSON array of the events as they were published.
    /// `recovery`, `facts`, `answers`: packed, see `PackedRow`; the last two are in a batch's first row. Small columns
    /// and those that are read alone come first, because SQLite walks through what is before a column.
    private static let batch = """
        CREATE TABLE batch(
            id INTEGER PRIMARY KEY, number INTEGER NOT NULL, app TEXT, first_seq INTEGER, last_seq INTEGER,
            at INTEGER NOT NULL, entities INTEGER, digest INTEGER,
            facts BLOB, answers BLOB, body TEXT, recovery BLOB) STRICT;
        """
    private static let batchIndex = "CREATE INDEX batch_app ON batch(app, first_seq, last_seq);"

    /// For people: one row for each event.
    private static let events = """
        CREATE VIEW events AS
            SELECT b.first_seq + e.key AS seq, \(iso("b.at")) AS at,
                json_extract(e.value, '$.event') AS event, b.app AS app,
                coalesce(json_extract(e.value, '$.activity.id'), json_extract(e.value, '$.control.id'),
                    json_extract(e.value, '$.widget.id'), json_extract(e.value, '$.group.key'),
                    json_extract(e.value, '$.id')) AS id,
                json_extract(e.value, '$.cause') AS cause, b.number AS batch, e.value AS json
            FROM batch AS b, json_each(b.body) AS e WHERE b.body IS NOT NULL;
        """

    static let segment = header + batch + batchIndex + events

    /// `sum`: a ``RowChecksum`` of the row's other columns.
    static let state =
        header + """
            CREATE TABLE entity(
                slot INTEGER PRIMARY KEY, id TEXT, app TEXT, kind TEXT, key TEXT, device TEXT, state TEXT,
                revision INTEGER, seq INTEGER, next_at INTEGER, next_cause TEXT, attributes TEXT, content TEXT,
                image BLOB, sum INTEGER) STRICT;
            CREATE TABLE fact(key BLOB PRIMARY KEY, value BLOB NOT NULL, sum INTEGER) STRICT, WITHOUT ROWID;
            CREATE TABLE segment(
                number INTEGER PRIMARY KEY, first_batch INTEGER NOT NULL, last_batch INTEGER NOT NULL,
                first_at INTEGER NOT NULL, last_at INTEGER NOT NULL) STRICT;
            CREATE TABLE segment_app(
                segment INTEGER NOT NULL, app BLOB NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
                PRIMARY KEY(segment, app)) STRICT, WITHOUT ROWID;
            CREATE TABLE trimmed(app BLOB PRIMARY KEY, last_seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE VIEW live AS
                SELECT app, kind, id, key, device, state, revision, seq, \(iso("next_at")) AS next_at, next_cause,
                    attributes, content
                FROM entity;
            CREATE VIEW deadlines AS
                SELECT \(iso("next_at")) AS due, next_cause AS cause, app, kind, id, state FROM entity
                WHERE next_at IS NOT NULL ORDER BY entity.next_at;
            """

    /// The answers of batches that are trimmed, or that a backup does without, while retries may still ask for them. The
    /// state has this table once there are such answers. `answers`: packed, see `PackedRow`. `sum`: as above.
    static let answers = """
        CREATE TABLE IF NOT EXISTS answer(
            batch INTEGER PRIMARY KEY, at INTEGER NOT NULL, answers BLOB NOT NULL, sum INTEGER) STRICT;
        """

    /// What a backup has beside the state: the batches that the state does not hold.
    static let backupBatches = batch + events
    /// Takes ``backupBatches`` away again.
    static let dropBackupBatches = "DROP VIEW events; DROP TABLE batch;"

    /// Milliseconds since 1970 as an ISO date. Not through a fraction, which SQLite would round.
    private static func iso(_ column: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%S', \(column) / 1000, 'unixepoch') || printf('.%03dZ', \(column) % 1000)"
    }

    /// Whether a file is one of ours that this version can read.
    ///
    /// Looks at the first bytes alone. Not for a file that this process may have open: closing it would give up the
    /// locks that SQLite has on it.
    static func checkHeader(of path: String) throws(StoreError) {
        let bytes: [UInt8]
        do { bytes = try FileSystem.read(path, upTo: headerBytes) } catch { throw StoreError(error) }
        try checkHeader(bytes, of: path)
    }

    /// How many bytes say what a file is.
    static let headerBytes = 100

    /// The same of its first bytes.
    static func checkHeader(_ bytes: [UInt8], of path: String) throws(StoreError) {
        guard !bytes.isEmpty else { throw .notADatabase(file: path, reason: "it is empty") }
        guard bytes.count == headerBytes else {
            throw .notADatabase(file: path, reason: "it has only \(bytes.count) bytes")
        }
        guard bytes.starts(with: Array("SQLite format 3\u{0}".utf8)) else {
            throw .notADatabase(file: path, reason: "it does not begin like one")
        }
        let version = integer(bytes, at: 60)
        let application = Int32(bitPattern: integer(bytes, at: 68))
        guard application == applicationID else { throw .foreign(file: path, applicationID: application) }
        guard version <= Self.version else {
            throw .newerSchema(file: path, found: Int(version), known: Self.version)
        }
        guard version >= 1 else { throw .damaged(file: path, reason: "it has no schema version") }
    }

    private static func integer(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Brings a file of an older version up to the present one.
    static func migrate(_ database: Database) throws(SQLiteError) {
        guard let found = try database.integer("PRAGMA user_version"), found < version else { return }
        try database.transaction { () throws(SQLiteError) in
            for migration in migrations.dropFirst(max(0, Int(found) - 1)) { try database.execute(migration) }
            try database.execute("PRAGMA user_version = \(version)")
        }
    }
}
