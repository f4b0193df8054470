/// A connection that reads a segment, beside the one that writes it if need be.
///
/// Used by one thread.
final class SegmentReader {
    let path: String
    let number: Int
    private let database: Database

    /// How long another process may hold the lock while it puts the log's index together.
    private static let lockMilliseconds: Int32 = 5_000

    init(path: String, number: Int) throws(SQLiteError) {
        self.path = path
        self.number = number
        database = try Database(path: path, mode: .readOnly)
        database.waitForLocks(milliseconds: Self.lockMilliseconds)
    }

    /// Makes SQLite index the log, if no connection has made it yet.
    func indexLog() throws(SQLiteError) { _ = try database.prepare("SELECT 1 FROM batch") }

    /// Keeps little of the file in memory: for one of many that read a row now and then. Makes SQLite index the log.
    func keepLittle() throws(SQLiteError) { try database.execute("PRAGMA cache_size = -\(Self.littleKiB)") }

    private static let littleKiB = 256

    /// More than any batch's number can be.
    static let maximumBatch: UInt64 = 1 << 42

    /// The lowest id that a batch's rows can have.
    static func rowID(of batch: UInt64) -> UInt64 { batch << SegmentWriter.rowBits }

    /// What is in it.
    ///
    /// - Parameter firstBatch: The batch that it would begin with if it has none.
    func info(firstBatch: UInt64) throws(SQLiteError) -> SegmentInfo {
        var info = SegmentInfo(number: number, firstBatch: firstBatch, lastBatch: firstBatch - 1)
        info.bytes = FolderNames.bytes(of: path)
        let first = try database.prepare("SELECT number, at FROM batch ORDER BY id LIMIT 1")
        guard try first.step() else { return info }
        (info.firstBatch, info.firstAt) = (first.unsigned(0), first.integer(1))
        first.reset()
        let last = try database.prepare("SELECT number, at FROM batch ORDER BY id DESC LIMIT 1")
        guard try last.step() else { return info }
        (info.lastBatch, info.lastAt) = (last.unsigned(0), last.integer(1))
        last.reset()
        let apps = try database.prepare(
            "SELECT app, min(first_seq), max(last_seq) FROM batch WHERE app IS NOT NULL GROUP BY app")
        while try apps.step() {
            info.apps[apps.array(0)] = SeqRange(first: apps.unsigned(1), last: apps.unsigned(2))
        }
        return info
    }

    /// The rows of batches from that one on: number, app, first_seq, last_seq, at, entities, digest, facts, body,
    /// recovery.
    func batches(from number: UInt64) throws(SQLiteError) -> Statement {
        let rows = try database.prepare(
            """
            SELECT number, app, first_seq, last_seq, at, entities, digest, facts, body, recovery FROM batch
            WHERE id >= ? ORDER BY id
            """)
        rows.bind(Self.rowID(of: number), at: 1)
        return rows
    }

    /// Whole rows of the batches in a range, in the order of the table's columns.
    func rows(from first: UInt64, through last: UInt64) throws(SQLiteError) -> Statement {
        try Self.rows(of: database, from: first, through: last)
    }

    /// Whole rows out of a file's table of batches.
    static func rows(of database: Database, from first: UInt64, through last: UInt64) throws(SQLiteError) -> Statement {
        let rows = try database.prepare("SELECT * FROM batch WHERE id >= ? AND id < ? ORDER BY id")
        rows.bind(rowID(of: first), at: 1)
        rows.bind(rowID(of: last + 1), at: 2)
        return rows
    }

    /// The answers of batches that were closed at or after a domain time: number, at, answers.
    func answers(since: Int64) throws(SQLiteError) -> Statement {
        let rows = try database.prepare(
            "SELECT number, at, answers FROM batch WHERE at >= ? AND answers IS NOT NULL ORDER BY id")
        rows.bind(since, at: 1)
        return rows
    }

    /// The answers of the batches in a range: number, at, answers.
    func answers(from first: UInt64, through last: UInt64) throws(SQLiteError) -> Statement {
        let rows = try database.prepare(
            "SELECT number, at, answers FROM batch WHERE id >= ? AND id < ? AND answers IS NOT NULL ORDER BY id")
        rows.bind(Self.rowID(of: first), at: 1)
        rows.bind(Self.rowID(of: last + 1), at: 2)
        return rows
    }

    /// An app's rows from the one that has a sequence number on: first_seq, last_seq, body, recovery.
    private lazy var streamRows: Result<Statement, SQLiteError> = Result { () throws(SQLiteError) in
        try database.prepare(
            """
            SELECT first_seq, last_seq, body, recovery FROM batch WHERE app = ?1 AND first_seq >=
                coalesce((SELECT max(first_seq) FROM batch WHERE app = ?1 AND first_seq <= ?2), ?2)
            ORDER BY first_seq
            """, isKept: true)
    }

    /// Calls `visit` with an app's rows from the one that has a sequence number on, as long as it wants more.
    func forEachRow(
        of app: [UInt8], from seq: UInt64,
        _ visit: (_ range: SeqRange, _ body: Span<UInt8>, _ recovery: Span<UInt8>) throws -> Bool
    ) throws {
        let rows = try streamRows.get()
        defer { rows.reset() }
        rows.bind(seq, at: 2)
        try unsafe app.withUnsafeBytes { name in
            // The name stands still within this closure, in which the statement is used and reset.
            unsafe rows.bindText(name, at: 1)
            defer { rows.reset() }
            while try rows.step() {
                let range = SeqRange(first: rows.unsigned(0), last: rows.unsigned(1))
                guard try rows.withSpans(2, 3, { try visit(range, $0, $1) }) else { return }
            }
        }
    }

    /// Checks the file's pages and indexes; nil: they are in order.
    func quickCheck() throws(SQLiteError) -> String? {
        try Self.quickCheck(database)
    }

    static func quickCheck(_ database: Database) throws(SQLiteError) -> String? {
        let text = try database.text("PRAGMA quick_check(1)") ?? ""
        return text == "ok" ? nil : text
    }

    /// How many events and apps it has.
    func counts() throws(SQLiteError) -> (batches: Int, events: Int, apps: Int) {
        let row = try database.prepare(
            """
            SELECT (SELECT count(*) FROM (SELECT DISTINCT number FROM batch)),
                coalesce(sum(last_seq - first_seq + 1), 0), count(DISTINCT app) FROM batch WHERE app IS NOT NULL
            """)
        guard try row.step() else { return (0, 0, 0) }
        return (Int(row.integer(0)), Int(row.integer(1)), Int(row.integer(2)))
    }

    /// Every row behind the one with that id, with what a check wants: id, number, app, first_seq, last_seq, at, facts, answers, body, recovery,
    /// the elements of the body's array, -1 where it is no JSON, and whether it ends its app's events of the batch.
    func rowsToCheck(after id: Int64 = .min) throws(SQLiteError) -> Statement {
        let rows = try database.prepare(
            """
            SELECT id, number, app, first_seq, last_seq, at, facts, answers, body, recovery,
                CASE WHEN json_valid(body) THEN json_array_length(body) ELSE -1 END,
                entities IS NOT NULL AND digest IS NOT NULL
            FROM batch WHERE id > ? ORDER BY id
            """)
        rows.bind(id, at: 1)
        return rows
    }
}
