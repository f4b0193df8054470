import Testing
import ZeroMQ

@Suite struct SocketTests {
    private let context: ZeroMQContext

    init() throws {
        context = try ZeroMQContext()
    }

    @Test func `a request comes to a router with its envelope, and the reply comes back`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("tcp://127.0.0.1:*")
        let client = try makeSocket(.req, context)
        try client.connect(router.lastEndpoint)

        try client.sendMessage([utf8("question")])
        var request = try router.receiveMessage()
        #expect(request.count == 3)
        #expect(Array(request.dropFirst()) == [[], utf8("question")])

        request[2] = utf8("answer")
        try router.sendMessage(request)
        #expect(try client.receiveMessage() == [utf8("answer")])
    }

    @Test func `a correlated request carries a number before the empty frame`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("inproc://correlated")
        let client = try makeSocket(.req, context)
        try client.set(.reqCorrelate, to: true)
        try client.set(.reqRelaxed, to: true)
        try client.connect("inproc://correlated")
        try client.sendMessage([utf8("first")])
        try client.sendMessage([utf8("second")])
        let first = try router.receiveMessage()
        let second = try router.receiveMessage()
        #expect(first[1].count == 4)
        #expect(first[2...] == [[], utf8("first")])

        // The answer to the request that was given up is dropped, although it comes first.
        try router.sendMessage(Array(first[...2]) + [utf8("late")])
        try router.sendMessage(Array(second[...2]) + [utf8("right")])
        #expect(try client.receiveMessage() == [utf8("right")])
    }

    @Test func `a request out of turn is the wrong state`() throws {
        let client = try makeSocket(.req, context)
        var message = Message()
        #expect(throws: ZeroMQError.wrongState) { _ = try client.receive(into: &message) }
    }

    @Test func `frames of a message arrive together and in order`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("tcp://127.0.0.1:*")
        let dealer = try makeSocket(.dealer, context)
        try dealer.connect(router.lastEndpoint)
        let frames = [utf8("one"), [], [UInt8](repeating: 3, count: 100_000), utf8("four")]
        try dealer.sendMessage(frames)
        #expect(try Array(router.receiveMessage().dropFirst()) == frames)
    }

    @Test func `receiving answers false while there is nothing`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("inproc://nothing")
        var message = Message(copying: utf8("old"))
        #expect(try !router.receive(into: &message))
    }

    @Test func `a receive that waits ends with its timeout`() throws {
        let router = try makeSocket(.router, context)
        try router.set(.receiveTimeout, to: .milliseconds(5))
        try router.bind("inproc://timeout")
        var message = Message()
        #expect(try !router.receive(into: &message, dontWait: false))
    }

    @Test func `sending to nobody would block and leaves the message`() throws {
        let dealer = try makeSocket(.dealer, context)
        var message = Message(copying: utf8("kept"))
        #expect(try dealer.send(&message) == .wouldBlock)
        #expect(message.bytes == utf8("kept"))
    }

    @Test func `a sent message is empty`() throws {
        let one = try makeSocket(.pair, context)
        let other = try makeSocket(.pair, context)
        try one.bind("inproc://pair")
        try other.connect("inproc://pair")
        var message = Message(copying: [UInt8](repeating: 1, count: 50))
        #expect(try one.send(&message) == .sent)
        #expect(message.isEmpty == true)
        #expect(try other.receiveMessage() == [[UInt8](repeating: 1, count: 50)])
    }

    @Test func `a mandatory router cannot reach a peer that it does not have`() throws {
        let router = try makeSocket(.router, context)
        try router.set(.routerMandatory, to: true)
        try router.bind("inproc://mandatory")
        var routingID = Message(copying: utf8("nobody"))
        #expect(try router.send(&routingID, more: true) == .unreachable)
        #expect(routingID.bytes == utf8("nobody"))
    }

    @Test func `a mandatory router would block at a peer that does not read`() throws {
        let router = try makeSocket(.router, context)
        try router.set(.routerMandatory, to: true)
        try router.set(.sendHighWaterMark, to: 1)
        try router.bind("inproc://full")
        let dealer = try makeSocket(.dealer, context)
        try dealer.set(.routingID, to: utf8("slow"))
        try dealer.set(.receiveHighWaterMark, to: 1)
        try dealer.connect("inproc://full")

        var taken = 0
        while try router.send(copying: "slow", more: true) == .sent, taken < 10 {
            #expect(try router.send(copying: "body") == .sent)
            taken += 1
        }
        #expect(taken == 2, "the two high-water marks together")
        for _ in 0..<taken { #expect(try dealer.receiveMessage() == [utf8("body")]) }
        // Reading makes room again; the router hears of it when it looks at its events.
        #expect(try router.events.contains(.writable))
        #expect(try router.send(copying: "slow", more: true) == .sent)
        #expect(try router.send(copying: "again") == .sent)
        #expect(try dealer.receiveMessage() == [utf8("again")])
    }

    @Test func `a frame over the maximum cuts the connection and is never seen`() throws {
        let router = try makeSocket(.router, context)
        try router.set(.maxMessageSize, to: 1_000)
        try router.bind("tcp://127.0.0.1:*")
        let dealer = try makeSocket(.dealer, context)
        // Without `immediate` only the first connection is probed, since the others take its queue over.
        try dealer.set(.probeRouter, to: true)
        try dealer.set(.immediate, to: true)
        try dealer.set(.reconnectInterval, to: .milliseconds(1))
        try dealer.connect(router.lastEndpoint)
        let first = try router.receiveMessage(attending: dealer)
        #expect(first.count == 2 && first[1] == [])

        try dealer.sendMessage([[UInt8](repeating: 0, count: 1_001)])
        let second = try router.receiveMessage(attending: dealer)
        #expect(second.count == 2 && second[1] == [], "the next thing is the probe of a new connection")
        #expect(second[0] != first[0])

        try dealer.sendMessage([[UInt8](repeating: 0, count: 1_000)])
        #expect(try router.receiveMessage()[1].count == 1_000)
    }

    @Test func `a closed socket refuses everything, and its endpoint is free`() throws {
        let first = try makeSocket(.router, context)
        try first.bind("inproc://free")
        first.close()
        first.close()
        var message = Message()
        #expect(throws: ZeroMQError.closed) { _ = try first.receive(into: &message) }
        #expect(throws: ZeroMQError.closed) { _ = try first.send(copying: "x") }
        #expect(throws: ZeroMQError.closed) { try first.bind("inproc://other") }
        #expect(throws: ZeroMQError.closed) { _ = try first.lastEndpoint }
        #expect(throws: ZeroMQError.closed) { try first.set(.backlog, to: 1) }
        #expect(throws: ZeroMQError.closed) { _ = try first.events }
        let second = try makeSocket(.router, context)
        try second.bindSoon("inproc://free")
    }

    @Test func `a shut down context ends a socket's calls`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("inproc://over")
        context.shutdown()
        var message = Message()
        #expect(throws: ZeroMQError.terminated) { _ = try router.receive(into: &message, dontWait: false) }
        #expect(throws: ZeroMQError.terminated) { _ = try Socket(.router, in: context) }
    }

    @Test func `events say what can be done without waiting`() throws {
        let one = try makeSocket(.pair, context)
        let other = try makeSocket(.pair, context)
        #expect(try one.events == [])
        try one.bind("inproc://events")
        try other.connect("inproc://events")
        #expect(try one.events == .writable)
        try other.sendMessage([utf8("x")])
        #expect(try one.events == [.readable, .writable])
    }

    @Test func `the limit of sockets is an error`() throws {
        let small = try ZeroMQContext(maxSockets: 1)
        let only = try Socket(.pair, in: small)
        #expect(throws: ZeroMQError.tooManySockets) { _ = try Socket(.pair, in: small) }
        only.close()
    }

    @Test func `a context refuses impossible numbers`() {
        #expect(throws: ZeroMQError.invalidArgument) { _ = try ZeroMQContext(ioThreads: -1) }
    }
}
