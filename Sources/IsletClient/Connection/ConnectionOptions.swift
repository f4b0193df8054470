/// How a connection behaves.
public struct ConnectionOptions: Sendable, Hashable {
    /// How long a command may take, attempts included.
    public var timeout: Duration
    /// What the `req` of its commands begins with: at most 40 printable ASCII characters without `"` and `\`. It shows
    /// in events and in `explain`.
    public var requestPrefix: String
    /// How many deliveries may wait for the reader of a stream. One that falls further behind is not sent more until it
    /// has caught up; a replay then brings what it has not seen.
    public var deliveryLimit: Int

    /// The usual ones.
    public init(timeout: Duration = .seconds(10), requestPrefix: String = "c", deliveryLimit: Int = 4_096) {
        self.timeout = timeout
        self.requestPrefix = requestPrefix
        self.deliveryLimit = deliveryLimit
    }
}
