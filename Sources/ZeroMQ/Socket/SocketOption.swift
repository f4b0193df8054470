import CZeroMQ

/// An option of a socket whose value is a `Value`; see zmq_setsockopt(3) for the numbers.
///
/// Most options count for the binds and connects that follow. ZMTP heartbeats are left out on purpose: in libzmq 4.3.4
/// they abort a connecting process whose queue is full, and cut healthy peers of a slow reader.
package struct SocketOption<Value>: Sendable {
    let number: Int32
    /// How many of the option's units make a second, for durations.
    var unitsPerSecond: Int64 = 1_000
}

extension SocketOption where Value == Bool {
    /// A ROUTER answers `unreachable` and `wouldBlock` instead of dropping silently.
    package static var routerMandatory: Self { Self(number: ZMQ_ROUTER_MANDATORY) }
    /// A ROUTER gives a routing id that is taken to the peer who claims it anew. Leave it off: it steals replies.
    package static var routerHandover: Self { Self(number: ZMQ_ROUTER_HANDOVER) }
    /// An XPUB reports every subscription, not only the first of a topic.
    package static var xpubVerbose: Self { Self(number: ZMQ_XPUB_VERBOSE) }
    /// An XPUB reports every end of a subscription too, not only that of the last one of a topic.
    package static var xpubVerboser: Self { Self(number: ZMQ_XPUB_VERBOSER) }
    /// An XPUB or XSUB takes only the first frame of a message as a subscription (a "draft" number that 4.3.4 knows).
    package static var onlyFirstSubscribe: Self { Self(number: 108) }
    /// Messages wait only for connections that are complete. A lost connection takes with it what it has brought and
    /// nobody has received, and libzmq aborts the process (`!_more`, fq.cpp) where it hears of the loss between two
    /// frames of a message that is received, as it does at every hundredth: it is not for what receives such messages.
    package static var immediate: Self { Self(number: ZMQ_IMMEDIATE) }
    /// An empty message is sent to each new peer, so that a ROUTER learns of it at once; after a broken connection
    /// again only with `immediate`.
    package static var probeRouter: Self { Self(number: ZMQ_PROBE_ROUTER) }
    /// A REQ may send again without having received the reply.
    package static var reqRelaxed: Self { Self(number: ZMQ_REQ_RELAXED) }
    /// A REQ sends a number with each request, and drops replies to older ones.
    package static var reqCorrelate: Self { Self(number: ZMQ_REQ_CORRELATE) }
    /// IPv6 addresses are read and accepted too.
    package static var ipv6: Self { Self(number: ZMQ_IPV6) }
    /// The operating system probes idle connections.
    package static var tcpKeepalive: Self { Self(number: ZMQ_TCP_KEEPALIVE) }
}

extension SocketOption where Value == Int32 {
    /// Messages that may wait to be sent, for each peer; 0 is without limit. A SUB that may hold more than 1 000
    /// subscriptions needs 0, or it loses some when it connects.
    package static var sendHighWaterMark: Self { Self(number: ZMQ_SNDHWM) }
    /// Messages that may wait to be received, from each peer; 0 is without limit.
    package static var receiveHighWaterMark: Self { Self(number: ZMQ_RCVHWM) }
    /// Connections that may wait to be accepted.
    package static var backlog: Self { Self(number: ZMQ_BACKLOG) }
    /// Unanswered keepalive probes before a connection is given up.
    package static var tcpKeepaliveCount: Self { Self(number: ZMQ_TCP_KEEPALIVE_CNT) }
    /// The kernel's send buffer in bytes; -1 leaves it to the kernel.
    package static var sendBuffer: Self { Self(number: ZMQ_SNDBUF) }
    /// The kernel's receive buffer in bytes; -1 leaves it to the kernel.
    package static var receiveBuffer: Self { Self(number: ZMQ_RCVBUF) }
}

extension SocketOption where Value == Int64 {
    /// Bytes that one received frame may have; a peer that sends more is cut. -1 is without limit.
    package static var maxMessageSize: Self { Self(number: ZMQ_MAXMSGSIZE) }
}

extension SocketOption where Value == Duration {
    /// How long closing waits for unsent messages. Every socket starts with zero.
    package static var linger: Self { Self(number: ZMQ_LINGER) }
    /// How long a receive that waits waits; then it answers that there is nothing.
    package static var receiveTimeout: Self { Self(number: ZMQ_RCVTIMEO) }
    /// How long a send that waits waits; then it answers `wouldBlock`.
    package static var sendTimeout: Self { Self(number: ZMQ_SNDTIMEO) }
    /// How long after a broken connection it is tried again.
    package static var reconnectInterval: Self { Self(number: ZMQ_RECONNECT_IVL) }
    /// What that interval grows to, doubling; zero keeps it as it is.
    package static var reconnectIntervalMax: Self { Self(number: ZMQ_RECONNECT_IVL_MAX) }
    /// How long a connection's opening may take.
    package static var connectTimeout: Self { Self(number: ZMQ_CONNECT_TIMEOUT) }
    /// How long a new connection's handshake may take.
    package static var handshakeInterval: Self { Self(number: ZMQ_HANDSHAKE_IVL) }
    /// How long sent bytes may stay unacknowledged before TCP gives the connection up (`TCP_USER_TIMEOUT`).
    package static var tcpMaxRetransmit: Self { Self(number: ZMQ_TCP_MAXRT) }
    /// How long a connection is idle before it is probed; whole seconds.
    package static var tcpKeepaliveIdle: Self { Self(number: ZMQ_TCP_KEEPALIVE_IDLE, unitsPerSecond: 1) }
    /// The time between two probes; whole seconds.
    package static var tcpKeepaliveInterval: Self { Self(number: ZMQ_TCP_KEEPALIVE_INTVL, unitsPerSecond: 1) }
}

extension SocketOption where Value == [UInt8] {
    /// The name by which a ROUTER knows this socket: 1 to 255 bytes, the first one not 0.
    package static var routingID: Self { Self(number: ZMQ_ROUTING_ID) }
}
