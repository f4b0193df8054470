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

    /// A PAIR that tells of each connection that this socket made or lost since, in order (``OwnConnection``), for a
    /// poller of the same thread. To be asked for before the socket is connected, always read, and closed after it.
    ///
    /// What a connection has brought can be received before it is told that it is lost.
    package func ownConnections(in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        try monitor(ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED, in: context)
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

    /// The next event that this PAIR tells of, with its value; nil where there is none.
    fileprivate func nextEvent(into message: inout Message) -> (event: Int32, value: UInt32)? {
        while true {
            guard let isThere = try? receive(into: &message), isThere else { return nil }
            let told = unsafe message.withUnsafeBytes { bytes -> (event: Int32, value: UInt32)? in
                guard bytes.count == 6 else { return nil }
                let event = unsafe Int32(bytes.loadUnaligned(as: UInt16.self))
                return unsafe (event, bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
            }
            // The endpoint, which is the watched socket's.
            while message.more { guard let rest = try? receive(into: &message), rest else { break } }
            if let told { return told }
        }
    }
}

/// What became of the connection of a socket that connects.
package enum OwnConnection: Equatable, Sendable {
    /// Messages go and come by it.
    case made
    case lost

    /// The next one that a PAIR of ``Socket/ownConnections(in:)`` tells of; nil where there is none.
    package init?(from pair: borrowing Socket, into message: inout Message) {
        while let (event, _) = pair.nextEvent(into: &message) {
            switch event {
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
                self = .made
                return
            case ZMQ_EVENT_DISCONNECTED:
                self = .lost
                return
            default: continue
            }
        }
        return nil
    }
}

/// What became of a connection of a bound socket, by its descriptor.
package enum ConnectionChange: Equatable, Sendable {
    case accepted(Int32)
    case lost(Int32)

    /// The next one that a PAIR of ``Socket/connections(in:)`` tells of; nil where there is none.
    package init?(from pair: borrowing Socket, into message: inout Message) {
        while let (event, value) = pair.nextEvent(into: &message) {
            switch event {
            case ZMQ_EVENT_ACCEPTED:
                self = .accepted(Int32(bitPattern: value))
                return
            case ZMQ_EVENT_DISCONNECTED:
                self = .lost(Int32(bitPattern: value))
                return
            default: continue
            }
        }
        return nil
    }
}
