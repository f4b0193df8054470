/// How a connection behaves.
public struct ConnectionOptions: Sendable, Hashable {
    /// How long a command may take, attempts included.
    public var timeout: Duration
    /// How long a small change waits for its answer before it is sent again the first time by a connection that stands; later
    /// ones wait longer. Reads and what is large are not sent again there before 20 s, and after a lost connection everything
    /// is at once.
    public var firstRetry: Duration
    /// What the `req` of its commands begins with: at most 40 printable ASCII characters without `"` and `\`. It shows
    /// in events and in `explain`.
    public var requestPrefix: String
    /// How many deliveries may wait for the reader of a stream. One that falls further behind is not sent more until it
    /// has caught up; a replay then brings what it has not seen.
    public var deliveryLimit: Int
    /// The UUID by which the service knows the sender of a command that it has seen before; nil: a new one for each
    /// connection. Only for what numbers its commands itself (`Command.requestNumber`).
    package var client: String?

    /// The usual ones.
    public init(
        timeout: Duration = .seconds(10), firstRetry: Duration = .milliseconds(500), requestPrefix: String = "c",
        deliveryLimit: Int = 4_096
    ) {
        self.timeout = timeout
        self.firstRetry = firstRetry
        self.requestPrefix = requestPrefix
        self.deliveryLimit = deliveryLimit
    }

    /// What leaves room for the number in a `req` of 64 characters.
    static let maximumPrefix = 40

    /// Whether the service takes what the `req` begin with.
    var hasValidPrefix: Bool {
        requestPrefix.utf8.count <= Self.maximumPrefix
            && requestPrefix.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
