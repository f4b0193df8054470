import CZeroMQ
import Glibc

extension Socket {
    /// Accepts peers at `endpoint`, such as `tcp://127.0.0.1:*`, `ipc:///run/x.sock` or `inproc://x`.
    ///
    /// libzmq takes port numbers modulo 65 536: who reads them from outside must check them.
    ///
    /// libzmq deletes whatever is at an `ipc` path: here only a socket is, on which nobody listens any more.
    ///
    /// - Throws: `invalidEndpoint`, `addressInUse`, `addressNotAvailable`, `accessDenied`, `notASocket` …
    package func bind(_ endpoint: String) throws(ZeroMQError) {
        if endpoint.hasPrefix("ipc://") { try Self.checkIsFree(String(endpoint.dropFirst("ipc://".count))) }
        try atEndpoint(retryingInterrupts { unsafe zmq_bind(handle.pointer, endpoint) })
    }

    /// Stops accepting at `endpoint`, as `lastEndpoint` gave it, and drops the peers that came in by it.
    package func unbind(_ endpoint: String) throws(ZeroMQError) {
        try atEndpoint(retryingInterrupts { unsafe zmq_unbind(handle.pointer, endpoint) })
    }

    /// Connects to `endpoint`, and again whenever the connection breaks. Returns before there is a connection.
    package func connect(_ endpoint: String) throws(ZeroMQError) {
        try atEndpoint(retryingInterrupts { unsafe zmq_connect(handle.pointer, endpoint) })
    }

    /// Gives the connection to `endpoint` up, with what was not sent by it.
    package func disconnect(_ endpoint: String) throws(ZeroMQError) {
        try atEndpoint(retryingInterrupts { unsafe zmq_disconnect(handle.pointer, endpoint) })
    }

    /// The endpoint of the last `bind` or `connect`, with the port that was really bound.
    ///
    /// For a socket in the IPv6 mode that is bound to an IPv4 address, libzmq writes it as `[::ffff:127.0.0.1]`.
    package var lastEndpoint: String {
        get throws(ZeroMQError) {
            var buffer = [CChar](repeating: 0, count: Self.endpointBytesMax)
            var count = buffer.count
            guard unsafe zmq_getsockopt(handle.pointer, ZMQ_LAST_ENDPOINT, &buffer, &count) == 0 else { throw .last }
            let bytes = buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// More than any endpoint has: `ipc` paths end at 108 bytes, `inproc` names at 256.
    private static let endpointBytesMax = 1_024

    private static func checkIsFree(_ path: String) throws(ZeroMQError) {
        // Names of the kernel's own, and those that libzmq finds.
        guard path.first != "@", path != "*" else { return }
        switch unsafe czeromq_local_socket(path) {
        case 0: return
        case EADDRINUSE: throw .addressInUse
        case ENOTSOCK: throw .notASocket
        // Whoever binds there is told what is wrong.
        default: return
        }
    }

    private func atEndpoint(_ result: Int32) throws(ZeroMQError) {
        guard result == -1 else { return }
        let error = ZeroMQError.last
        throw error == .invalidArgument ? .invalidEndpoint : error
    }
}

/// Whether somebody listens at a path of this machine, or at a name of the kernel's own, which begins with `@`.
package func isListening(at path: String) -> Bool {
    switch unsafe czeromq_local_socket(path) {
    // It is there, and another user's.
    case EADDRINUSE, EACCES: true
    default: false
    }
}

/// Cuts the connection with the descriptor that `Message.sourceDescriptor` gave: the peer is gone as if the network
/// had failed, and may come back as any other may.
///
/// libzmq keeps the descriptor and closes it by itself. Call it in the turn that received the message, or for a
/// connection that is known to live: a descriptor's number is soon used again.
///
/// - Returns: false if there is no such connection any more.
@discardableResult
package func kickPeer(descriptor: Int32) -> Bool {
    Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) == 0
}
