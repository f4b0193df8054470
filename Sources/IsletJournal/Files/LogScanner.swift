import Glibc

/// What is in a write-ahead log, as SQLite would read it, and what lies behind the place where SQLite stops.
///
/// SQLite takes frames as long as their running checksum is right and stops at the last commit before the first bad
/// one, without a word: that is how a transaction that was being written when the power failed goes away. It cannot
/// tell this from a bit that flipped in the middle. This can: with `synchronous=FULL` one transaction at most is not
/// synced, so a bad frame that more than one transaction begins behind is damage.
struct LogScan: Equatable {
    enum Verdict: Equatable {
        /// No log, or one without a frame.
        case empty
        /// Every frame is good and the last one commits; behind it there is nothing but room (``LogRoom``).
        case complete
        /// It ends within a transaction, which never was committed.
        case torn
        /// Something that was committed is gone.
        case damaged(reason: String)

        /// Whether it ends otherwise than with a commit.
        var endsBadly: Bool {
            switch self {
            case .torn, .damaged: true
            case .empty, .complete: false
            }
        }
    }

    var verdict = Verdict.empty
    /// Bytes of the file.
    var bytes = 0
    /// Good frames up to the last commit, and where that ends.
    var frames = 0
    var validEnd = 0
    /// Whether there is anything behind that, be it room.
    var hasRest: Bool { validEnd < bytes }
    /// How many transactions they are.
    var commits = 0
    /// Where the frames that are good end.
    var badOffset = 0

    /// What is wrong with a torn log that is not the last one.
    static let tornBeforeOthers = "a frame is wrong, and later segments are there"

    private static let readBytes = 1 << 20

    /// Reads a log.
    ///
    /// - Parameter oneUnsynced: Whether all transactions but the last were synced before the next began.
    static func scan(_ path: String, oneUnsynced: Bool) throws(SystemError) -> LogScan {
        var scan = LogScan()
        guard let size = FileSystem.size(of: path), size > 0 else { return scan }
        scan.bytes = size
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(operation: "cannot open", path: path, code: errno) }
        defer { close(descriptor) }

        var header = [UInt8](repeating: 0, count: LogFormat.headerBytes)
        guard try read(descriptor, path, &header, at: 0) == LogFormat.headerBytes else {
            scan.verdict = .torn
            return scan
        }
        guard let format = LogFormat(header: header) else {
            // The header is synced before anything is written behind it, in every mode.
            scan.verdict = size > LogFormat.headerBytes ? .damaged(reason: "the log's header is wrong") : .torn
            return scan
        }
        scan.validEnd = LogFormat.headerBytes
        scan.badOffset = LogFormat.headerBytes
        try scan.readFrames(descriptor, path, format, oneUnsynced: oneUnsynced)
        return scan
    }

    /// Where the next frame begins, and what its checksum goes on from.
    private struct Place {
        var offset = LogFormat.headerBytes
        var checksum: LogFormat.Checksum
        var frames = 0
    }

    private mutating func readFrames(
        _ descriptor: Int32, _ path: String, _ format: LogFormat, oneUnsynced: Bool
    ) throws(SystemError) {
        let framesAtOnce = max(1, Self.readBytes / format.frameBytes)
        var buffer = [UInt8](repeating: 0, count: framesAtOnce * format.frameBytes)
        var place = Place(checksum: format.checksum)
        var reached: Int
        var (sawMore, sawMoreBefore) = (false, false)
        repeat {
            reached = place.offset
            sawMoreBefore = sawMore
            sawMore = try readFrames(descriptor, path, format, &buffer, from: &place, oneUnsynced: oneUnsynced)
            // A running service may have written a frame after it was read, and others before they were. So a bad frame
            // is bad only if something was seen behind it before it was read the last time. It ends: each time but one
            // goes further, to the same end.
        } while verdict.endsBadly && (place.offset > reached || sawMore && !sawMoreBefore)
            && place.offset + format.frameBytes <= bytes
        badOffset = place.offset
    }

    /// Reads from a place to the end, and moves the place behind the last good frame.
    ///
    /// - Returns: Whether anything but zeros is behind that.
    private mutating func readFrames(
        _ descriptor: Int32, _ path: String, _ format: LogFormat, _ buffer: inout [UInt8], from place: inout Place,
        oneUnsynced: Bool
    ) throws(SystemError) -> Bool {
        let frameBytes = format.frameBytes
        var isGood = true
        var hasMore = false
        var commitBehind: UInt32?
        var offset = place.offset
        while true {
            // Not beyond the end as it was: what a running service appends meanwhile may be there in part.
            let count = min(try Self.read(descriptor, path, &buffer, at: offset), bytes - offset)
            for start in stride(from: 0, to: count - frameBytes + 1, by: frameBytes) {
                let frame = unsafe buffer.span.bytes.extracting(start..<(start + frameBytes))
                let header = LogFormat.FrameHeader(frame, format)
                if isGood, header.hasSalts, header.page > 0, let sum = format.checksum(place.checksum, header, frame) {
                    place = Place(offset: offset + start + frameBytes, checksum: sum, frames: place.frames + 1)
                    if header.commitSize > 0 {
                        frames = place.frames
                        commits += 1
                        validEnd = place.offset
                    }
                    continue
                }
                isGood = false
                hasMore = hasMore || !Self.isZero(frame)
                guard header.hasSalts else { continue }
                // Frames may be repeated up to a sector's end; such a one is the same page again.
                if let page = commitBehind, page != header.page || header.commitSize == 0, oneUnsynced {
                    verdict = .damaged(reason: "a frame is wrong that others follow")
                    return true
                }
                if header.commitSize > 0 { commitBehind = header.page }
            }
            // A piece of a frame at the end.
            let rest = count % frameBytes
            if rest > 0, !hasMore { hasMore = unsafe !Self.isZero(buffer.span.bytes.extracting(count - rest..<count)) }
            offset += count
            if count < buffer.count { break }
        }
        if bytes == LogFormat.headerBytes {
            verdict = .empty
        } else {
            let endsWithCommit = frames > 0 && validEnd == place.offset && !hasMore
            verdict = endsWithCommit && bytes - validEnd <= LogRoom.mostBytes ? .complete : .torn
        }
        return hasMore
    }

    private static func isZero(_ bytes: RawSpan) -> Bool {
        var bits: UInt8 = 0
        for offset in 0..<bytes.byteCount { bits |= unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
        return bits == 0
    }

    private static func read(
        _ descriptor: Int32, _ path: String, _ buffer: inout [UInt8], at offset: Int
    ) throws(SystemError) -> Int {
        var count = 0
        while count < buffer.count {
            let wanted = buffer.count - count
            let got = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe pread(descriptor, bytes.baseAddress.map { unsafe $0 + count }, wanted, offset + count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw SystemError(operation: "cannot read", path: path, code: errno) }
            if got == 0 { break }
            count += got
        }
        return count
    }
}
