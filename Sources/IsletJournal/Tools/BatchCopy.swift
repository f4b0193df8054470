/// Copies rows of batches from one file into another.
struct BatchCopy {
    static let columns: Int32 = 12
    static let insert = "INSERT INTO batch VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"

    /// Those with bytes: app, facts, answers, body, recovery. The others are integers.
    private static let columnsWithBytes: Set<Int32> = [2, 8, 9, 10, 11]

    /// Of all rows that were copied: a log has its own checksums, but a backup, which has no log, has none.
    private(set) var sum = RowChecksum()

    /// - Parameter rows: From ``SegmentReader/rows(from:through:)``.
    mutating func copy(_ rows: Statement, into target: Database) throws(SQLiteError) {
        let insert = try target.prepare(Self.insert)
        while try rows.step() {
            for column in 0..<Self.columns {
                try insert.bind(column: column, of: rows, at: column + 1)
                if Self.columnsWithBytes.contains(column) {
                    // The statement stays on its row until the next step.
                    unsafe sum.add(rows.bytes(column))
                } else {
                    sum.add(rows.integer(column))
                }
            }
            try insert.run()
        }
    }
}
