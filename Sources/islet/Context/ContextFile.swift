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

    /// Puts a book in its place: either the old file is there or the new one, whatever happens.
    static func save(_ book: ContextBook) throws {
        guard let path else {
            throw Failure(.failure, "there is no place for contexts: neither XDG_CONFIG_HOME nor HOME is set")
        }
        try makeDirectories(of: path)
        var name = Array("\(path).XXXXXX".utf8CString)
        // mkstemp makes the file with mode 0600.
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure("make a file beside", path) }
        let temporary = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        var rest = book.bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                let failure = failure("write", temporary)
                close(descriptor)
                unlink(temporary)
                throw failure
            }
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
