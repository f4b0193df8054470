import Testing
import ZeroMQ

@Suite struct EndpointTests {
    private let context: ZeroMQContext

    init() throws {
        context = try ZeroMQContext()
    }

    @Test func `a tcp wildcard is bound to a port that the endpoint names`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("tcp://127.0.0.1:*")
        let endpoint = try router.lastEndpoint
        let port = try #require(UInt16(endpoint.split(separator: ":").last ?? ""))
        #expect(port > 0)
        #expect(endpoint == "tcp://127.0.0.1:\(port)")
        try expectRoundTrip(router)
    }

    @Test func `an ipc path is bound as it is given`() throws {
        try withTemporaryFolder { folder in
            let router = try makeSocket(.router, context)
            try router.bind("ipc://\(folder)/bus.sock")
            #expect(try router.lastEndpoint == "ipc://\(folder)/bus.sock")
            try expectRoundTrip(router)
        }
    }

    @Test func `an inproc name is bound as it is given`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("inproc://bus")
        #expect(try router.lastEndpoint == "inproc://bus")
        try expectRoundTrip(router)
    }

    @Test func `an IPv6 address needs the option`() throws {
        let plain = try makeSocket(.router, context)
        #expect(throws: ZeroMQError.self) { try plain.bind("tcp://[::1]:*") }
        let router = try makeSocket(.router, context)
        try router.set(.ipv6, to: true)
        do {
            try router.bind("tcp://[::1]:*")
        } catch ZeroMQError.addressNotAvailable {
            try Test.cancel("this machine has no IPv6")
        }
        #expect(try router.lastEndpoint.hasPrefix("tcp://[::1]:"))
    }

    @Test func `an address that is taken is in use`() throws {
        let first = try makeSocket(.router, context)
        try first.bind("tcp://127.0.0.1:*")
        let endpoint = try first.lastEndpoint
        let second = try makeSocket(.router, context)
        #expect(throws: ZeroMQError.addressInUse) { try second.bind(endpoint) }
        try first.unbind(endpoint)
        first.close()
    }

    @Test(arguments: ["", "nonsense", "tcp://", "tcp://127.0.0.1", "carrier://pigeon"])
    func `an endpoint that cannot be read is invalid`(endpoint: String) throws {
        let router = try makeSocket(.router, context)
        #expect(throws: ZeroMQError.invalidEndpoint) { try router.bind(endpoint) }
    }

    @Test func `an address of another machine is not available`() throws {
        let router = try makeSocket(.router, context)
        #expect(throws: ZeroMQError.addressNotAvailable) { try router.bind("tcp://192.0.2.1:*") }
    }

    @Test func `an ipc path in a folder that is not there fails`() throws {
        try withTemporaryFolder { folder in
            let router = try makeSocket(.router, context)
            #expect(throws: ZeroMQError.self) { try router.bind("ipc://\(folder)/missing/bus.sock") }
        }
    }

    @Test func `disconnecting gives the peer up`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("tcp://127.0.0.1:*")
        let dealer = try makeSocket(.dealer, context)
        let endpoint = try router.lastEndpoint
        try dealer.connect(endpoint)
        try dealer.disconnect(endpoint)
        #expect(throws: ZeroMQError.self) { try dealer.disconnect(endpoint) }
        var message = Message(copying: utf8("x"))
        #expect(try dealer.send(&message) == .wouldBlock)
    }

    private func expectRoundTrip(_ router: borrowing Socket) throws {
        let dealer = try makeSocket(.dealer, context)
        try dealer.connect(router.lastEndpoint)
        try dealer.sendMessage([utf8("ping")])
        let request = try router.receiveMessage()
        try router.sendMessage([request[0], utf8("pong")])
        #expect(try dealer.receiveMessage() == [utf8("pong")])
    }
}
