/// Copies rows of batches from one file into another.
enum BatchCopy {
    static let columns: Int32 = 12
    static let insert = "INSERT INTO batch VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"

    /// - Parameter rows: From ``SegmentReader/rows(from:through:)``.
    static func copy(_ rows: Statement, into target: Database) throws(SQLiteError) {
        let insert = try target.prepare(insert)
        while try rows.step() {
            for column in 0..<columns { try insert.bind(column: column, of: rows, at: column + 1) }
            try insert.run()
        }
    }
}
