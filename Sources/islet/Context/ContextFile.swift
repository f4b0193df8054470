import Glibc

/// The file of the contexts: `islet/contexts.json` in the XDG configuration directory. It is written as a whole, and
/// for nobody else to read: endpoints tell where a service is, and what gives access may come to stand there.
enum ContextFile {
    /// More than any book of contexts has.
    private static let bytesMax = 1_048_576

    /// Where it is; nil where there is neither XDG_CONFIG_HOME nor HOME.
    static var path: String? {
        if let directory = environment("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
            return directory + "/islet/contexts.json"
        }
        return environment("HOME").map { $0 + "/.config/islet/contexts.json" }
    }

    /// What is in it; an empty book where there is no file.
    static func load() throws -> ContextBook {
        guard let path else { return ContextBook() }
        guard let bytes = try read(path) else { return ContextBook() }
        do throws(ContextBook.Problem) {
            return try ContextBook(bytes)
        } catch {
            let what =
                switch error {
                case .notJSON: "it is no JSON object"
                case .member(let name): "'\(name)' is not what it should be"
                case .newer(let format): "it has the format \(format) of a newer version"
                }
            throw Failure(.usage, "the contexts in \(path) cannot be read: \(what); mend or remove the file")
        }
    }

    /// Changes the book, while nobody else does: what another command writes at the same time is not lost.
    static func change<Result>(_ body: (inout ContextBook) throws -> Result) throws -> Result {
        guard let path else {
            throw Failure(.failure, "there is no place for contexts: neither XDG_CONFIG_HOME nor HOME is set")
        }
        try makeDirectories(of: path)
        // The directory, as the file is another one after each change.
        let lock = open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw failure("read", directory(of: path)) }
        defer { close(lock) }
        try take(lock, path)
        var book = try load()
        let result = try body(&book)
        try save(book, to: target(of: path))
        return result
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// How often, and in milliseconds how far apart, a lock that somebody holds is asked for.
    private static let tries = 1_000
    private static let pause: UInt32 = 10

    private static func take(_ lock: Int32, _ path: String) throws {
        for _ in 0..<tries {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("lock", path) }
            usleep(pause * 1_000)
        }
        throw Failure(.failure, "another command has been changing \(path) for 10 s; nothing was changed")
    }

    /// The file itself, where the path is a link to it: the link stays.
    private static func target(of path: String) throws -> String {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
        guard let resolved = realpath(path, nil) else { throw failure("follow the link", path) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Puts a book in its place: either the old file is there or the new one, whatever happens.
    private static func save(_ book: ContextBook, to path: String) throws {
        var name = Array("\(path).XXXXXX".utf8CString)
        // mkstemp makes the file with mode 0600.
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure("make a file beside", path) }
        let temporary = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if let error = Output.write(book.bytes[...], to: descriptor) {
            close(descriptor)
            unlink(temporary)
            throw Failure(.failure, "cannot write \(temporary): \(String(cString: strerror(error)))")
        }
        let isSynced = fsync(descriptor) == 0
        close(descriptor)
        guard isSynced, rename(temporary, path) == 0 else {
            let failure = failure("write", path)
            unlink(temporary)
            throw failure
        }
    }

    /// nil where there is no file.
    private static func read(_ path: String) throws -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("read", path)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= bytesMax {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += buffer[..<count]
            } else if errno != EINTR {
                throw failure("read", path)
            }
        }
        throw Failure(.usage, "\(path) has more than \(bytesMax) bytes, which no file of contexts has")
    }

    private static func makeDirectories(of path: String) throws {
        var made = ""
        for part in path.split(separator: "/").dropLast() {
            made += "/\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST || errno == EISDIR || access(made, X_OK) == 0 else {
                throw failure("make", made)
            }
        }
    }

    private static func failure(_ what: String, _ path: String) -> Failure {
        Failure(.failure, "cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }
}
