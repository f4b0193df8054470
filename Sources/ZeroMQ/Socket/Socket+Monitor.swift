import CZeroMQ

extension Socket {
    /// A PAIR that has a message for each connection that this socket lost since, for a poller of the same thread.
    ///
    /// Whoever asks for it reads it, whatever the messages say: one that is never read stops the whole context in the
    /// end. It is closed after this socket, with which its messages end.
    package func disconnections(in context: ZeroMQContext) throws(ZeroMQError) -> Socket {
        // Unique as long as this socket lives.
        let endpoint = unsafe "inproc://disconnections-\(UInt(bitPattern: handle.pointer))"
        guard unsafe zmq_socket_monitor(handle.pointer, endpoint, ZMQ_EVENT_DISCONNECTED) == 0 else { throw .last }
        let pair = try Socket(.pair, in: context)
        try pair.connect(endpoint)
        return pair
    }
}
