import Testing
import ZeroMQ

@Suite struct OptionTests {
    private let context: ZeroMQContext

    init() throws {
        context = try ZeroMQContext()
    }

    @Test func `a router takes every option that the service sets`() throws {
        let router = try Socket(.router, in: context)
        for option: SocketOption<Bool> in [.routerMandatory, .routerHandover, .ipv6, .tcpKeepalive, .immediate] {
            try router.set(option, to: true)
            try router.set(option, to: false)
        }
        try router.set(.sendHighWaterMark, to: 1_000)
        try router.set(.receiveHighWaterMark, to: 0)
        try router.set(.backlog, to: 1_024)
        try router.set(.tcpKeepaliveCount, to: 3)
        try router.set(.sendBuffer, to: 1 << 20)
        try router.set(.receiveBuffer, to: -1)
        try router.set(.maxMessageSize, to: 1 << 20)
        for option: SocketOption<Duration> in [
            .linger, .receiveTimeout, .sendTimeout, .reconnectInterval, .reconnectIntervalMax, .connectTimeout,
            .handshakeInterval, .tcpMaxRetransmit, .tcpKeepaliveIdle, .tcpKeepaliveInterval,
        ] {
            try router.set(option, to: .seconds(15))
        }
    }

    @Test func `an xpub, a dealer and a req take theirs`() throws {
        let xpub = try Socket(.xpub, in: context)
        try xpub.set(.xpubVerbose, to: true)
        try xpub.set(.onlyFirstSubscribe, to: true)
        let dealer = try Socket(.dealer, in: context)
        try dealer.set(.probeRouter, to: true)
        try dealer.set(.routingID, to: utf8("me"))
        let req = try Socket(.req, in: context)
        try req.set(.reqRelaxed, to: true)
        try req.set(.reqCorrelate, to: true)
    }

    @Test func `an option of another type of socket is refused`() throws {
        let sub = try Socket(.sub, in: context)
        #expect(throws: ZeroMQError.invalidArgument) { try sub.set(.routerMandatory, to: true) }
        let router = try Socket(.router, in: context)
        #expect(throws: ZeroMQError.invalidArgument) { try router.subscribe([]) }
        #expect(throws: ZeroMQError.invalidArgument) { try router.setRaw(option: 9_999, value: 0) }
    }

    @Test(arguments: [Duration.milliseconds(-1), .seconds(-5), .seconds(1 << 40)])
    func `a time that no option can hold is refused`(time: Duration) throws {
        let router = try Socket(.router, in: context)
        #expect(throws: ZeroMQError.invalidArgument) { try router.set(.handshakeInterval, to: time) }
    }

    @Test(arguments: Socket.Kind.allCases)
    func `every kind of socket can be made`(kind: Socket.Kind) throws {
        let socket = try Socket(kind, in: context)
        #expect(socket.kind == kind)
    }
}
