/// The contract's digest: the XOR over all listed entities of
/// `fmix64(FNV-1a-64(topic) XOR revision × 0x9E3779B97F4A7C15)`.
///
/// A replica that computes the same over what it holds knows that it holds the same.
package struct Digest: Equatable, Sendable, BitwiseCopyable {
    package private(set) var value: UInt64 = 0

    package init() {}

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

    /// The hash of this prefix followed by the entity's id.
    @inline(__always) package func appending(_ id: EntityID) -> TopicHash {
        var hash = self
        id.forEachTextByte { hash.combine($0) }
        return hash
    }
}
