import IsletCore
import Testing

@Suite("Payload pairs")
struct PayloadPairTests {
    private static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count &* 7 &+ seed) }
    }

    private static func content(_ store: borrowing PayloadStore, _ pair: PayloadPair) -> [[UInt8]] {
        [pair.first, pair.second].map { part in store.withBytes(part) { [UInt8]($0) } }
    }

    private static func insert(_ first: [UInt8], _ second: [UInt8], into store: inout PayloadStore) -> PayloadPair {
        store.insertPair(counts: (first.count, second.count)) { $0.copyBytes(from: first + second) }
    }

    @Test("both come back byte for byte, also where one is empty or as long as may be")
    func lengths() {
        var store = PayloadStore()
        let longest = PayloadPair.maximumCount
        let lengths = [(0, 0), (0, 1), (1, 0), (3, 5), (2, 256), (4_096, 4_096), (longest, longest), (longest, 0)]
        let pairs = lengths.map { first, second in
            Self.insert(Self.bytes(first, seed: 1), Self.bytes(second, seed: 2), into: &store)
        }
        for (length, pair) in zip(lengths, pairs) {
            #expect(pair.first.count == length.0 && pair.second.count == length.1)
            #expect(Self.content(store, pair) == [Self.bytes(length.0, seed: 1), Self.bytes(length.1, seed: 2)])
        }
        #expect(store.storedBytes == lengths.reduce(0) { $0 + $1.0 + $1.1 })
        for pair in pairs { store.remove(pair) }
        #expect(store.storedBytes == 0 && MemoryLayout<PayloadPair>.size == 8)
    }

    @Test("another second one of the same size class stays in place; the first one never changes")
    func replace() {
        var store = PayloadStore()
        let first = Self.bytes(10, seed: 1)
        var pair = Self.insert(first, Self.bytes(23, seed: 2), into: &store)
        let start = store.withBytes(pair.first) { $0.baseAddress }
        let frame = [0xFF] + Self.bytes(64, seed: 3)
        for (count, stays) in [(30, true), (31, false), (0, false), (6, true), (64, false)] {
            let before = store.withBytes(pair.first) { $0.baseAddress }
            store.replaceSecond(of: &pair, by: FrameRange(offset: 1, count: count), of: frame.span)
            #expect((store.withBytes(pair.first) { $0.baseAddress } == before) == stays, "\(count) bytes")
            #expect(Self.content(store, pair) == [first, Array(frame[1..<1 + count])])
            #expect(store.storedBytes == 10 + count)
        }
        store.removeSecond(of: &pair)
        #expect(Self.content(store, pair) == [first, []] && store.storedBytes == 10)
        let next = Self.insert(Self.bytes(40, seed: 4), [], into: &store)
        #expect(store.withBytes(next.first) { $0.baseAddress } == start, "the place that was left is used again")
    }

    @Test("agrees with arrays", arguments: [1, 2, .random(in: .min ... .max)] as [UInt64])
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var store = PayloadStore()
        var kept: [(pair: PayloadPair, bytes: [[UInt8]])] = []
        for step in 0..<10_000 {
            let counts = (0..<2).map { _ in Int(random.below(1 << random.below(12))) }
            let new = counts.map { Self.bytes($0, seed: step) }
            switch kept.isEmpty ? 0 : random.below(4) {
            case 0 where kept.count < 200:
                kept.append((Self.insert(new[0], new[1], into: &store), new))
            case 1, 2:
                let index = Int(random.below(Int64(kept.count)))
                let second = new[1]
                store.replaceSecond(
                    of: &kept[index].pair, by: FrameRange(offset: 0, count: counts[1]), of: second.span)
                kept[index].bytes[1] = second
            default:
                let index = Int(random.below(Int64(kept.count)))
                store.remove(kept.remove(at: index).pair)
            }
        }
        for (pair, bytes) in kept { #expect(Self.content(store, pair) == bytes, "seed \(seed)") }
        #expect(store.storedBytes == kept.reduce(0) { $0 + $1.bytes.joined().count }, "seed \(seed)")
    }
}
