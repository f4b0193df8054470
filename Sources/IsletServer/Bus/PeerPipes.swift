import ZeroMQ

/// What libzmq holds of clients' large messages, which lie in the pipes of their connections until they are read.
///
/// A value; times are real monotonic milliseconds.
struct PeerPipes<Client: Hashable> {
    private struct Pipe {
        let held = HeldBytes()
        /// The connection whose pipe it is; nil where no message has told it yet.
        var descriptor: Int32?
        /// What it held, and what had left it, when it was looked at last.
        var bytes = 0
        var freed = 0
        /// When something was seen to have left it last, or when it was empty last.
        var tookAt: Int64
    }

    private var pipes: [Client: Pipe] = [:]
    /// What they held when each was looked at last: never less than they do, but for what was given to them since.
    private(set) var bytes = 0
    /// With so many, those that hold nothing are forgotten.
    private var mostPipes = Self.fewestPipes
    private static var fewestPipes: Int { 64 }

    /// The client's pipe, where its large messages count from now on.
    ///
    /// - Parameter descriptor: The client's connection, where it is known. What the pipe of another one held ends with
    ///   that one.
    mutating func held(for client: Client, over descriptor: Int32?, at now: Int64) -> HeldBytes {
        if var pipe = pipes[client], pipe.descriptor == nil || descriptor == nil || pipe.descriptor == descriptor {
            if pipe.descriptor == nil, descriptor != nil {
                pipe.descriptor = descriptor
                pipes[client] = pipe
            }
            return pipe.held
        }
        forget(client)
        if pipes.count >= mostPipes { forgetEmpty(at: now) }
        let pipe = Pipe(descriptor: descriptor, tookAt: now)
        pipes[client] = pipe
        return pipe.held
    }

    /// Looks at what a client's pipe holds now, and whether something has left it.
    @discardableResult
    mutating func look(at client: Client, at now: Int64) -> Int {
        guard var pipe = pipes[client] else { return 0 }
        let (former, freed) = (pipe.bytes, pipe.held.freed)
        if freed != pipe.freed || former == 0 { pipe.tookAt = now }
        pipe.freed = freed
        pipe.bytes = pipe.held.count
        pipes[client] = pipe
        bytes += pipe.bytes - former
        return pipe.bytes
    }

    /// Looks at all of them.
    mutating func lookAtAll(at now: Int64) {
        for client in pipes.keys { look(at: client, at: now) }
    }

    /// The clients whose pipes held something when they were looked at last.
    var clients: [Client] { pipes.compactMap { client, pipe in pipe.bytes > 0 ? client : nil } }

    /// What a client's pipe held when it was looked at last.
    func bytes(of client: Client) -> Int { pipes[client]?.bytes ?? 0 }

    /// When something was seen to have left a client's pipe last, or when it was empty last.
    func tookAt(_ client: Client) -> Int64? { pipes[client]?.tookAt }

    /// The connection whose pipe it is, where it is known.
    func descriptor(of client: Client) -> Int32? { pipes[client]?.descriptor }

    /// A client is cut, or gone: libzmq frees what it holds for it soon, and that counts no more.
    mutating func forget(_ client: Client) {
        guard let pipe = pipes.removeValue(forKey: client) else { return }
        bytes -= pipe.bytes
    }

    /// A connection of a client has ended; that of another connection of its name stays.
    mutating func connectionHasEnded(_ descriptor: Int32, of client: Client) {
        if pipes[client]?.descriptor == descriptor { forget(client) }
    }

    private mutating func forgetEmpty(at now: Int64) {
        lookAtAll(at: now)
        pipes = pipes.filter { $0.value.bytes > 0 }
        mostPipes = max(Self.fewestPipes, pipes.count * 2)
    }
}
