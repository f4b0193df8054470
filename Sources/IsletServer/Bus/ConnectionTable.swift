/// How many connections the service's sockets may have.
package struct ConnectionLimits: Equatable {
    /// Of one socket (contract, "The process").
    package static let perSocket = 1_024
    /// Files that are left to the journal, to HTTP and to the process itself.
    static let otherFiles = 384
    /// However few files a process may open, so many connections are taken.
    static let least = 16

    var perSocket: Int
    var inAll: Int

    /// - Parameter files: How many the process may have open.
    init(files: Int, perSocket: Int = Self.perSocket) {
        self.perSocket = perSocket
        inAll = max(Self.least, min(files - Self.otherFiles, files / 2))
    }
}

/// The connections of the sockets that are bound, by their descriptors.
///
/// libzmq accepts whoever comes: who is one too many is shut then. Else their files would be missing where the journal
/// begins a segment.
struct ConnectionTable {
    private let limits: ConnectionLimits
    /// By socket. Whose connection was shut stays until libzmq has closed it.
    private var open: [Set<Int32>]
    private(set) var count = 0
    /// How many were shut.
    private(set) var refused: UInt64 = 0

    init(limits: ConnectionLimits, sockets: Int) {
        self.limits = limits
        open = Array(repeating: [], count: sockets)
    }

    /// A socket has accepted a connection; false: it is one too many, and is to be shut.
    mutating func accepted(_ descriptor: Int32, at socket: Int) -> Bool {
        guard open[socket].insert(descriptor).inserted else { return true }
        count += 1
        guard open[socket].count > limits.perSocket || count > limits.inAll else { return true }
        refused += 1
        return false
    }

    /// A socket has lost one.
    mutating func lost(_ descriptor: Int32, at socket: Int) {
        if open[socket].remove(descriptor) != nil { count -= 1 }
    }

    /// Whether a socket's connection is open.
    func isOpen(_ descriptor: Int32, at socket: Int) -> Bool { open[socket].contains(descriptor) }

    func count(at socket: ServiceSockets.Bound) -> Int { open[socket.rawValue].count }

    var limitInWords: String { "at most \(limits.perSocket) are taken at an address, and \(limits.inAll) in all" }
}
