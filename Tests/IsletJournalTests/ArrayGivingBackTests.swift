import IsletJournal
import Testing

/// Buffers that are used again for one batch after the other.
@Suite struct ArrayGivingBackTests {
    private func used(room: Int, count: Int) -> [UInt8] {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(room)
        buffer.append(contentsOf: repeatElement(1, count: count))
        return buffer
    }

    @Test func aLargeOneThatWasHardlyUsedGivesItsMemoryBack() {
        var buffer = used(room: 100_000, count: 100)
        buffer.removeAll(givingBackBeyond: 1_000)
        #expect(buffer.isEmpty && buffer.capacity == 0)
    }

    @Test(arguments: [(100_000, 30_000), (1_000, 1)])
    func oneThatWasUsedOrIsSmallKeepsIt(room: Int, count: Int) {
        var buffer = used(room: room, count: count)
        buffer.removeAll(givingBackBeyond: 2_000)
        #expect(buffer.isEmpty && buffer.capacity >= room)
    }

    @Test func emptiedAgainItStaysAsItIs() {
        var buffer = used(room: 100_000, count: 100_000)
        for _ in 0..<2 { buffer.removeAll(givingBackBeyond: 1_000) }
        #expect(buffer.isEmpty && buffer.capacity >= 100_000)
    }
}
