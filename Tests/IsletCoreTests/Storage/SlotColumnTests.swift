import IsletCore
import Testing

@Suite("Slot column")
struct SlotColumnTests {
    @Test("a slot has what it was given, others what is unset; chunks without a value cost nothing")
    func values() {
        var column = SlotColumn(unset: 1.5)
        #expect([0, 4_096, 1 << 26].map { column[$0] } == [1.5, 1.5, 1.5] && column.allocatedBytes == 0)
        column[5_000] = -2
        column[0] = 7
        #expect([0, 1, 4_999, 5_000, 5_001, 9_000].map { column[$0] } == [7, 1.5, 1.5, -2, 1.5, 1.5])
        column[5_000] = 1.5
        #expect(column[5_000] == 1.5)
        column[40_960] = 3
        #expect(column[40_960] == 3 && column[36_864] == 1.5)
        #expect(column.allocatedBytes == 3 * 4_096 * 8 + 11 * 8)
    }
}
