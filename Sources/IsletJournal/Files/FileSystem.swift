import CSQLite
import Glibc

/// A call of the system that failed.
struct SystemError: Error, Equatable, CustomStringConvertible {
    var operation: String
    var path: String
    /// `errno`.
    var code: Int32

    var description: String { "\(operation) \(path): \(Self.text(of: code))" }

    static func exists(_ path: String) -> SystemError {
        SystemError(operation: "cannot make", path: path, code: EEXIST)
    }

    static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

/// The calls of the system that a data folder needs besides SQLite's.
enum FileSystem {
    enum Kind {
        case directory
        case other
    }

    /// What a path leads to; nil: nothing.
    static func kind(of path: String) -> Kind? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR ? .directory : .other
    }

    /// Which file it is, whatever it is called.
    struct Identity: Hashable {
        fileprivate var device: UInt
        fileprivate var number: UInt

        fileprivate init(_ status: stat) {
            (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
        }
    }

    /// Which files are in a folder, or linked to from it.
    static func files(in directory: String) throws(SystemError) -> Set<Identity> {
        var files: Set<Identity> = []
        for name in try names(in: directory) {
            var status = stat()
            // One that has gone meanwhile is none.
            if unsafe stat(directory + "/" + name, &status) == 0 { files.insert(Identity(status)) }
        }
        return files
    }

    /// What is found of a file that may be anything, and another one at any moment.
    enum Beginning {
        /// The first bytes.
        case bytes([UInt8])
        /// One of those that must not be opened.
        case excepted
        /// It is no plain file, is not there, or cannot be read.
        case unreadable
    }

    /// Reads the first bytes of a plain file; whatever else has the name is not opened, since that may wait for good.
    ///
    /// - Parameter exceptions: Files that this process has open with locks of POSIX's: closing any descriptor of one would
    ///   give them up, so they are not opened.
    static func beginning(of path: String, upTo limit: Int, except exceptions: Set<Identity>) -> Beginning {
        let named = unsafe csqlite_name_file(path)
        guard named >= 0 else { return .unreadable }
        defer { close(named) }
        var status = stat()
        guard unsafe fstat(named, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .unreadable }
        guard !exceptions.contains(Identity(status)) else { return .excepted }
        // That very file, though another one may have its name by now.
        return (try? read("/proc/self/fd/\(named)", upTo: limit)).map { .bytes($0) } ?? .unreadable
    }

    /// Bytes of a file; nil: there is none.
    static func size(of path: String) -> Int? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Int(status.st_size)
    }

    static func exists(_ path: String) -> Bool { size(of: path) != nil }

    /// Makes a folder and those above it that are missing, for the owner alone.
    static func makeDirectory(_ path: String) throws(SystemError) {
        if unsafe mkdir(path, 0o700) == 0 { return }
        let code = errno
        if code == EEXIST { return }
        guard code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw SystemError(operation: "cannot make", path: path, code: code)
        }
        try makeDirectory(String(path[..<slash]))
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SystemError(operation: "cannot make", path: path, code: errno)
        }
    }

    /// Why this user cannot write in a folder, as an `errno`; nil: it can.
    static func obstacle(toWritingIn directory: String) -> Int32? {
        unsafe access(directory, R_OK | W_OK | X_OK) == 0 ? nil : errno
    }

    /// The name of a file system that forgets everything when the machine stops; nil: another one.
    static func volatileFileSystem(of path: String) -> String? {
        switch unsafe csqlite_file_system(path) {
        case 0x0102_1994: "tmpfs"
        case 0x8584_58f6: "ramfs"
        default: nil
        }
    }

    /// Bytes that are free for us where a path is; nil: it cannot be asked.
    static func freeBytes(at path: String) -> Int? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }

    /// How many files this process may have open; where the system does not say, what it mostly is.
    static var maximumOpen: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// The names in a folder, sorted.
    static func names(in directory: String) throws(SystemError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw SystemError(operation: "cannot read", path: directory, code: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // A name ends with a zero within the entry, which lasts until the next call.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a file's content, or a folder's names, survive loss of power.
    static func sync(_ path: String) throws(SystemError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(operation: "cannot open", path: path, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemError(operation: "cannot sync", path: path, code: errno) }
    }

    /// The folder that a path is in.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of a path.
    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Whether a folder is another one or below it, whatever links and `..` its path goes through: folders are compared
    /// by their numbers. One that is not there yet is where it would be made.
    static func isWithin(_ outer: String, _ inner: String) -> Bool {
        var wanted = stat()
        guard unsafe stat(outer, &wanted) == 0 else { return false }
        return folders(from: inner).contains { path in
            var status = stat()
            return unsafe stat(path, &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino
        }
    }

    /// The folders that a path leads through, from the innermost that is there up to the root, without links and `..`.
    static func folders(from path: String) -> [String] {
        var nearest = path
        var resolved = unsafe realpath(nearest, nil)
        while unsafe resolved == nil {
            let above = directory(of: nearest)
            guard errno == ENOENT, above != nearest else { return [] }
            nearest = above
            unsafe resolved = unsafe realpath(nearest, nil)
        }
        guard let found = unsafe resolved else { return [] }
        defer { unsafe free(found) }
        var folders = [unsafe String(cString: found)]
        while let last = folders.last, last != "/" { folders.append(directory(of: last)) }
        return folders
    }

    /// Makes an empty file that its owner alone may read.
    static func makeFile(_ path: String) throws(SystemError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(operation: "cannot make", path: path, code: errno) }
        close(descriptor)
    }

    /// Copies a file to where none is, durably; only its owner may read the copy.
    static func copy(_ path: String, to target: String) throws(SystemError) {
        let source = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw SystemError(operation: "cannot open", path: path, code: errno) }
        defer { close(source) }
        let copy = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard copy >= 0 else { throw SystemError(operation: "cannot make", path: target, code: errno) }
        defer { close(copy) }
        while true {
            let count = sendfile(copy, source, nil, 1 << 20)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(operation: "cannot copy to", path: target, code: errno) }
            if count == 0 { break }
        }
        guard fsync(copy) == 0 else { throw SystemError(operation: "cannot sync", path: target, code: errno) }
    }

    static func rename(_ path: String, to target: String) throws(SystemError) {
        guard unsafe Glibc.rename(path, target) == 0 else {
            throw SystemError(operation: "cannot rename", path: path, code: errno)
        }
    }

    /// Removes a file; it is no error if there is none.
    static func remove(_ path: String) throws(SystemError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw SystemError(operation: "cannot remove", path: path, code: errno)
        }
    }

    /// Cuts a file, durably.
    static func truncate(_ path: String, to size: Int) throws(SystemError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(operation: "cannot open", path: path, code: errno) }
        defer { close(descriptor) }
        guard ftruncate(descriptor, size) == 0, fsync(descriptor) == 0 else {
            throw SystemError(operation: "cannot cut", path: path, code: errno)
        }
    }

    /// The first bytes of a file.
    static func read(_ path: String, upTo limit: Int) throws(SystemError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(operation: "cannot open", path: path, code: errno) }
        defer { close(descriptor) }
        var count = 0
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            while count < limit {
                let got = unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + count }, limit - count)
                if got < 0, errno == EINTR { continue }
                if got < 0 { code = errno }
                if got <= 0 { break }
                count += got
            }
            initialized = count
        }
        guard code == 0 else { throw SystemError(operation: "cannot read", path: path, code: code) }
        return bytes
    }

    /// What the kernel calls this run of the machine; empty where it does not say.
    static var bootID: String {
        guard let bytes = try? read("/proc/sys/kernel/random/boot_id", upTo: 36), bytes.count == 36 else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
