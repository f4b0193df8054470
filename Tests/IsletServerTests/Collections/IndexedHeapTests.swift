import IsletServer
import Testing

@Suite struct IndexedHeapTests {
    @Test func theLeastKeyComesFirstAndTiesInOrderOfTheNumbers() {
        var heap = IndexedHeap()
        for (number, key) in [(9, 5), (2, 5), (7, 1), (0, 8)] as [(UInt32, Int64)] { heap.set(number, to: key) }
        var order: [UInt32] = []
        while let (number, _) = heap.first {
            order.append(number)
            heap.remove(number)
        }
        #expect(order == [7, 2, 9, 0])
        #expect(heap.count == 0)
    }

    @Test func aNumberCanBeMovedAndTakenOut() {
        var heap = IndexedHeap()
        heap.set(1, to: 10)
        heap.set(2, to: 20)
        heap.set(2, to: 5)
        #expect(heap.first?.number == 2)
        heap.remove(2)
        heap.remove(2)
        heap.remove(99)
        #expect(heap.first?.number == 1)
        #expect(heap.key(of: 1) == 10)
        #expect(heap.key(of: 2) == nil)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func itAgreesWithADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = IndexedHeap()
        var model: [UInt32: Int64] = [:]
        for step in 0..<20_000 {
            let number = UInt32.random(in: 0..<200, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                heap.remove(number)
                model[number] = nil
            } else {
                let key = Int64.random(in: -50..<50, using: &random)
                heap.set(number, to: key)
                model[number] = key
            }
            let least = model.min { ($0.value, $0.key) < ($1.value, $1.key) }
            guard heap.count == model.count, heap.first?.number == least?.key, heap.first?.key == least?.value else {
                let (actual, expected) = (String(describing: heap.first), String(describing: least))
                Issue.record("seed \(seed), step \(step): \(actual) instead of \(expected)")
                return
            }
        }
    }
}
