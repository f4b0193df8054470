import Synchronization
import Testing
import ZeroMQ

@Suite struct PollerTests {
    private let context: ZeroMQContext

    init() throws {
        context = try ZeroMQContext()
    }

    @Test func `the socket with a message is ready, and no other`() throws {
        let one = try makePair("one")
        let two = try makePair("two")
        var poller = Poller()
        let first = poller.add(one.near)
        let second = poller.add(two.near)
        #expect(try poller.wait(milliseconds: 0) == 0)
        try two.far.sendMessage([utf8("x")])
        #expect(try poller.wait(milliseconds: nil) == 1)
        #expect(poller.isReadable(first) == false)
        #expect(poller.isReadable(second) == true)
        _ = try two.near.receiveMessage()
        #expect(try poller.wait(milliseconds: 0) == 0)
        #expect(poller.isReadable(second) == false)
    }

    @Test func `a raised signal is ready until it is drained`() throws {
        let signal = try WakeSignal()
        var poller = Poller()
        let slot = poller.add(descriptor: signal.descriptor)
        #expect(try poller.wait(milliseconds: 0) == 0)
        signal.raise()
        #expect(try poller.wait(milliseconds: nil) == 1)
        #expect(poller.events(of: slot) == .readable)
        signal.lower()
        signal.drain()
        #expect(try poller.wait(milliseconds: 0) == 0)
    }

    @Test func `a burst of signals takes one system call`() throws {
        let signal = try WakeSignal()
        #expect(signal.raise())
        for _ in 0..<1_000 { #expect(!signal.raise()) }
        signal.lower()
        #expect(signal.raise())
    }

    @Test func `a wait lasts its time`() throws {
        var poller = Poller()
        let start = ContinuousClock.now
        #expect(try poller.wait(milliseconds: 20) == 0)
        #expect(ContinuousClock.now - start >= .milliseconds(19), "the kernel rounds to its own ticks")
    }

    @Test func `a place can wait for room instead of messages, or for nothing`() throws {
        let pair = try makePair("room")
        var poller = Poller()
        let slot = poller.add(pair.near, for: .writable)
        #expect(try poller.wait(milliseconds: nil) == 1)
        #expect(poller.events(of: slot) == .writable)
        poller.watch(slot, for: [])
        #expect(try poller.wait(milliseconds: 0) == 0)
    }

    @Test func `a closed or removed socket is never ready`() throws {
        let closed = try makePair("closed")
        let removed = try makePair("removed")
        var poller = Poller()
        let slots = [poller.add(closed.near), poller.add(removed.near)]
        try closed.far.sendMessage([utf8("x")])
        try removed.far.sendMessage([utf8("x")])
        #expect(try poller.wait(milliseconds: nil) == 2)
        closed.near.close()
        poller.remove(slots[1])
        #expect(try poller.wait(milliseconds: 0) == 0)
        #expect(slots.allSatisfy { poller.events(of: $0).isEmpty })
    }

    @Test func `a shut down context ends the wait`() throws {
        let pair = try makePair("over")
        var poller = Poller()
        _ = poller.add(pair.near)
        context.shutdown()
        #expect(throws: ZeroMQError.terminated) { try poller.wait(milliseconds: nil) }
    }

    private struct Pair: ~Copyable {
        let near: Socket
        let far: Socket
    }

    private func makePair(_ name: String) throws -> Pair {
        let near = try makeSocket(.pair, context)
        try near.bind("inproc://\(name)")
        let far = try makeSocket(.pair, context)
        try far.connect("inproc://\(name)")
        return Pair(near: near, far: far)
    }
}
