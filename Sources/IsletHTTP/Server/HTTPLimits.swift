import NIOCore

/// What one client, and all together, may take.
enum HTTPLimits {
    /// Connections at a time; where there are more, one without a request gives way.
    static let connections = 256
    /// More connections that are accepted while none can give way; others wait for one of all to end.
    static let spareConnections = 32
    /// A connection without a request, or with one that does not come, is closed after so long.
    static let idleTime = TimeAmount.seconds(30)
    /// Requests of one connection that wait for their answers; it ends with that of the last of them.
    static let unanswered = 64
    /// A connection of which nothing more is wanted is closed after so long, so that its client sees the last answer.
    static let lingerTime = TimeAmount.seconds(2)
    /// A request's body must be there after so long.
    static let bodyTime = TimeAmount.seconds(10)
    /// An answer must be read within so long.
    static let replyTime = TimeAmount.seconds(10)
    /// All header fields of a request.
    static let headerBytes = 16 << 10
    /// One header field.
    static let headerFieldBytes = 8 << 10
    static let headerFields = 64
    /// The body of a command: the longest frame of the contract.
    static let commandBytes = 64 << 10
    /// Pieces of a body, which cost more than their bytes; more closes the connection.
    static let bodyPieces = 4_096
    /// What is read of a body that nobody wants, so that the client sees its answer; more closes the connection.
    static let unwantedBytes = 1 << 20
    /// A command must be answered by the service within so long.
    static let commandTime = Duration.seconds(10)
    /// A topic has no more bytes, nor has a prefix of it.
    static let prefixBytes = 240
    /// The name of an app.
    static let appBytes = 100
}
