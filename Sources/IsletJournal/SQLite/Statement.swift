import CSQLite

/// A prepared statement.
///
/// Unsafe pointers: bytes are bound where they lie, without a copy, so they must stay there until the next ``reset()``,
/// and a column's bytes are the database's and last until the next ``step()`` or ``reset()``.
@safe
final class Statement {
    /// Prepared from `init` to `deinit`.
    private let handle: OpaquePointer
    /// Keeps the connection open, and has the words for errors.
    private let database: Database

    init(handle: OpaquePointer, database: Database) {
        unsafe self.handle = handle
        self.database = database
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// Goes to the next row; false: there is none.
    @inline(__always)
    func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw database.failure(code)
    }

    /// Makes it ready to run again. Errors of the last run were thrown by ``step()``.
    func reset() {
        _ = unsafe sqlite3_reset(handle)
    }

    /// Runs it, whatever rows it gives, and makes it ready again.
    func run() throws(SQLiteError) {
        defer { reset() }
        while try step() {}
    }

    /// Lets go of everything that is bound.
    func clearBindings() {
        _ = unsafe sqlite3_clear_bindings(handle)
    }

    // A wrong index or a statement in use is our own bug; nothing else can fail but memory, which ends the process
    // anyway.

    @inline(__always)
    func bind(_ value: Int64, at index: Int32) {
        let code = unsafe sqlite3_bind_int64(handle, index, value)
        precondition(code == SQLITE_OK, "binding \(index): \(code)")
    }

    /// Keeps all 64 bits: what SQLite shows of the upper half is negative.
    @inline(__always)
    func bind(_ value: UInt64, at index: Int32) {
        bind(Int64(bitPattern: value), at: index)
    }

    @inline(__always)
    func bindNull(at index: Int32) {
        let code = unsafe sqlite3_bind_null(handle, index)
        precondition(code == SQLITE_OK, "binding \(index): \(code)")
    }

    /// Binds text in UTF-8 that stays where it is.
    @unsafe @inline(__always)
    func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        let code = unsafe csqlite_bind_text(handle, index, bytes.baseAddress, UInt64(bytes.count))
        precondition(code == SQLITE_OK, "binding \(index): \(code)")
    }

    /// Binds bytes that stay where they are.
    @unsafe @inline(__always)
    func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        let code = unsafe csqlite_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
        precondition(code == SQLITE_OK, "binding \(index): \(code)")
    }

    /// Binds a copy of another statement's column, whatever it is.
    func bind(column: Int32, of other: Statement, at index: Int32) throws(SQLiteError) {
        let code = unsafe sqlite3_bind_value(handle, index, sqlite3_column_value(other.handle, column))
        guard code == SQLITE_OK else { throw database.failure(code) }
    }

    func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    @inline(__always)
    func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    @inline(__always)
    func unsigned(_ column: Int32) -> UInt64 {
        UInt64(bitPattern: integer(column))
    }

    /// A column's bytes, of text as well; NULL has none.
    @unsafe @inline(__always)
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        // In this order: the first call converts where it must, the second counts what it made.
        let start = unsafe sqlite3_column_blob(handle, column)
        let count = unsafe sqlite3_column_bytes(handle, column)
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
    }

    /// A copy of a column's bytes.
    func array(_ column: Int32) -> [UInt8] {
        unsafe [UInt8](bytes(column))
    }

    /// A copy of a column's text, repaired where it is no UTF-8.
    func text(_ column: Int32) -> String {
        unsafe String(decoding: bytes(column), as: UTF8.self)
    }
}

extension Statement {
    /// Lends a column's bytes.
    @inline(__always)
    func withSpan<Result>(_ column: Int32, _ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        // The statement stays on its row while `body` runs.
        try unsafe body(bytes(column).bindMemory(to: UInt8.self).span)
    }

    /// Lends two columns' bytes.
    @inline(__always)
    func withSpans<Result>(
        _ first: Int32, _ second: Int32, _ body: (Span<UInt8>, Span<UInt8>) throws -> Result
    ) rethrows -> Result {
        try withSpan(first) { one in try withSpan(second) { two in try body(one, two) } }
    }
}
