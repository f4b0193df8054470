/// The answers that outlive their segments: what a retry may still ask for stands in the state's file, or in a backup,
/// once its batch is trimmed or left out.
struct KeptAnswers {
    private let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// Whether there is a table of them.
    private var exist: Bool {
        get throws(SQLiteError) {
            try database.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'answer'") == 1
        }
    }

    /// - Parameter rows: From ``SegmentReader/answers(from:through:)``.
    func add(_ rows: Statement) throws(SQLiteError) {
        guard try rows.step() else { return }
        try database.execute(Schema.answers)
        let insert = try database.prepare("INSERT OR REPLACE INTO answer VALUES(?,?,?,?)")
        repeat {
            for column: Int32 in 0...2 { try insert.bind(column: column, of: rows, at: column + 1) }
            insert.bind(sum(of: rows), at: 4)
            try insert.run()
        } while try rows.step()
    }

    /// Removes the oldest of those that nobody can ask for any more, about ``bytesAtOnce`` of them.
    ///
    /// - Returns: Whether there may be more.
    func removeOldest(before batch: UInt64) throws(SQLiteError) -> Bool {
        guard try exist else { return false }
        let rows = try database.prepare("SELECT batch, length(answers) FROM answer WHERE batch < ? ORDER BY batch")
        rows.bind(batch, at: 1)
        var last: UInt64?
        var bytes = 0
        while bytes < Self.bytesAtOnce, try rows.step() {
            last = rows.unsigned(0)
            bytes += Int(rows.integer(1)) + Self.rowBytes
        }
        rows.reset()
        guard let last else { return false }
        try database.execute("DELETE FROM answer WHERE batch <= \(last)")
        return bytes >= Self.bytesAtOnce
    }

    private static let bytesAtOnce = 256 << 10
    /// What a row takes beside its answers.
    private static let rowBytes = 32

    /// In their order: those of batches before one, closed at or after a domain time.
    func forEach(
        before end: UInt64 = UInt64(Int64.max), since: Int64 = .min,
        _ visit: (_ batch: UInt64, _ at: Int64, _ answers: Span<UInt8>) throws -> Void
    ) throws {
        guard try exist else { return }
        let rows = try database.prepare(
            "SELECT batch, at, answers, sum FROM answer WHERE batch < ? AND at >= ? ORDER BY batch")
        rows.bind(end, at: 1)
        rows.bind(since, at: 2)
        while try rows.step() {
            guard sum(of: rows) == rows.unsigned(3) else {
                throw SQLiteError.corrupt("the answers of batch \(rows.unsigned(0)) are not as they were written")
            }
            try rows.withSpan(2) { try visit(rows.unsigned(0), rows.integer(1), $0) }
        }
    }

    private func sum(of rows: Statement) -> UInt64 {
        var sum = RowChecksum()
        sum.add(rows.unsigned(0))
        sum.add(rows.integer(1))
        // The statement stays on its row meanwhile.
        unsafe sum.add(rows.bytes(2))
        return sum.value
    }
}
