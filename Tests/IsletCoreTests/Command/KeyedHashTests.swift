import IsletCore
import Testing

/// Whatever ids clients choose, the index must find them near where it looks: it uses the upper 32 bits of the hash, in
/// their order.
@Suite struct KeyedHashTests {
    private static let count = 100_000

    /// Ids that are alike in one way or another.
    private static let kinds: [String: @Sendable (UInt64) -> EntityID] = [
        "low halves count": { EntityID(high: 0x7000, low: 0x8000_0000_0000_0000 | $0) },
        "high halves count": { EntityID(high: $0 << 16 | 0x7000, low: 0x8000_0000_0000_0000) },
        "both count": { EntityID(high: $0, low: $0) },
        "low halves count by 2⁴⁰": { EntityID(high: 1, low: $0 << 40) },
        "version 7, a millisecond each": {
            EntityID(version7At: Instant(1_780_000_000_000 + Int64($0)), random: ($0 &* 0xD129_0D3A_64B1_7C29, ~$0))
        },
    ]

    @Test(arguments: kinds.keys.sorted())
    func spreads(kind: String) throws {
        let id = try #require(Self.kinds[kind])
        let buckets = 1 << 16
        var counts = [Int](repeating: 0, count: buckets)
        for number in 0..<UInt64(Self.count) { counts[Int(id(number).keyedHash >> 48)] += 1 }
        // With random hashes the fullest of 65 536 has 9 or 10, and 17 in fewer than one process of ten million; the squares
        // add up to 252 600, with a deviation of some 550.
        #expect((counts.max() ?? 0) <= 16)
        let squares = counts.reduce(0) { $0 + $1 * $1 }
        #expect(squares < 258_000, "fuller and emptier than by chance")
    }

    @Test(arguments: kinds.keys.sorted())
    func differsInItsUpperBits(kind: String) throws {
        let id = try #require(Self.kinds[kind])
        var seen = Set<UInt64>()
        for number in 0..<UInt64(Self.count) { seen.insert(id(number).keyedHash >> 32) }
        // By chance one or two in 100 000 share their upper 32 bits with another.
        #expect(seen.count > Self.count - 16)
    }
}
