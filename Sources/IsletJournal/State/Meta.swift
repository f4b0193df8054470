/// A file's table of single values, as text. Beside each stands a sum of it, since a database's pages have none.
struct Meta {
    private var values: [String: String] = [:]

    /// What the key of a value's sum begins with. Files of the first days have none.
    private static let sumPrefix = "sum:"

    /// - Throws: `corrupt` where a value is not as it was written.
    init(_ database: Database) throws(SQLiteError) {
        let rows = try database.prepare("SELECT key, value FROM meta")
        var sums: [String: String] = [:]
        while try rows.step() {
            let (key, value) = (rows.text(0), rows.text(1))
            if key.hasPrefix(Self.sumPrefix) {
                sums[String(key.dropFirst(Self.sumPrefix.count))] = value
            } else {
                values[key] = value
            }
        }
        for (key, sum) in sums where values[key].map({ Self.sum(of: key, $0) }) != sum {
            throw .corrupt("its value '\(key)' is not as it was written")
        }
    }

    subscript(key: String) -> String? { values[key] }

    /// Writes one. SQLite keeps integers as integers.
    static func set(_ key: String, to value: String, in database: Database) throws(SQLiteError) {
        try set(key, to: value, as: quoted(value), in: database)
    }

    static func set(_ key: String, to value: UInt64, in database: Database) throws(SQLiteError) {
        try set(key, to: Int64(bitPattern: value), in: database)
    }

    static func set(_ key: String, to value: Int64, in database: Database) throws(SQLiteError) {
        try set(key, to: String(value), as: String(value), in: database)
    }

    static func remove(_ key: String, in database: Database) throws(SQLiteError) {
        try database.execute("DELETE FROM meta WHERE key IN (\(quoted(key)), \(quoted(sumPrefix + key)))")
    }

    private static func set(
        _ key: String, to value: String, as literal: String, in database: Database
    ) throws(SQLiteError) {
        try database.execute(
            """
            INSERT OR REPLACE INTO meta VALUES(\(quoted(key)), \(literal)),
                (\(quoted(sumPrefix + key)), \(quoted(sum(of: key, value))))
            """)
    }

    /// Of the key as well, so that a value does not stand for another one.
    private static func sum(of key: String, _ value: String) -> String {
        var sum = RowChecksum()
        for text in [key, value] {
            var text = text
            // Both are in UTF-8, which lies there for the time of the call.
            text.withUTF8 { unsafe sum.add(UnsafeRawBufferPointer($0)) }
        }
        return String(sum.value, radix: 16)
    }
}
