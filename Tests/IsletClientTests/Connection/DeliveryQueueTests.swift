import IsletClient
import Synchronization
import Testing

/// What waits for a reader, and when the bus thread is told that it has caught up.
@Suite struct DeliveryQueueTests {
    private final class Wakes: Sendable {
        private let counter = Mutex(0)

        var count: Int { counter.withLock(\.self) }

        func add() { counter.withLock { $0 += 1 } }
    }

    private let wakes = Wakes()
    private let queue: DeliveryQueue

    init() {
        queue = DeliveryQueue(limit: 4) { [wakes] in wakes.add() }
    }

    private func read(_ count: Int) async throws {
        for _ in 0..<count { #expect(try await queue.next() == .joined) }
    }

    @Test func `the fourth of four that wait says that the reader is behind`() {
        #expect((1...5).map { _ in queue.push(.joined) } == [false, false, false, true, true])
    }

    @Test func `a reader that has caught up with half of it wakes the bus thread once`() async throws {
        for _ in 1...4 { _ = queue.push(.joined) }
        queue.setPaused(true)
        try await read(1)
        #expect(wakes.count == 0)
        try await read(3)
        #expect(wakes.count == 1)
    }

    @Test func `a second task that is cancelled does not end the wait of the first`() async throws {
        let first = Task.immediate { try await queue.next() }
        let second = Task.immediate {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.next()
        }
        #expect(try await second.value == nil)
        _ = queue.push(.joined)
        #expect(try await first.value == .joined)
    }

    @Test func `a task that is cancelled reads no further, whatever waits`() async throws {
        for _ in 1...2 { _ = queue.push(.joined) }
        let cancelled = Task.immediate {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.next()
        }
        #expect(try await cancelled.value == nil)
        try await read(2)
    }

    @Test func `a reader that has caught up before the pause was noted wakes it too`() async throws {
        for _ in 1...4 { _ = queue.push(.joined) }
        try await read(4)
        #expect(wakes.count == 0)
        queue.setPaused(true)
        #expect(wakes.count == 1)
    }
}
