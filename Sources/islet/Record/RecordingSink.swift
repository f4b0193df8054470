import Glibc
import Synchronization

/// Where a recording goes, line by line: a new file, or standard output.
final class RecordingSink: Sendable {
    private struct State {
        /// Nil on standard output, and once it is closed.
        var descriptor: Int32?
        /// Lines that are not written yet.
        var waiting: [UInt8] = []
        /// The bytes of all lines that are written.
        var written = 0
    }

    /// Lines are written together up to this size, but for those that somebody waits for.
    private static let waitingMax = 65_536

    /// What a person calls it.
    let name: String
    private let isOutput: Bool
    private let state: Mutex<State>

    /// Makes the file, which only its owner may read: it has what users are shown.
    ///
    /// - Parameter path: a file's that is not there yet, or `-` for standard output.
    /// - Throws: a `Failure` where it is there, or cannot be made.
    init(_ path: String) throws(Failure) {
        isOutput = path == "-"
        name = isOutput ? "standard output" : path
        state = Mutex(State(descriptor: isOutput ? nil : try Self.make(path)))
    }

    private static func make(_ path: String) throws(Failure) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            guard errno == EEXIST else {
                throw Failure(.usage, "cannot make \(path): \(String(cString: strerror(errno)))")
            }
            throw Failure(.usage, "\(path) is there already: a recording goes into a new file")
        }
        return descriptor
    }

    /// How many bytes its lines have.
    var bytes: Int { state.withLock { $0.written + $0.waiting.count } }

    /// Writes one line of JSON.
    ///
    /// - Parameter isAwaited: whether somebody may look at it now.
    /// - Throws: a `Failure` where it cannot be written. Lines before it stay whole.
    func write(_ json: [UInt8], isAwaited: Bool) throws(Failure) {
        guard !isOutput else {
            state.withLock { $0.written += json.count + 1 }
            return Console.data(json)
        }
        let isFull = state.withLock { state in
            state.waiting += json.onOneLine
            state.waiting.append(UInt8(ascii: "\n"))
            return state.waiting.count >= Self.waitingMax
        }
        if isAwaited || isFull { try flush() }
    }

    /// Writes what waits.
    func flush() throws(Failure) {
        let error = state.withLock { state -> Int32? in
            guard let descriptor = state.descriptor, !state.waiting.isEmpty else { return nil }
            defer { state.waiting.removeAll(keepingCapacity: true) }
            if let error = Output.write(state.waiting[...], to: descriptor) {
                Self.cut(descriptor, &state)
                return error
            }
            state.written += state.waiting.count
            return nil
        }
        if let error { throw failure(error) }
    }

    /// Writes what waits, and closes the file.
    func close() throws(Failure) {
        try flush()
        let error = state.withLock { state -> Int32? in
            guard let descriptor = state.descriptor else { return nil }
            state.descriptor = nil
            return Glibc.close(descriptor) == 0 ? nil : errno
        }
        if let error { throw failure(error) }
    }

    /// Takes back the part of a line that was written before it failed.
    private static func cut(_ descriptor: Int32, _ state: inout State) {
        let end = lseek(descriptor, 0, SEEK_END)
        guard end > state.written else { return }
        let part = state.waiting.prefix(Int(end) - state.written)
        let whole = (part.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        state.written += whole
        _ = ftruncate(descriptor, off_t(state.written))
    }

    private func failure(_ error: Int32) -> Failure {
        Failure(.failure, "cannot write to \(name): \(String(cString: strerror(error)))")
    }
}
