internal import ZeroMQ

/// A connection that carries commands, answers and events as their exact bytes and looks into none of them: for what
/// stands between the bus and clients of its own.
///
/// Nothing is sent a second time, and no stream is made whole: that is left to those clients.
package final class RawConnection: Sendable {
    private let thread: BusThread
    private let loop: RawLoop

    private init(thread: BusThread, loop: RawLoop) {
        self.thread = thread
        self.loop = loop
    }

    deinit {
        thread.requestStop()
    }

    /// Opens a connection. It does not wait for the service.
    ///
    /// - Throws: ``IsletError/endpoint(_:reason:)`` where an endpoint is no address, or the system has no room for
    ///   more.
    package static func open(_ endpoints: Endpoints) async throws(IsletError) -> RawConnection {
        let thread: BusThread
        do throws(ZeroMQError) {
            thread = try BusThread(name: "islet-raw")
        } catch {
            throw .endpoint("a thread", reason: error.description)
        }
        do throws(IsletError) {
            let loop = try await thread.host { thread throws(IsletError) in
                try RawLoop(on: thread, endpoints: endpoints)
            }
            return RawConnection(thread: thread, loop: loop)
        } catch {
            await thread.stop()
            throw error
        }
    }

    /// Sends one frame and gives the frame that answers it.
    ///
    /// - Parameter change: the command's op, where somebody wants to know what became of a change without an answer.
    /// - Throws: ``IsletError/timedOut(after:change:)``, ``IsletError/overloaded(limit:)``, ``IsletError/closed``.
    package func exchange(
        _ frame: [UInt8], change: String? = nil, timeout: Duration
    ) async throws(IsletError) -> [UInt8] {
        try await loop.exchange(frame, change: change, timeout: timeout).get()
    }

    /// The changes, of those that were named, that have no answer yet.
    package func unansweredChanges() async -> UnansweredChanges { await loop.unansweredChanges() }

    /// Follows the topics that begin with a prefix, from a join on.
    ///
    /// - Parameter take: called on the connection's thread, in order: it must be quick and must not wait.
    /// - Throws: ``IsletError/overloaded(limit:)``, ``IsletError/closed``.
    package func follow(
        _ prefix: String, _ take: @escaping @Sendable (RawDelivery) -> Void
    ) async throws(IsletError) -> RawSubscription {
        RawSubscription(id: try await loop.follow(Array(prefix.utf8), take).get(), loop: loop)
    }

    /// Ends the connection: what waits gets ``IsletError/closed``, subscriptions end.
    package func close() async {
        await thread.stop()
    }
}

/// What comes by a subscription.
package enum RawDelivery: Sendable {
    /// The service's answer to the join, before all events: JSON with the streams' positions.
    case joined([UInt8])
    /// An event, or a watermark.
    case event(topic: [UInt8], body: [UInt8])
    /// The connection is closed; nothing follows.
    case ended
}

/// A subscription of a ``RawConnection``, until it is cancelled.
package struct RawSubscription: Sendable {
    fileprivate let id: Int
    fileprivate let loop: RawLoop

    /// Nothing is taken any more once this returns.
    package func cancel() async {
        await loop.unfollow(id)
    }
}
