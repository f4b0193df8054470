import Glibc

/// Room that a segment's log has ahead: zeros behind its end, which commits write over.
///
/// A file that grows takes a file system's own commit with each sync, for the file's new length and blocks: on ext4 a sync
/// of 24 KB takes 0.22 to 0.27 ms then and 67 to 105 µs of the processors, and one of blocks that were written before 0.13
/// to 0.14 ms and 43 to 55 µs. It costs the disk the zeros, so commits that are large, of which their own bytes take the
/// time, have none.
///
/// SQLite stops reading a log where a frame's page is 0, so zeros end it as the file's end does. Nothing is promised of
/// them: the sync of the first commit that needs the file's new length makes it durable, as for any other length.
///
/// This is advice, as ``CachedLog`` is: without room a log grows with each commit.
struct LogRoom: ~Copyable {
    /// Room is as much as the log has, but no less and no more.
    static let leastBytes = 16 << 10
    static let mostBytes = 1 << 20
    /// A commit of more makes none: it would be quicker by a third, and twice the bytes.
    static let largeCommitBytes = 384 << 10

    private let path: String
    /// Where room ends at the latest, so that a log that is full has none.
    private let limit: Int
    /// Of the log alone, which SQLite does not lock.
    private var descriptor: Int32 = -1
    /// The file's size, where room was made for the last time.
    private var end = 0
    /// Bytes of the log when it was asked for the last time.
    private var usedBefore = 0
    private var isOff = false

    /// - Parameters:
    ///   - path: Of the log, which may not be there yet.
    ///   - limit: In bytes of the log.
    init(path: String, limit: Int) {
        self.path = path
        self.limit = limit
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Makes room where less than half of it is left. Only within a transaction that writes: another process may append
    /// to the log at any other time.
    ///
    /// - Parameter used: Bytes of the log up to its last commit.
    mutating func extend(behind used: Int) {
        defer { usedBefore = used }
        guard used - usedBefore <= Self.largeCommitBytes else { return }
        let step = min(max(used, Self.leastBytes), Self.mostBytes)
        guard !isOff, used > 0, used < limit, end < limit, end - used < step / 2 else { return }
        if descriptor < 0 { descriptor = unsafe open(path, O_RDWR | O_CLOEXEC) }
        let size = descriptor < 0 ? -1 : Int(lseek(descriptor, 0, SEEK_END))
        // What cannot be asked or written is not tried again: the commit itself says what is wrong.
        guard size >= used else { return isOff = true }
        end = size
        let goal = min(used + step, limit)
        while end < goal {
            let count = unsafe Self.zeros.withUnsafeBytes { zeros in
                unsafe pwrite(descriptor, zeros.baseAddress, min(zeros.count, goal - end), end)
            }
            guard count > 0 else { return isOff = true }
            end += count
        }
    }

    var wasMade: Bool { descriptor >= 0 }

    /// Cuts off what room is left, where some was made. Only within a transaction that writes.
    mutating func giveBack(behind used: Int) {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var piece = [UInt8](repeating: 0, count: Self.zeros.count)
        var offset = used
        while offset < size {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, offset) }
            // Another process may have committed something since; and what cannot be read is not cut off.
            guard count > 0, piece[..<count].allSatisfy({ $0 == 0 }) else { return }
            offset += count
        }
        // Where it fails the room stays, and whoever opens the folder next cuts it off.
        if used < size { ftruncate(descriptor, used) }
    }

    private static let zeros = [UInt8](repeating: 0, count: 128 << 10)
}
