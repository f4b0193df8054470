/// Makes database files so that a final name always has its content.
enum DatabaseFile {
    /// Makes a database in write-ahead mode: under another name first, synced, then renamed.
    ///
    /// - Parameters:
    ///   - givesBackRoom: Whether pages that are free can be taken off the file (`incremental_vacuum`).
    ///   - fill: Anything else that belongs into it, before it is synced.
    static func create(
        path: String, schema: String, meta: [String: String], givesBackRoom: Bool = false,
        fill: (Database) throws(SQLiteError) -> Void = { (_) throws(SQLiteError) in }
    ) throws(StoreError) {
        let unfinished = FolderNames.unfinished(path)
        do throws(SystemError) { try FolderNames.removeDatabase(unfinished) } catch { throw StoreError(error) }
        do throws(SQLiteError) {
            let database = try Database(path: unfinished, mode: .create)
            try database.execute("""
                PRAGMA page_size = 4096; PRAGMA auto_vacuum = \(givesBackRoom ? "INCREMENTAL" : "NONE"); PRAGMA journal_mode = DELETE;
                PRAGMA synchronous = FULL
                """)
            try database.transaction { () throws(SQLiteError) in
                try database.execute(schema)
                for (key, value) in meta.sorted(by: { $0.key < $1.key }) { try Meta.set(key, to: value, in: database) }
            }
            try fill(database)
            // This last change goes through a rollback journal as well: the file is complete without a log.
            try database.execute("PRAGMA journal_mode = WAL")
        } catch {
            throw StoreError(error, file: path)
        }
        try finish(path)
    }

    /// Gives a file that was made under its unfinished name the final one, durably.
    static func finish(_ path: String) throws(StoreError) {
        let unfinished = FolderNames.unfinished(path)
        guard (FileSystem.size(of: FolderNames.log(of: unfinished)) ?? 0) == 0 else {
            preconditionFailure("a file was finished while its log had something")
        }
        do throws(SystemError) {
            try FileSystem.remove(FolderNames.log(of: unfinished))
            try FileSystem.remove(FolderNames.index(of: unfinished))
            try FileSystem.sync(unfinished)
            // A log of the file that was here before would be taken for this one's. It must be gone for good.
            let old = FolderNames.beside(path).filter(FileSystem.exists)
            for file in old { try FileSystem.remove(file) }
            if !old.isEmpty { try FileSystem.sync(FileSystem.directory(of: path)) }
            try FileSystem.rename(unfinished, to: path)
            try FileSystem.sync(FileSystem.directory(of: path))
        } catch {
            throw StoreError(error)
        }
    }
}
