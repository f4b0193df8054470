import Glibc
import IsletClient
import Synchronization
import Testing
import ZeroMQ

/// What waits to be sent.
@Suite struct OutletTests {
    @Test func `a command that finds no room is sent again once there is some`() throws {
        var generator = SplitMix(state: 1)
        let start = ContinuousClock.now
        var table = RequestTable(
            prefix: "t", client: "c", backoff: Backoff(first: .milliseconds(100), maximum: .seconds(1)))
        let request = try table.begin(
            Command("activity.heartbeat", ["key": .string("k")]), timeout: .seconds(10), now: start, using: &generator
        ).get()

        let context = try ZeroMQContext()
        var poller = Poller()
        var outlet = try Outlet(context: context, poller: &poller)
        for number in 0..<Outlet.maximumWaiting {
            outlet.send(.init(frames: [[0]], requests: ["given-up-\(number)"]))
        }
        outlet.send(.init(frames: [request.frame], requests: [request.req]))
        let wasHeld = outlet.holds(req: request.req)
        #expect(!wasHeld, "more waits than may")
        outlet.flush(now: .now, poller: &poller) { entry in entry.requests.contains { table.waits(req: $0) } }

        var again: [RequestTable.Action] = []
        for step in 1...20 where again.isEmpty {
            again = table.due(now: start + .milliseconds(100 * step), using: &generator)
        }
        #expect(again == [.send(req: request.req, frame: request.frame)])
        outlet.send(.init(frames: [request.frame], requests: [request.req]))
        let isHeld = outlet.holds(req: request.req)
        #expect(isHeld, "it waits for the connection now")
        outlet.close()
    }

    @Test func `what does not wait is dropped, also behind what does`() throws {
        let context = try ZeroMQContext()
        var poller = Poller()
        var outlet = try Outlet(context: context, poller: &poller)
        outlet.send(.init(frames: [[0]], requests: ["early report"], waits: false))
        outlet.send(.init(frames: [[1]], requests: ["change"]))
        outlet.send(.init(frames: [[2]], requests: ["late report"], waits: false))
        outlet.flush(now: .now, poller: &poller) { _ in true }
        let held = ["early report", "change", "late report"].filter { outlet.holds(req: $0) }
        #expect(held == ["change"], "no connection was made")
        outlet.close()
    }

    @Test func `an address where something else answered first is tried again`() throws {
        let context = try ZeroMQContext()
        let publisher = try Socket(.xpub, in: context)
        let connections = try publisher.connections(in: context)
        // An address where no other test takes the port meanwhile.
        try publisher.bind("tcp://127.0.0.19:*")
        let endpoint = try publisher.lastEndpoint
        var poller = Poller()
        var outlet = try Outlet(context: context, poller: &poller)
        try outlet.connect(endpoint)
        outlet.send(.init(frames: [[1]], requests: ["command"]))
        let deadline = ContinuousClock.now + patience
        var message = Message()
        var accepted = 0
        while accepted < 2 {
            try #require(ContinuousClock.now < deadline, "\(accepted) connections were made")
            outlet.flush(now: .now, poller: &poller) { _ in true }
            try poller.wait(milliseconds: 5)
            while let change = ConnectionChange(from: connections, into: &message) {
                if case .accepted = change { accepted += 1 }
            }
        }
        try publisher.unbind(endpoint)
        publisher.close()
        connections.close()
        let router = try Router(takingOver: endpoint, until: deadline)
        var text: [UInt8]?
        while text == nil {
            try #require(ContinuousClock.now < deadline, "the command was not sent")
            outlet.flush(now: .now, poller: &poller) { _ in true }
            try poller.wait(milliseconds: 5)
            text = try router.next()?.text
        }
        #expect(text == [1])
        outlet.close()
    }

    @Test func `an attempt to connect of which nothing is heard is given up for another`() throws {
        let listener = try SilentListener()
        let context = try ZeroMQContext()
        var poller = Poller()
        var outlet = try Outlet(context: context, poller: &poller)
        let start = ContinuousClock.now
        try outlet.connect(listener.endpoint)
        try listener.waitForConnections(1)
        outlet.flush(now: start + Outlet.patience - .seconds(1), poller: &poller) { _ in true }
        let wakeUp = outlet.nextWakeUp
        let due = try #require(wakeUp)
        #expect(start + Outlet.patience <= due, "given up before its time")
        outlet.flush(now: due, poller: &poller) { _ in true }
        outlet.flush(now: due + Outlet.shortestPause * 2, poller: &poller) { _ in true }
        try listener.waitForConnections(2)
        outlet.close()
    }

    @Test func `an attempt to subscribe of which nothing is heard is given up for another`() throws {
        let listener = try SilentListener()
        let context = try ZeroMQContext()
        var poller = Poller()
        let socket = try Socket(.sub, in: context)
        var link = try SubscriptionLink(of: socket, in: context, poller: &poller)
        let start = ContinuousClock.now
        try link.connect(socket, to: listener.endpoint, now: start)
        try listener.waitForConnections(1)
        let wakeUp = link.nextWakeUp
        #expect(wakeUp == start + Outlet.patience)
        link.renew(socket, at: listener.endpoint, now: start + Outlet.patience)
        try listener.waitForConnections(2)
        socket.close()
        link.close()
    }

