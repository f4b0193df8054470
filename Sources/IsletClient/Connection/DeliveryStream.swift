/// The deliveries of one reader, in order. It follows the service through restarts and lost connections until it is
/// given up.
///
/// One task reads it. A reader that is slow loses nothing and delays nobody: it is sent no more until it has caught up.
public struct DeliveryStream: AsyncSequence, Sendable {
    /// One delivery.
    public typealias Element = Delivery
    /// Why it ended early.
    public typealias Failure = IsletError

    private let handle: ReaderHandle

    init(_ handle: ReaderHandle) {
        self.handle = handle
    }

    /// Ends it behind what has come.
    func finish() { handle.queue.finish(nil) }

    /// The one iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(handle: handle)
    }

    /// Reads the deliveries one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let handle: ReaderHandle

        /// The next delivery; nil once the connection is closed and all that came before is read, and at once where the task
        /// is cancelled.
        public mutating func next() async throws(IsletError) -> Delivery? {
            try await handle.queue.next()
        }

        /// As `next()`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(IsletError) -> Delivery? {
            try await handle.queue.next()
        }
    }
}

/// Keeps a reader at the connection for as long as somebody holds its stream.
final class ReaderHandle: Sendable {
    let queue: DeliveryQueue
    /// Kept alive too: a stream outlives the last other use of its connection.
    private let connection: IsletConnection

    init(queue: DeliveryQueue, connection: IsletConnection) {
        self.queue = queue
        self.connection = connection
    }

    deinit {
        queue.abandon()
    }
}
