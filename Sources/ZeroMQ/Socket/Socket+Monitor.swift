import CZeroMQ

extension Socket {
    /// A PAIR that tells of each connection that this socket accepted or lost since, in order (``ConnectionChange``), for a
    /// poller of the same thread. To be asked for before the socket is bound, and closed after it.
    ///
    /// What a connection sends can be received only after that it was accepted can be.
    package func connections(in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        try monitor(ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED, in: context)
    }

    /// A PAIR that tells of each connection of this socket that came to stand or was lost since, in order
    /// (``LinkChange``), for a poller of the same thread. To be asked for before the socket is connected, read always, and
    /// closed after it. It says nothing of `inproc`.
    package func links(in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
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
}

/// What became of a connection of a bound socket, by its descriptor.
package enum ConnectionChange: Equatable, Sendable {
    case accepted(Int32)
    case lost(Int32)

    /// The next one that a PAIR of ``Socket/connections(in:)`` tells of; nil where there is none.
    package init?(from pair: borrowing Socket, into message: inout Message) {
        while let event = MonitorEvent(from: pair, into: &message) {
            let descriptor = Int32(bitPattern: event.value)
            switch event.number {
            case ZMQ_EVENT_ACCEPTED: self = .accepted(descriptor)
            case ZMQ_EVENT_DISCONNECTED: self = .lost(descriptor)
            default: continue
            }
            return
        }
        return nil
    }
}

/// What became of the connection of a connecting socket.
package enum LinkChange: Equatable, Sendable {
    /// Both sides have shaken hands.
    case established
    /// It was lost, or never came to stand.
    case lost

    /// The next one that a PAIR of ``Socket/links(in:)`` tells of; nil where there is none.
    package init?(from pair: borrowing Socket, into message: inout Message) {
        while let event = MonitorEvent(from: pair, into: &message) {
            switch event.number {
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: self = .established
            case ZMQ_EVENT_DISCONNECTED: self = .lost
            default: continue
            }
            return
        }
        return nil
    }
}

/// One message of a monitor; see zmq_socket_monitor(3).
private struct MonitorEvent {
    var number: Int32
    /// A descriptor, or what else the number says.
    var value: UInt32

    /// The next one, nil where there is none.
    init?(from pair: borrowing Socket, into message: inout Message) {
        while let isThere = try? pair.receive(into: &message), isThere {
            let event = unsafe message.withUnsafeBytes { bytes -> (Int32, UInt32)? in
                guard bytes.count == 6 else { return nil }
                return unsafe (
                    Int32(bytes.loadUnaligned(as: UInt16.self)),
                    bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
                )
            }
            // The endpoint, which is this socket's.
            while message.more { guard let rest = try? pair.receive(into: &message), rest else { break } }
            if let event {
                (number, value) = event
                return
            }
        }
        return nil
    }
}