    /// With `ZMQ_IMMEDIATE` libzmq aborts the process here, within a few connections.
    @Test func `connections that are lost while messages of several frames are read cost what was on its way`() throws {
        let router = try Router()
        var poller = Poller()
        var outlet = try Outlet(context: router.context, poller: &poller)
        try outlet.connect(router.endpoint)
        let losses = 20
        let start = ContinuousClock.now
        let deadline = start + patience
        var message = Message()
        var lost = 0
        while lost < losses {
            try #require(ContinuousClock.now < deadline, "\(lost) connections were lost")
            outlet.send(.init(frames: [[1]], requests: [], waits: false))
            outlet.flush(now: .now, poller: &poller) { _ in true }
            try router.answerOnce(count: 2_000, kick: true)
            while let frames = outlet.receive(into: &message) { #expect(frames.map(\.count) == [20, 200, 20]) }
            if outlet.takeLoss() { lost += 1 }
        }
        #expect(start.duration(to: .now) >= Outlet.shortestPause * (losses - 1), "no pause between connections")
        outlet.close()
    }

    @Test func `what was given to a connection that is lost never goes by the next one`() throws {
        let router = try Router(receiving: 1)
        var poller = Poller()
        var outlet = try Outlet(context: router.context, poller: &poller)
        try outlet.connect(router.endpoint)
        let deadline = ContinuousClock.now + patience
        // Till neither the router nor the kernel nor libzmq takes any more.
        var sent = 0
        var hasGone = false
        var idle = 0
        while idle < 100 {
            try #require(ContinuousClock.now < deadline, "\(sent) were sent")
            let req = "old-\(sent)"
            outlet.send(.init(frames: [Array("old".utf8) + Array(repeating: 0, count: 10_000)], requests: [req]))
            outlet.flush(now: .now, poller: &poller) { _ in true }
            let isHeld = outlet.holds(req: req)
            hasGone = hasGone || !isHeld
            idle = isHeld && hasGone ? idle + 1 : 0
            sent += 1
            try poller.wait(milliseconds: 1)
        }
        let first = try #require(try router.next())
        kickPeer(descriptor: first.descriptor)
        outlet.send(.init(frames: [Array("new".utf8)], requests: ["new"]))
        var came: (id: [UInt8], text: [UInt8])?
        while came == nil || came?.id == first.id {
            try #require(ContinuousClock.now < deadline, "nothing came by the second connection")
            outlet.flush(now: .now, poller: &poller) { $0.requests == ["new"] }
            try poller.wait(milliseconds: 5)
            while came == nil || came?.id == first.id, let next = try router.next() { came = (next.id, next.text) }
        }
        #expect(came?.text.prefix(3) == Array("new".utf8)[...])
        outlet.close()
    }
}

/// Longer than any of this takes.
private let patience = Duration.seconds(60)

/// Accepts connections, and never says a word.
private struct SilentListener: ~Copyable {
    let endpoint: String
    private let descriptor: Int32
    private let accepted = Mutex(0)

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        endpoint = "tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        try #require(isListening)
    }

    deinit {
        close(descriptor)
    }

    /// Accepts until so many have been in all; they stay.
    func waitForConnections(_ count: Int) throws {
        let deadline = ContinuousClock.now + patience
        while accepted.withLock({ $0 }) < count {
            try #require(ContinuousClock.now < deadline, "\(accepted.withLock { $0 }) connections were made")
            if accept(descriptor, nil, nil) >= 0 { accepted.withLock { $0 += 1 } } else { usleep(1_000) }
        }
    }
}

/// A bound ROUTER that shuts connections.
private struct Router: ~Copyable {
    let context: ZeroMQContext
    let endpoint: String
    private let socket: Socket

    /// - Parameter receiving: how many messages of a peer wait for it.
    init(at endpoint: String = "tcp://127.0.0.1:*", receiving: Int32 = 1_000) throws {
        let context = try ZeroMQContext()
        let socket = try Socket(.router, in: context)
        try socket.set(.receiveHighWaterMark, to: receiving)
        try socket.set(.sendHighWaterMark, to: 0)
        try socket.bind(endpoint)
        self.endpoint = try socket.lastEndpoint
        self.context = context
        self.socket = socket
    }

    /// At the endpoint of a socket that was closed, which libzmq frees on a thread of its own.
    init(takingOver endpoint: String, until deadline: ContinuousClock.Instant) throws {
        while true {
            do {
                self = try Router(at: endpoint)
                return
            } catch ZeroMQError.addressInUse {
                try #require(ContinuousClock.now < deadline, "\(endpoint) is not free")
            }
        }
    }

    /// The next message of two frames: whose it is, and by which connection it came.
    func next() throws -> (id: [UInt8], text: [UInt8], descriptor: Int32)? {
        var message = Message()
        guard try socket.receive(into: &message) else { return nil }
        let id = message.bytes
        guard try socket.receive(into: &message) else { return nil }
        return (id, message.bytes, message.sourceDescriptor ?? -1)
    }

    /// Answers a message that has come with many of three frames, and may shut its connection meanwhile.
    func answerOnce(count: Int, kick: Bool) throws {
        guard let (id, _, descriptor) = try next() else { return }
        for number in 0..<count {
            if number == count / 2, kick { kickPeer(descriptor: descriptor) }
            _ = try socket.send(copying: id, more: true)
            _ = try socket.send(copying: Array(repeating: 1, count: 20), more: true)
            _ = try socket.send(copying: Array(repeating: 2, count: 200), more: true)
            _ = try socket.send(copying: Array(repeating: 3, count: 20))
        }
    }
}
