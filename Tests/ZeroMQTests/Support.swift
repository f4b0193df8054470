import Glibc
import Testing
import ZeroMQ

/// How long a test waits for what must come; far more than any of it takes.
let patience = Duration.seconds(120)

/// A socket whose waits end after `patience`.
func makeSocket(_ kind: Socket.Kind, _ context: ZeroMQContext) throws -> Socket {
    let socket = try Socket(kind, in: context)
    try socket.set(.receiveTimeout, to: patience)
    try socket.set(.sendTimeout, to: patience)
    return socket
}

extension Socket {
    /// The frames of the next message, waiting for it.
    func receiveMessage() throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var frame = Message()
        repeat {
            try #require(try receive(into: &frame, dontWait: false), "no message came in time")
            frames.append(frame.bytes)
        } while frame.more
        return frames
    }

    /// The frames of the next message. Meanwhile libzmq does the due work of `other`, which needs its owner for it: a
    /// socket that nobody looks after says nothing on a new connection.
    func receiveMessage(attending other: borrowing Socket) throws -> [[UInt8]] {
        var poller = Poller()
        let slot = poller.add(self)
        _ = poller.add(other)
        let deadline = ContinuousClock.now.advanced(by: patience)
        while ContinuousClock.now < deadline {
            try poller.wait(milliseconds: 1_000)
            if poller.isReadable(slot) { return try receiveMessage() }
        }
        throw Late()
    }

    /// Sends `frames` as one message, all of which must be taken.
    func sendMessage(_ frames: [[UInt8]]) throws {
        for (index, frame) in frames.enumerated() {
            let outcome = try send(copying: frame, more: index + 1 < frames.count, dontWait: false)
            try #require(outcome == .sent)
        }
    }
}

extension Socket {
    /// Binds to an endpoint whose owner was just closed: it is in use until libzmq's own thread has freed it.
    func bindSoon(_ endpoint: String) throws {
        let deadline = ContinuousClock.now.advanced(by: patience)
        while true {
            do {
                return try bind(endpoint)
            } catch ZeroMQError.addressInUse where ContinuousClock.now < deadline {
                sched_yield()
            }
        }
    }
}

/// The UTF-8 bytes of `text`.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A new folder, removed with everything in it after `body`.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    var template = Array("/tmp/zeromq-tests-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer {
        for entry in entries(of: path) { unlink(path + "/" + entry) }
        rmdir(path)
    }
    return try body(path)
}

/// The names in the folder `path`, without the dots.
func entries(of path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

/// The names of this process's threads, from the kernel.
func threadNames() -> [String] {
    entries(of: "/proc/self/task").compactMap { thread in
        guard let file = fopen("/proc/self/task/\(thread)/comm", "r") else { return nil }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 64)
        let count = fread(&line, 1, line.count, file)
        return String(decoding: line.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
