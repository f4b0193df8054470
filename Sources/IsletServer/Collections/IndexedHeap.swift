/// Small dense numbers ordered by a key, the least first; a number's key can be changed where it stands.
///
/// An own one, because a heap without the index of places (as in swift-collections) can neither move nor remove an
/// element, and would fill with outdated ones. Every operation is O(log n); equal keys come in order of their numbers.
package struct IndexedHeap: Sendable {
    /// The place of a number that is not in the heap.
    private static let absent = -1

    /// The numbers in heap order.
    private var heap: [UInt32] = []
    /// By number: its place in `heap`.
    private var places: [Int] = []
    /// By number: its key.
    private var keys: [Int64] = []

    package init() {}

    package var count: Int { heap.count }

    /// The number with the least key.
    package var first: (number: UInt32, key: Int64)? {
        guard let number = heap.first else { return nil }
        return (number, keys[Int(number)])
    }

    /// The key of a number that is in the heap.
    package func key(of number: UInt32) -> Int64? {
        place(of: number).map { _ in keys[Int(number)] }
    }

    /// Puts a number in, or moves it to another key. Room is taken for all numbers below it.
    package mutating func set(_ number: UInt32, to key: Int64) {
        if Int(number) >= places.count {
            let missing = Int(number) + 1 - places.count
            places.append(contentsOf: repeatElement(Self.absent, count: missing))
            keys.append(contentsOf: repeatElement(0, count: missing))
        }
        keys[Int(number)] = key
        let place: Int
        if places[Int(number)] == Self.absent {
            place = heap.count
            heap.append(number)
            places[Int(number)] = place
        } else {
            place = places[Int(number)]
        }
        siftDown(siftUp(place))
    }

    /// Takes a number out; nothing happens where it is not in.
    package mutating func remove(_ number: UInt32) {
        guard let place = place(of: number) else { return }
        places[Int(number)] = Self.absent
        let last = heap.removeLast()
        guard last != number else { return }
        heap[place] = last
        places[Int(last)] = place
        siftDown(siftUp(place))
    }

    private func place(of number: UInt32) -> Int? {
        guard Int(number) < places.count, places[Int(number)] != Self.absent else { return nil }
        return places[Int(number)]
    }

    private func precedes(_ left: UInt32, _ right: UInt32) -> Bool {
        (keys[Int(left)], left) < (keys[Int(right)], right)
    }

    private mutating func siftUp(_ start: Int) -> Int {
        let number = heap[start]
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard precedes(number, heap[parent]) else { break }
            put(heap[parent], at: place)
            place = parent
        }
        put(number, at: place)
        return place
    }

    private mutating func siftDown(_ start: Int) {
        let number = heap[start]
        var place = start
        while place * 2 + 1 < heap.count {
            var child = place * 2 + 1
            if child + 1 < heap.count, precedes(heap[child + 1], heap[child]) { child += 1 }
            guard precedes(heap[child], number) else { break }
            put(heap[child], at: place)
            place = child
        }
        put(number, at: place)
    }

    private mutating func put(_ number: UInt32, at place: Int) {
        heap[place] = number
        places[Int(number)] = place
    }
}
