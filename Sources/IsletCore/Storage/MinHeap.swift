/// Values of which the least is wanted first. Values that come nearly in order cost one comparison each.
package struct MinHeap<Element: Comparable> {
    /// The children of an element stand at twice its place and one and two more.
    private var elements: [Element] = []

    package init() {}

    package init(_ elements: some Sequence<Element>) {
        // A sorted array is a heap.
        self.elements = elements.sorted()
    }

    package var count: Int { elements.count }
    package var first: Element? { elements.first }

    package mutating func insert(_ element: Element) {
        var place = elements.count
        elements.append(element)
        while place > 0 {
            let parent = (place - 1) / 2
            guard element < elements[parent] else { break }
            elements[place] = elements[parent]
            place = parent
        }
        elements[place] = element
    }

    package mutating func popFirst() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        var place = 0
        while true {
            var child = 2 * place + 1
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard child < elements.count, elements[child] < last else { break }
            elements[place] = elements[child]
            place = child
        }
        if !elements.isEmpty { elements[place] = last }
        return first
    }
}

extension MinHeap: Sendable where Element: Sendable {}
