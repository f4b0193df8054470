import Glibc

/// How far a journal had come, kept beside it in a small file of its own.
///
/// Written after each commit, and never synced but at the start. So it is never ahead of what was acknowledged, and a
/// journal that ends before it has lost something: a file was taken away, or put back from an older copy.
struct Mark: Equatable {
    /// The last committed batch.
    var lastBatch: UInt64
    /// Whether that was synced.
    var sync: SyncMode
    /// The run of the machine in which it was committed; at most 40 bytes.
    var bootID: String

    static let byteCount = 72
    private static let magic: [UInt8] = Array("ISLTMARK".utf8)
    private static let version: UInt32 = 1
    private static let bootBytes = 40

    enum Failure: Error {
        case damaged(String)
        case system(SystemError)
    }

    /// Reads it again where it was read while it was written: half of its bytes are the new ones then.
    static func read(path: String) throws(Failure) -> Mark {
        var bytes = try bytes(path)
        for _ in 0..<mostReads where !isWhole(bytes) {
            let before = bytes
            bytes = try Self.bytes(path)
            if bytes == before { break }
        }
        guard bytes.count == byteCount else { throw .damaged("it has \(bytes.count) bytes instead of \(byteCount)") }
        guard bytes.starts(with: magic) else { throw .damaged("it does not begin like a mark") }
        guard isWhole(bytes) else { throw .damaged("its checksum is wrong") }
        guard integer(bytes, at: 8, count: 4) == UInt64(version) else { throw .damaged("it is of a later version") }
        let boot = bytes[24..<64].prefix { $0 != 0 }
        return Mark(
            lastBatch: integer(bytes, at: 16, count: 8), sync: bytes[12] == 0 ? .full : .normal,
            bootID: String(decoding: boot, as: UTF8.self))
    }

    private static let mostReads = 100

    private static func bytes(_ path: String) throws(Failure) -> [UInt8] {
        do { return try FileSystem.read(path, upTo: byteCount + 1) } catch { throw .system(error) }
    }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        bytes.count == byteCount
            && checksum(bytes.prefix(byteCount - 8)) == integer(bytes, at: byteCount - 8, count: 8)
    }

    /// Its bytes: name, version, sync mode, batch, run of the machine, checksum.
    var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.byteCount)
        Self.append(UInt64(Self.version), count: 4, to: &bytes)
        Self.append(sync == .full ? 0 : 1, count: 4, to: &bytes)
        Self.append(lastBatch, count: 8, to: &bytes)
        bytes += Array(bootID.utf8.prefix(Self.bootBytes))
        while bytes.count < 24 + Self.bootBytes { bytes.append(0) }
        Self.append(Self.checksum(bytes[...]), count: 8, to: &bytes)
        return bytes
    }

    private static func append(_ value: UInt64, count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
    }

    private static func integer(_ bytes: [UInt8], at offset: Int, count: Int) -> UInt64 {
        bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// FNV-1a.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

/// The open file of a mark, on the thread that commits.
final class MarkFile {
    private let descriptor: Int32
    private let path: String
    private var mark: Mark

    /// Opens or makes it, and syncs what it says now.
    init(path: String, mark: Mark) throws(SystemError) {
        if !FileSystem.exists(path) { try Self.create(path, mark) }
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(operation: "cannot open", path: path, code: errno) }
        self.path = path
        self.mark = mark
        try write()
        guard fsync(descriptor) == 0 else { throw SystemError(operation: "cannot sync", path: path, code: errno) }
    }

    deinit { close(descriptor) }

    /// Under another name first: a mark is whole, or there is none.
    private static func create(_ path: String, _ mark: Mark) throws(SystemError) {
        let unfinished = FolderNames.unfinished(path)
        let descriptor = unsafe open(unfinished, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(operation: "cannot make", path: unfinished, code: errno) }
        defer { close(descriptor) }
        let bytes = mark.encoded
        guard unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, fsync(descriptor) == 0 else {
            throw SystemError(operation: "cannot write", path: unfinished, code: errno)
        }
        try FileSystem.rename(unfinished, to: path)
        try FileSystem.sync(FileSystem.directory(of: path))
    }

    func set(lastBatch: UInt64) throws(SystemError) {
        mark.lastBatch = lastBatch
        try write()
    }

    private func write() throws(SystemError) {
        let bytes = mark.encoded
        guard unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw SystemError(operation: "cannot write", path: path, code: errno)
        }
    }
}
