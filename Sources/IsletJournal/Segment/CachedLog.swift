import Glibc

/// How much of a segment's log the system keeps in memory: its end, and no more.
///
/// Hardly anybody reads what was written a while ago, and the newest events are in memory besides. Left alone the system
/// keeps all of it, and must find new pages for each commit, which on a virtual machine may have to come from its host:
/// the committer took 3.6 µs an update instead of 1.4 there, a million dismissals 4.4 s instead of 3.5. Given back, the
/// pages of a while ago are those of the next commits. It also leaves the memory of a container to others.
///
/// A log that is full keeps its end until the next one is full: whoever fell behind finds that much in memory.
///
/// This is advice: where it cannot be given, as for files that are not the system's, everything else goes on.
struct CachedLog: ~Copyable {
    /// Bytes that stay at the end, for those who read what has just left the service's own memory.
    static let keptBytes = 8 << 20
    /// So many are given back at a time, from a multiple of it on: 60 µs of a commit in 1,700 updates.
    static let stepBytes = 1 << 20

    private let path: String
    /// Of the log alone, which SQLite does not lock: to close a descriptor of a file gives up all locks of this process.
    private var descriptor: Int32 = -1
    private var givenBack = 0

    /// - Parameter path: Of the log, which may not be there yet.
    init(path: String) { self.path = path }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Gives back what is far from the end and on the disk.
    mutating func keepEnd(of bytes: Int) {
        let end = max(0, bytes - Self.keptBytes) / Self.stepBytes * Self.stepBytes
        guard end > givenBack else { return }
        if descriptor < 0 { descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { return }
        posix_fadvise(descriptor, givenBack, end - givenBack, POSIX_FADV_DONTNEED)
        givenBack = end
    }

    /// Gives back a whole log that is not written any more.
    static func keepNothing(of path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        close(descriptor)
    }
}
