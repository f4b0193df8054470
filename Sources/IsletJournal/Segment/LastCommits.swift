import CSQLite
import Glibc

/// What was committed without a sync (`sync=normal`), and is not known to be on the disk.
///
/// It pushes that there on a thread that commits nothing, by a descriptor of its own: no commit waits for it.
struct LastCommits {
    private let names: FolderNames
    private let segments: SegmentDirectory
    /// The last batch that is on the disk, with all before it.
    private var syncedThrough: UInt64

    /// - Parameter syncedThrough: The last batch that the folder had when it was opened, which syncs it.
    init(names: FolderNames, segments: SegmentDirectory, syncedThrough: UInt64) {
        self.names = names
        self.segments = segments
        self.syncedThrough = syncedThrough
    }

    /// Everything that was committed before this is on the disk when it returns: in the last segment, because a full one was
    /// synced before the next began.
    mutating func sync() throws(SQLiteError) {
        let (number, batch) = segments.lastCommitted
        guard batch > syncedThrough else { return }
        // SQLite has no locks on a log, which would go with this descriptor.
        let path = FolderNames.log(of: names.segment(number))
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "\(path) cannot be opened", lacking: code)
        }
        defer { close(descriptor) }
        guard fdatasync(descriptor) == 0 else {
            throw .syncFailed("\(path): \(SystemError.text(of: errno))")
        }
        syncedThrough = batch
    }
}
