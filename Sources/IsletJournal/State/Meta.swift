/// A file's table of single values, as text.
struct Meta {
    private var values: [String: String] = [:]

    init(_ database: Database) throws(SQLiteError) {
        let rows = try database.prepare("SELECT key, value FROM meta")
        while try rows.step() { values[rows.text(0)] = rows.text(1) }
    }

    subscript(key: String) -> String? { values[key] }

    /// Writes one. SQLite keeps integers as integers.
    static func set(_ key: String, to value: String, in database: Database) throws(SQLiteError) {
        try database.execute("INSERT OR REPLACE INTO meta VALUES(\(quoted(key)), \(quoted(value)))")
    }

    static func set(_ key: String, to value: UInt64, in database: Database) throws(SQLiteError) {
        try database.execute("INSERT OR REPLACE INTO meta VALUES(\(quoted(key)), \(Int64(bitPattern: value)))")
    }

    static func set(_ key: String, to value: Int64, in database: Database) throws(SQLiteError) {
        try database.execute("INSERT OR REPLACE INTO meta VALUES(\(quoted(key)), \(value))")
    }
}
