/// How a write-ahead log is laid out (sqlite.org/fileformat2.html, section 4).
struct LogFormat {
    /// A running checksum: two sums that depend on each other.
    struct Checksum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0
    }

    /// What stands before each page.
    struct FrameHeader {
        var page: UInt32
        /// Pages of the database after the transaction that this frame ends; 0: it ends none.
        var commitSize: UInt32
        /// Whether it belongs to this run of the log, and not to an older one.
        var hasSalts: Bool
        var checksum: Checksum

        init(_ frame: RawSpan, _ format: LogFormat) {
            page = LogFormat.integer(frame, at: 0)
            commitSize = LogFormat.integer(frame, at: 4)
            hasSalts =
                LogFormat.integer(frame, at: 8) == format.salts.0 && LogFormat.integer(frame, at: 12) == format.salts.1
            checksum = Checksum(first: LogFormat.integer(frame, at: 16), second: LogFormat.integer(frame, at: 20))
        }
    }

    static let headerBytes = 32
    static let frameHeaderBytes = 24

    /// Bytes of a log with so many frames; 0 where it has none.
    static func bytes(frames: Int, pageSize: Int) -> Int {
        frames == 0 ? 0 : headerBytes + frames * (frameHeaderBytes + pageSize)
    }

    let pageSize: Int
    var frameBytes: Int { Self.frameHeaderBytes + pageSize }
    let salts: (UInt32, UInt32)
    /// The sum over the log's header, with which the first frame's begins.
    let checksum: Checksum
    /// Whether the words that are summed up have their highest byte first.
    private let isBigEndian: Bool

    /// - Parameter header: The log's first 32 bytes; nil where they do not fit together.
    init?(header: [UInt8]) {
        let bytes = unsafe header.span.bytes
        let magic = Self.integer(bytes, at: 0)
        let page = Int(Self.integer(bytes, at: 8))
        guard magic & ~1 == 0x377f_0682, Self.integer(bytes, at: 4) == 3_007_000 else { return nil }
        guard page >= 512, page <= 65_536, page & (page - 1) == 0 else { return nil }
        pageSize = page
        isBigEndian = magic & 1 == 1
        salts = (Self.integer(bytes, at: 16), Self.integer(bytes, at: 20))
        var sum = Checksum()
        Self.add(bytes.extracting(0..<24), to: &sum, isBigEndian: isBigEndian)
        checksum = sum
        guard sum == Checksum(first: Self.integer(bytes, at: 24), second: Self.integer(bytes, at: 28)) else {
            return nil
        }
    }

    /// The running checksum behind a frame, which is over its first 8 bytes and its page; nil: the frame is not as it was
    /// written.
    func checksum(_ before: Checksum, _ header: FrameHeader, _ frame: RawSpan) -> Checksum? {
        var sum = before
        Self.add(frame.extracting(0..<8), to: &sum, isBigEndian: isBigEndian)
        Self.add(frame.extracting(24..<frame.byteCount), to: &sum, isBigEndian: isBigEndian)
        return sum == header.checksum ? sum : nil
    }

    @inline(__always)
    private static func add(_ bytes: RawSpan, to checksum: inout Checksum, isBigEndian: Bool) {
        var first = checksum.first
        var second = checksum.second
        var offset = 0
        while offset + 8 <= bytes.byteCount {
            var one = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
            var two = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            if isBigEndian {
                one = UInt32(bigEndian: one)
                two = UInt32(bigEndian: two)
            } else {
                one = UInt32(littleEndian: one)
                two = UInt32(littleEndian: two)
            }
            first &+= one &+ second
            second &+= two &+ first
            offset += 8
        }
        checksum = Checksum(first: first, second: second)
    }

    private static func integer(_ bytes: RawSpan, at offset: Int) -> UInt32 {
        UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
