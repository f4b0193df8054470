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
        /// Every frame is good and the last one commits.
        case complete
        /// It ends within a transaction, which never was committed.
        case torn
        /// Something that was committed is gone.
        case damaged(reason: String)
    }

    var verdict = Verdict.empty
    /// Bytes of the file.
    var bytes = 0
    /// Good frames up to the last commit, and where that ends.
    var frames = 0
    var validEnd = 0
    /// How many transactions they are.
    var commits = 0
    /// The first bad byte's frame; the file's end if there is none.
    var badOffset = 0

    /// What is wrong with a torn log that is not the last one.
    static let tornBeforeOthers = "a frame is wrong, and later segments are there"

    static let headerBytes = 32
    static let frameHeaderBytes = 24
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

        var header = [UInt8](repeating: 0, count: headerBytes)
        guard try read(descriptor, path, &header, at: 0) == headerBytes else {
            scan.verdict = .torn
            return scan
        }
        guard let format = LogFormat(header: header) else {
            // The header is synced before anything is written behind it, in every mode.
            scan.verdict = size > headerBytes ? .damaged(reason: "the log's header is wrong") : .torn
            return scan
        }
        scan.validEnd = headerBytes
        scan.badOffset = headerBytes
        try scan.readFrames(descriptor, path, format, oneUnsynced: oneUnsynced)
        return scan
    }

    private mutating func readFrames(
        _ descriptor: Int32, _ path: String, _ format: LogFormat, oneUnsynced: Bool
    ) throws(SystemError) {
        let frameBytes = format.pageSize + Self.frameHeaderBytes
        var buffer = [UInt8](repeating: 0, count: max(1, Self.readBytes / frameBytes) * frameBytes)
        var checksum = format.checksum
        var good = 0
        var isGood = true
        var commitBehind: UInt32?
        var offset = Self.headerBytes
        while true {
            // Not beyond the end as it was: what a running service appends meanwhile may be there in part.
            let count = min(try Self.read(descriptor, path, &buffer, at: offset), bytes - offset)
            for start in stride(from: 0, to: count - frameBytes + 1, by: frameBytes) {
                let frame = unsafe buffer.span.bytes.extracting(start..<(start + frameBytes))
                let header = LogFormat.FrameHeader(frame, format)
                if isGood, header.hasSalts, format.advance(&checksum, over: frame) == header.checksum, header.page > 0 {
                    good += 1
                    badOffset = offset + start + frameBytes
                    if header.commitSize > 0 {
                        frames = good
                        commits += 1
                        validEnd = badOffset
                    }
                    continue
                }
                isGood = false
                guard header.hasSalts else { continue }
                // Frames may be repeated up to a sector's end; such a one is the same page again.
                if let page = commitBehind, page != header.page || header.commitSize == 0, oneUnsynced {
                    verdict = .damaged(reason: "a frame is wrong that others follow")
                    return
                }
                if header.commitSize > 0 { commitBehind = header.page }
            }
            offset += count
            if count < buffer.count { break }
        }
        if bytes == Self.headerBytes {
            verdict = .empty
        } else {
            verdict = validEnd == bytes ? .complete : .torn
        }
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
