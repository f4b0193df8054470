import CZeroMQ

/// A ZeroMQ socket, which belongs to one thread: it is neither `Sendable` nor copyable.
///
/// Closing discards what was not sent, unless `linger` was set. After `close()` every call throws `closed`.
package struct Socket: ~Copyable {
    /// What a socket does with its messages; see zmq_socket(3).
    package enum Kind: Int32, Sendable, CaseIterable {
        case pair = 0
        case pub = 1
        case sub = 2
        case req = 3
        case rep = 4
        case dealer = 5
        case router = 6
        case xpub = 9
        case xsub = 10
    }

    /// What became of a message given to `send`.
    package enum Outcome: Sendable, Equatable {
        /// libzmq has it, or has dropped it where the type of socket drops (XPUB for a slow subscriber).
        case sent
        /// A queue is full; the message is still the caller's. That a peer has made room again is noticed by
        /// `Socket.events` and by polling at once, by sending itself only after about a millisecond.
        case wouldBlock
        /// A ROUTER with `routerMandatory` has no such peer; the message is still the caller's.
        case unreachable
    }

    /// Shared with the pollers that watch this socket, so that none of them looks at a closed one.
    ///
    /// `@safe`: the pointer is libzmq's socket or nil, never one that was closed.
    @safe
    final class Handle {
        private(set) var pointer: UnsafeMutableRawPointer?
        private let context: ZeroMQContext

        init(_ pointer: UnsafeMutableRawPointer, context: ZeroMQContext) {
            unsafe self.pointer = pointer
            self.context = context
        }

        func close() {
            guard let pointer = unsafe pointer else { return }
            unsafe self.pointer = nil
            _ = unsafe zmq_close(pointer)
        }
    }

    let handle: Handle

    /// What the socket does with its messages.
    package let kind: Kind

    /// A socket of `context`, used from now on by one thread at a time.
    ///
    /// - Throws: `tooManySockets` at the context's limit or without free descriptors, `terminated` after a shutdown.
    package init(_ kind: Kind, in context: ZeroMQContext) throws(ZeroMQError) {
        let pointer = try unsafe context.open(kind)
        var linger: Int32 = 0
        guard unsafe zmq_setsockopt(pointer, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size) == 0 else {
            let error = ZeroMQError.last
            _ = unsafe zmq_close(pointer)
            throw error
        }
        self.handle = unsafe Handle(pointer, context: context)
        self.kind = kind
    }

    deinit {
        handle.close()
    }

    /// Closes the socket, now rather than with the value's end. A second time does nothing.
    ///
    /// libzmq frees its endpoints soon after, on a thread of its own; `unbind` frees one before it returns.
    package func close() {
        handle.close()
    }

    /// Receives one frame into `message`, whose old content is given up.
    ///
    /// Frames of a multipart message arrive together: while `message.more`, the next call has the next one at once.
    ///
    /// - Returns: false if there is none and `dontWait` is set, or none within the socket's `receiveTimeout`, which
    ///   begins anew after a signal; `message` is then empty.
    /// - Throws: `terminated`, `closed`, or `wrongState` of a REQ that has not sent.
    @inline(__always)
    package func receive(into message: inout Message, dontWait: Bool = true) throws(ZeroMQError) -> Bool {
        let flags = dontWait ? ZMQ_DONTWAIT : 0
        let result = retryingInterrupts { unsafe zmq_msg_recv(&message.raw, handle.pointer, flags) }
        if result >= 0 { return true }
        let error = ZeroMQError.last
        if error == .again { return false }
        throw error
    }

    /// Sends `message`, which is empty afterwards if it was sent, and unchanged otherwise.
    ///
    /// With `more`, it is sent together with the frames that follow it; once the first was sent, the rest of a
    /// multipart message does not block.
    ///
    /// - Throws: `terminated`, `closed`, or `wrongState` of a REQ that waits for its reply.
    @inline(__always)
    package func send(
        _ message: inout Message, more: Bool = false, dontWait: Bool = true
    ) throws(ZeroMQError) -> Outcome {
        let flags = (more ? ZMQ_SNDMORE : 0) | (dontWait ? ZMQ_DONTWAIT : 0)
        return try Self.outcome(retryingInterrupts { unsafe zmq_msg_send(&message.raw, handle.pointer, flags) })
    }

    /// Sends a copy of `bytes`; else as `send(_:more:dontWait:)`.
    package func send(
        copying bytes: UnsafeRawBufferPointer, more: Bool = false, dontWait: Bool = true
    ) throws(ZeroMQError) -> Outcome {
        let flags = (more ? ZMQ_SNDMORE : 0) | (dontWait ? ZMQ_DONTWAIT : 0)
        return try Self.outcome(
            retryingInterrupts { unsafe zmq_send(handle.pointer, bytes.baseAddress, bytes.count, flags) })
    }

    /// Sends a copy of `bytes`; else as `send(_:more:dontWait:)`.
    package func send(
        copying bytes: Span<UInt8>, more: Bool = false, dontWait: Bool = true
    ) throws(ZeroMQError) -> Outcome {
        try unsafe bytes.withUnsafeBytes { (bytes) throws(ZeroMQError) in
            try unsafe send(copying: bytes, more: more, dontWait: dontWait)
        }
    }

    /// Sends a copy of `bytes` that counts as `weight` in `held` until libzmq frees it: once it was sent, or can no
    /// longer be. Else as `send(_:more:dontWait:)`.
    package func send(
        copying bytes: Span<UInt8>, weighing weight: Int, in held: HeldBytes, more: Bool = false, dontWait: Bool = true
    ) throws(ZeroMQError) -> Outcome {
        var message = Message(copying: bytes, weighing: weight, in: held)
        return try send(&message, more: more, dontWait: dontWait)
    }

    /// Sends a copy of `bytes`; else as `send(_:more:dontWait:)`.
    package func send(
        copying bytes: [UInt8], more: Bool = false, dontWait: Bool = true
    ) throws(ZeroMQError) -> Outcome {
        try send(copying: bytes.span, more: more, dontWait: dontWait)
    }

    /// Sends the UTF-8 bytes of `text`; else as `send(_:more:dontWait:)`.
    package func send(
        copying text: String, more: Bool = false, dontWait: Bool = true
    ) throws(ZeroMQError) -> Outcome {
        try send(copying: text.utf8.span, more: more, dontWait: dontWait)
    }

    /// Reads what a sending function of libzmq has answered.
    @inline(__always)
    private static func outcome(_ result: Int32) throws(ZeroMQError) -> Outcome {
        if result >= 0 { return .sent }
        let error = ZeroMQError.last
        if error == .again { return .wouldBlock }
        if error == .hostUnreachable { return .unreachable }
        throw error
    }
}

/// A socket may be handed over as a whole, but never used by two threads.
@available(*, unavailable)
extension Socket: Sendable {}
