import Testing
import ZeroMQ

@Suite struct KickTests {
    private let context: ZeroMQContext

    init() throws {
        context = try ZeroMQContext()
    }

    @Test func `a kicked peer becomes unreachable and may come back as a new one`() throws {
        let router = try makeSocket(.router, context)
        try router.set(.routerMandatory, to: true)
        try router.bind("tcp://127.0.0.1:*")
        let dealer = try makeDealer(of: router)
        let other = try makeDealer(of: router)
        let (dealerID, descriptor) = try identify(dealer, at: router)
        let (otherID, otherDescriptor) = try identify(other, at: router)
        #expect(descriptor != otherDescriptor)

        #expect(kickPeer(descriptor: descriptor))

        // A first message from the new connection shows that the old one is gone.
        var frames = try router.receiveMessage(attending: dealer)
        #expect(frames[0] != dealerID && frames[0] != otherID && frames[1] == [])
        #expect(try sendUntilUnreachable(dealerID, at: router))

        // The new connection and the other peer are as they were.
        frames[1] = utf8("welcome back")
        try router.sendMessage(frames)
        #expect(try dealer.receiveMessage() == [utf8("welcome back")])
        try router.sendMessage([otherID, utf8("still here")])
        #expect(try other.receiveMessage() == [utf8("still here")])
    }

    @Test func `a message over inproc has no connection to cut`() throws {
        let router = try makeSocket(.router, context)
        try router.bind("inproc://uncut")
        let dealer = try makeSocket(.dealer, context)
        try dealer.connect("inproc://uncut")
        try dealer.sendMessage([utf8("x")])
        var frame = Message()
        #expect(try router.receive(into: &frame, dontWait: false))
        #expect(try router.receive(into: &frame, dontWait: false))
        #expect(frame.bytes == utf8("x"))
        #expect(frame.sourceDescriptor == nil)
    }

    @Test func `a descriptor that is no connection is not kicked`() {
        #expect(!kickPeer(descriptor: -1))
    }

    /// A peer that says hello by itself on each of its connections.
    private func makeDealer(of router: borrowing Socket) throws -> Socket {
        let dealer = try makeSocket(.dealer, context)
        try dealer.set(.probeRouter, to: true)
        try dealer.set(.immediate, to: true)
        try dealer.set(.reconnectInterval, to: .milliseconds(1))
        try dealer.connect(router.lastEndpoint)
        return dealer
    }

    /// The routing id and connection of a peer that has just connected.
    private func identify(
        _ dealer: borrowing Socket, at router: borrowing Socket
    ) throws -> (routingID: [UInt8], descriptor: Int32) {
        let probe = try router.receiveMessage(attending: dealer)
        try dealer.sendMessage([utf8("who am I")])
        var frame = Message()
        #expect(try router.receive(into: &frame, dontWait: false))
        #expect(frame.bytes == probe[0])
        #expect(try router.receive(into: &frame, dontWait: false))
        let descriptor = frame.sourceDescriptor
        return (probe[0], try #require(descriptor))
    }

    private func sendUntilUnreachable(_ id: [UInt8], at router: borrowing Socket) throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: patience)
        while ContinuousClock.now < deadline {
            _ = try router.events
            if try router.send(copying: id, more: true) == .unreachable { return true }
            _ = try router.send(copying: "lost")
        }
        return false
    }
}
