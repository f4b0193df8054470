/// What a replica wants done: plain data, performed by the connection.
package enum ReplicaEffect: Sendable, Hashable {
    /// Subscribe to topics that begin so.
    case subscribe([UInt8])
    /// Take that back.
    case unsubscribe([UInt8])
    /// Call `Replica.join(nonce:)` with a fresh nonce, and again with another one where no answer comes.
    case join
    /// Pull a snapshot, instead of whatever is being pulled for this app; later for each further attempt.
    case snapshot(app: String, prefix: String?, attempt: Int)
    /// Pull the events after `from`, instead of whatever is being pulled for this app; later for each further attempt.
    case replay(app: String, from: UInt64, attempt: Int)
    /// Ask for the digest over the entities of that prefix.
    case digest(app: String, prefix: String)
    /// Give one chunk's credit to the pull of this app.
    case credit(app: String)
    /// Stop pulling for this app.
    case cancelPull(app: String)
    /// Hand this to the reader.
    case deliver(Delivery)
    /// The stream cannot go on: end the reader's sequence with this error.
    case fail(IsletError)
}
