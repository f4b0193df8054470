/// Which of Apple's two rules applies where a local call and a push differ (apple-semantics 1.2 rows 17 and 26).
package enum Source: UInt8, Sendable, BitwiseCopyable {
    case local
    case push
}

/// The fields that every command may carry, whatever it does.
package struct Envelope: Equatable, Sendable, BitwiseCopyable {
    /// The client's own string of printable ASCII, echoed in the answer.
    package var req: FrameRange?
    /// The client's UUID, which makes a retry of the same `req` safe.
    package var client: EntityID?
    /// Real time in milliseconds after which a command that still waits is not executed any more.
    package var ttl: Milliseconds?
    /// The revision that the entity must have.
    package var ifRevision: UInt64?
    /// A read waits until its app's stream has reached this sequence number.
    package var minSeq: UInt64?
    package var source: Source = .local
    /// False for `"ack":"none"`.
    package var wantsAnswer: Bool = true

    package init() {}
}
