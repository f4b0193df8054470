import CSQLite

/// The library that is linked.
package enum SQLiteVersion {
    /// The version of SQLite at run time, such as `3.46.1`.
    package static var text: String {
        // The text stands in the library itself, and has an end.
        unsafe String(cString: sqlite3_libversion())
    }
}
