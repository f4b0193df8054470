internal import CCombiningVFS
import CSQLite

/// One connection to one file.
///
/// A connection and its statements are used by one thread at a time, without SQLite's own locks; it may be handed over.
/// Its users keep that rule, each where it says that it is `@unchecked Sendable`.
@safe
final class Database {
    enum Mode {
        case readOnly
        /// The file must be there.
        case readWrite
        /// The same; what is appended to its write-ahead log is written in large pieces (see `combining_vfs.h`): a commit of
        /// 512 events makes 4 calls of the system instead of 198, and takes 27 % less CPU. For connections that spill no pages
        /// before a commit: where the worthless frames of one that was taken back cannot be written, the next would fail.
        case append
        /// The file must not be there.
        case create
        /// Reads the file alone as it stands, without its write-ahead log and without locks.
        case immutable
    }

    /// Open from `init` to `deinit`.
    private let handle: OpaquePointer
    let path: String
    /// Pages in the write-ahead log after the last commit, where ``countLogPages()`` was called. The size of the log's file
    /// does not tell: it stays when the log begins again.
    private(set) var logPages = 0

    /// Opens the file.
    init(path: String, mode: Mode) throws(SQLiteError) {
        islet_watch_system_calls()
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var name = path
        // SQLite's layer over the system; nil: its default one.
        var layer: String?
        switch mode {
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .append:
            flags |= SQLITE_OPEN_READWRITE
            layer = ISLET_COMBINING_VFS
            let code = islet_register_combining_vfs()
            guard code == SQLITE_OK else { throw SQLiteError(code: code, message: "no layer for \(path)") }
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            // Behind two slashes SQLite reads the name of a host: an absolute path has the one that is none before it.
            name = (path.hasPrefix("/") ? "file://" : "file:") + Self.escaped(path) + "?immutable=1"
        }
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(name, &opened, flags, layer)
        guard let database = unsafe opened else { throw .other(code: code, "no memory to open \(path)") }
        guard code == SQLITE_OK else {
            let message = unsafe String(cString: sqlite3_errmsg(database))
            let lacking = islet_take_lack()
            unsafe sqlite3_close_v2(database)
            throw SQLiteError(code: code, message: "\(path): \(message)", lacking: lacking)
        }
        // Newer ones of SQLite take a descriptor of this process that is left instead of one that it cannot have.
        if flags & SQLITE_OPEN_READWRITE != 0, unsafe sqlite3_db_readonly(database, "main") == 1 {
            let lacking = islet_take_lack()
            unsafe sqlite3_close_v2(database)
            let message =
                "\(path): it cannot be opened for writing" + (lacking == 0 ? ": check its owner and mode" : "")
            throw SQLiteError(code: SQLITE_CANTOPEN, message: message, lacking: lacking)
        }
        unsafe csqlite_no_checkpoint_on_close(database)
        unsafe handle = database
        self.path = path
    }

    deinit {
        // v2: a statement that lives longer keeps the connection until it goes as well.
        unsafe sqlite3_close_v2(handle)
    }

    /// Runs statements that give no rows, or whose rows nobody wants.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Prepares one statement.
    ///
    /// - Parameter isKept: whether it is used often and for long.
    func prepare(_ sql: String, isKept: Bool = false) throws(SQLiteError) -> Statement {
        var prepared: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &prepared, nil)
        guard code == SQLITE_OK else { throw failure(code) }
        guard let statement = unsafe prepared else { preconditionFailure("an empty statement: \(sql)") }
        return unsafe Statement(handle: statement, database: self)
    }

    /// The first column of the first row; nil where there is no row or it is NULL.
    func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return statement.integer(0)
    }

    /// The first column of the first row as text; nil where there is no row or it is NULL.
    func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try prepare(sql)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return statement.text(0)
    }

    /// How long a statement waits for another process's lock before it fails.
    func waitForLocks(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Keeps ``logPages`` from now on. It takes the place of SQLite's own checkpoints.
    func countLogPages() {
        // The connection does not outlive this object, and commits on its user's thread alone.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages)
                }
                return SQLITE_OK
            }, context)
    }

    /// Runs `body`, whose statements fail soon after `isOver` has become true.
    func interruptible<Result>(
        when isOver: @escaping () -> Bool, _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        let question = Question(isOver)
        // It lives until the handler is taken away again.
        let context = unsafe Unmanaged.passUnretained(question).toOpaque()
        unsafe sqlite3_progress_handler(
            handle, Self.stepsBetweenQuestions,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Question>.fromOpaque(context).takeUnretainedValue().isOver() ? 1 : 0
            }, context)
        defer {
            unsafe sqlite3_progress_handler(handle, 0, nil, nil)
            withExtendedLifetime(question) {}
        }
        return try body()
    }

    private final class Question {
        let isOver: () -> Bool

        init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }
    }

    /// Instructions of SQLite's machine, a fraction of a millisecond.
    private static let stepsBetweenQuestions: Int32 = 4_096

    /// Whether a transaction is open.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Runs `body` in a transaction, and takes everything back if it throws.
    func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Takes the open transaction back, if there is one: some errors have done so already.
    func rollBack() {
        if isInTransaction { _ = unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    /// The error of a result code, with SQLite's words for the last one.
    func failure(_ code: Int32) -> SQLiteError {
        SQLiteError(
            code: code, message: unsafe "\(path): \(String(cString: sqlite3_errmsg(handle)))",
            lacking: islet_take_lack())
    }

    /// A path for a URI: SQLite reads `%`, `?` and `#` in one.
    static func escaped(_ path: String) -> String {
        var escaped = ""
        for character in path {
            switch character {
            case "%": escaped += "%25"
            case "?": escaped += "%3f"
            case "#": escaped += "%23"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

/// A text in SQL.
func quoted(_ text: String) -> String {
    var quoted = "'"
    for character in text {
        quoted.append(character)
        if character == "'" { quoted.append(character) }
    }
    return quoted + "'"
}
