/// Random numbers from a seed: SplitMix64. Everything that a run draws comes from values of this type.
package struct SimRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    /// A number in 0..<limit; 0 for a limit of 0.
    package mutating func below(_ limit: Int) -> Int { limit <= 0 ? 0 : Int(next() % UInt64(limit)) }

    package mutating func below(_ limit: Int64) -> Int64 { limit <= 0 ? 0 : Int64(next() % UInt64(limit)) }

    /// True once in so many times.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// True so many times in a hundred.
    package mutating func percent(_ share: Int) -> Bool { below(100) < share }

    package mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// An index, each as often as its weight says.
    package mutating func weighted(_ weights: [Int]) -> Int {
        var left = below(weights.reduce(0, +))
        for (index, weight) in weights.enumerated() {
            if left < weight { return index }
            left -= weight
        }
        return 0
    }
}
