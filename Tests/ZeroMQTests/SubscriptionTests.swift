import Testing
import ZeroMQ

@Suite struct SubscriptionTests {
    private let context: ZeroMQContext

    init() throws {
        context = try ZeroMQContext()
    }

    @Test func `a verbose xpub reports every subscription of a topic`() throws {
        let xpub = try makeSocket(.xpub, context)
        try xpub.set(.xpubVerbose, to: true)
        try xpub.bind("tcp://127.0.0.1:*")
        let first = try makeSubscriber(of: xpub, [utf8("a/")])
        #expect(try xpub.receiveMessage() == [[1] + utf8("a/")])
        let second = try makeSubscriber(of: xpub, [utf8("a/")])
        #expect(try xpub.receiveMessage() == [[1] + utf8("a/")])
        try first.unsubscribe(utf8("a/"))
        try second.unsubscribe(utf8("a/"))
        #expect(try xpub.receiveMessage() == [[0] + utf8("a/")], "only the last unsubscription is reported")
    }

    @Test func `only matching topics come to a subscriber`() throws {
        let xpub = try makeSocket(.xpub, context)
        try xpub.bind("tcp://127.0.0.1:*")
        let sub = try makeSubscriber(of: xpub, [utf8("a/")])
        _ = try xpub.receiveMessage()
        try xpub.sendMessage([utf8("b/1"), utf8("no")])
        try xpub.sendMessage([utf8("a/1"), utf8("yes")])
        #expect(try sub.receiveMessage() == [utf8("a/1"), utf8("yes")])
    }

    /// The join of the bus contract: when the nonce's subscription arrives, all prefixes before it are active.
    @Test(arguments: 0..<20)
    func `when the join topic arrives, the earlier prefixes are active`(round: Int) throws {
        let xpub = try makeJoinServer()
        let prefixes = (0..<50).map { utf8("app\($0)/") }
        let nonce: [UInt8] = [0xFF] + utf8("join/\(round)")
        let sub = try makeSubscriber(of: xpub, [utf8("connected")])
        #expect(try xpub.receiveMessage() == [[1] + utf8("connected")])
        for prefix in prefixes { try sub.subscribe(prefix) }
        try sub.subscribe(nonce)

        var reported: [[UInt8]] = []
        repeat {
            reported.append(Array(try xpub.receiveMessage()[0].dropFirst()))
        } while reported.last != nonce
        #expect(reported == prefixes + [nonce])

        for prefix in prefixes { try xpub.sendMessage([prefix + utf8("x"), utf8("event")]) }
        try xpub.sendMessage([nonce, utf8("joined")])
        for prefix in prefixes { #expect(try sub.receiveMessage() == [prefix + utf8("x"), utf8("event")]) }
        #expect(try sub.receiveMessage() == [nonce, utf8("joined")])
    }

    @Test func `after a broken connection the join topic comes again, still last`() throws {
        let xpub = try makeJoinServer()
        let nonce: [UInt8] = [0xFF] + utf8("join/again")
        let sub = try makeSubscriber(of: xpub, [utf8("b/"), utf8("a/"), nonce])
        var message = Message()
        var descriptor: Int32?
        repeat {
            try #require(try xpub.receive(into: &message, dontWait: false))
            descriptor = message.sourceDescriptor
        } while Array(message.bytes.dropFirst()) != nonce

        kickPeer(descriptor: try #require(descriptor))
        // The subscriber must look after its socket, or it subscribes to nothing (libzmq 4.3.4).
        var reported: [[UInt8]] = []
        let deadline = ContinuousClock.now.advanced(by: patience)
        var poller = Poller()
        let slot = poller.add(xpub)
        while reported.last != [1] + nonce, ContinuousClock.now < deadline {
            _ = try sub.receive(into: &message)
            try poller.wait(milliseconds: 5)
            if poller.isReadable(slot) { reported += try xpub.receiveMessage() }
        }
        let added = reported.filter { $0[0] == 1 }.map { Array($0.dropFirst()) }
        #expect(added == [utf8("a/"), utf8("b/"), nonce])
    }

    @Test func `a message to subscribers is shared, not copied, by a copy of it`() throws {
        let xpub = try makeSocket(.xpub, context)
        try xpub.bind("tcp://127.0.0.1:*")
        let sub = try makeSubscriber(of: xpub, [[]])
        _ = try xpub.receiveMessage()
        let body = [UInt8](repeating: 7, count: 10_000)
        var kept = Message(copying: body)
        for _ in 0..<3 {
            var copy = kept.copy()
            #expect(try xpub.send(&copy) == .sent)
        }
        for _ in 0..<3 { #expect(try sub.receiveMessage() == [body]) }
        #expect(kept.bytes == body)
    }

    private func makeJoinServer() throws -> Socket {
        let xpub = try makeSocket(.xpub, context)
        try xpub.set(.xpubVerbose, to: true)
        try xpub.bind("tcp://127.0.0.1:*")
        return xpub
    }

    private func makeSubscriber(of xpub: borrowing Socket, _ prefixes: [[UInt8]]) throws -> Socket {
        let sub = try makeSocket(.sub, context)
        try sub.set(.sendHighWaterMark, to: 0)
        try sub.set(.reconnectInterval, to: .milliseconds(1))
        for prefix in prefixes { try sub.subscribe(prefix) }
        try sub.connect(xpub.lastEndpoint)
        return sub
    }
}
