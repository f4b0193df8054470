import Glibc
import Testing
import ZeroMQ

/// What a ROUTER's pipes hold is known by bytes.
@Suite struct HeldBytesTests {
    private let context: ZeroMQContext
    /// More than the kernel's buffers of a connection take.
    private static let frame = [UInt8](repeating: 7, count: 1 << 20)
    private static let frames = 32

    init() throws {
        context = try ZeroMQContext()
    }

    /// A peer that takes one message at a time.
    private func makePeer(of router: borrowing Socket) throws -> Socket {
        let dealer = try makeSocket(.dealer, context)
        try dealer.set(.receiveHighWaterMark, to: 1)
        try dealer.set(.receiveBuffer, to: 4_096)
        try dealer.connect(router.lastEndpoint)
        return dealer
    }

    /// The routing id of a peer, which has to say something for it.
    private func identify(_ peer: borrowing Socket, at router: borrowing Socket) throws -> [UInt8] {
        try peer.sendMessage([[1]])
        return try router.receiveMessage()[0]
    }

    private func sendAll(to id: [UInt8], of router: borrowing Socket, _ held: HeldBytes) throws {
        for _ in 0..<Self.frames {
            #expect(try router.send(copying: id, more: true) == .sent)
            #expect(try router.send(copying: Self.frame.span, weighing: Self.frame.count, in: held) == .sent)
        }
    }

    private func waitUntilFreed(_ held: HeldBytes) throws {
        let deadline = ContinuousClock.now.advanced(by: patience)
        while held.count > 0 {
            try #require(ContinuousClock.now < deadline, "\(held.count) bytes are still held")
            sched_yield()
        }
        #expect(held.freed == Self.frames * Self.frame.count)
    }

    private func makeRouter() throws -> Socket {
        let router = try makeSocket(.router, context)
        try router.set(.routerMandatory, to: true)
        try router.bind("tcp://127.0.0.1:*")
        return router
    }

    @Test func `what a peer does not read counts, and no more once it has read it`() throws {
        let router = try makeRouter()
        let peer = try makePeer(of: router)
        let id = try identify(peer, at: router)
        let held = HeldBytes()
        try sendAll(to: id, of: router, held)
        #expect(held.count > 0)
        for _ in 0..<Self.frames { #expect(try peer.receiveMessage() == [Self.frame]) }
        try waitUntilFreed(held)
    }

    @Test func `what a peer did not read counts no more once it has gone`() throws {
        let router = try makeRouter()
        let peer = try makePeer(of: router)
        let id = try identify(peer, at: router)
        let held = HeldBytes()
        try sendAll(to: id, of: router, held)
        peer.close()
        let deadline = ContinuousClock.now.advanced(by: patience)
        // A socket takes notice of a peer's end when it is used.
        while held.count > 0, ContinuousClock.now < deadline { _ = try router.events }
        try waitUntilFreed(held)
    }

    @Test func `the end of the context frees what is held`() throws {
        let held = HeldBytes()
        let router = try makeRouter()
        let peer = try makePeer(of: router)
        let id = try identify(peer, at: router)
        try sendAll(to: id, of: router, held)
        router.close()
        peer.close()
        context.end()
        try waitUntilFreed(held)
    }

    @Test func `what has nobody to go to counts for nothing`() throws {
        let held = HeldBytes()
        let router = try makeRouter()
        #expect(try router.send(copying: Self.frame.span, weighing: 1, in: held, more: true) == .unreachable)
        #expect(held.count == 0 && held.freed == 1)
    }
}
