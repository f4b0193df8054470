import CZeroMQ

extension Socket {
    /// A PAIR that has a message for each connection that this socket lost since, for a poller of the same thread.
    ///
    /// Whoever asks for it reads it, whatever the messages say: one that is never read stops the whole context in the
    /// end. It is closed after this socket, with which its messages end.
    package func disconnections(in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        try monitor(ZMQ_EVENT_DISCONNECTED, in: context)
    }

    /// A PAIR that tells of each connection that this socket accepted or lost since, in order (``ConnectionChange``), for a
    /// poller of the same thread. To be asked for before the socket is bound, and closed after it.
    ///
    /// What a connection sends can be received only after that it was accepted can be.
    package func connections(in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        try monitor(ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED, in: context)
    }

    private func monitor(_ events: Int32, in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        // Unique as long as this socket lives.
        let endpoint = unsafe "inproc://monitor-\(UInt(bitPattern: handle.pointer))"
        guard unsafe zmq_socket_monitor(handle.pointer, endpoint, events) == 0 else { throw .last }
        let pair = try Socket(.pair, in: context)
        // Whoever tells would wait for a reader that is late, and with it all connections.
        try pair.set(.receiveHighWaterMark, to: 0)
        try pair.connect(endpoint)
        return pair
    }
}

/// What became of a connection of a bound socket, by its descriptor.
package enum ConnectionChange: Equatable, Sendable {
    case accepted(Int32)
    case lost(Int32)

    /// The next one that a PAIR of ``Socket/connections(in:)`` tells of; nil where there is none.
    package init?(from pair: borrowing Socket, into message: inout Message) {
        while true {
            guard let isThere = try? pair.receive(into: &message), isThere else { return nil }
            let change = unsafe message.withUnsafeBytes { bytes -> ConnectionChange? in
                // The event's number, and the descriptor.
                guard bytes.count == 6 else { return nil }
                let descriptor = unsafe Int32(bitPattern: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
                switch unsafe Int32(bytes.loadUnaligned(as: UInt16.self)) {
                case ZMQ_EVENT_ACCEPTED: return .accepted(descriptor)
                case ZMQ_EVENT_DISCONNECTED: return .lost(descriptor)
                default: return nil
                }
            }
            // The endpoint, which is this socket's.
            while message.more { guard let rest = try? pair.receive(into: &message), rest else { break } }
            if let change {
                self = change
                return
            }
        }
    }
}
