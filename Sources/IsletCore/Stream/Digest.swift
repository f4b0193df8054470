/// The contract's digest: the XOR over all listed entities of
/// `fmix64(FNV-1a-64(topic) XOR revision × 0x9E3779B97F4A7C15)`.
///
/// A replica that computes the same over what it holds knows that it holds the same.
package struct Digest: Equatable, Sendable, BitwiseCopyable {
    package private(set) var value: UInt64 = 0

    package init() {}

    /// One that was computed before.
    package init(value: UInt64) { self.value = value }

    /// Adds an entity at a revision, or takes it out again: the operation is its own inverse.
    @inline(__always) package mutating func toggle(topicHash: TopicHash, revision: UInt64) {
        value ^= Digest.mix(topicHash.value ^ (revision &* 0x9E37_79B9_7F4A_7C15))
    }

    /// The finaliser of MurmurHash3.
    @inline(__always) private static func mix(_ input: UInt64) -> UInt64 {
        var bits = input
        bits ^= bits >> 33
        bits &*= 0xFF51_AFD7_ED55_8CCD
        bits ^= bits >> 33
        bits &*= 0xC4CE_B9FE_1A85_EC53
        return bits ^ bits >> 33
    }
}

/// FNV-1a of 64 bits over a topic's bytes, taken one at a time, so that a common prefix is hashed once.
package struct TopicHash: Equatable, Sendable, BitwiseCopyable {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    @inline(__always) package mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    /// The hash of this prefix followed by the text of the entity's id: 8-4-4-4-12 digits.
    ///
    /// By words of digits, which are made eight at a time.
    @inline(__always) package func appending(_ id: EntityID) -> TopicHash {
        let (first, second, third, fourth) = id.digits
        var hash = self
        hash.combine(first, count: 8)
        hash.combineDash()
        hash.combine(second, count: 4)
        hash.combineDash()
        hash.combine(second >> 32, count: 4)
        hash.combineDash()
        hash.combine(third, count: 4)
        hash.combineDash()
        hash.combine(third >> 32, count: 4)
        hash.combine(fourth, count: 8)
        return hash
    }

    @inline(__always) private mutating func combineDash() { combine(UInt8(ascii: "-")) }

    /// The lowest bytes of a word, the lowest first.
    @inline(__always) private mutating func combine(_ word: UInt64, count: Int) {
        var rest = word
        for _ in 0..<count {
            combine(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}
