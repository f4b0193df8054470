import IsletCore
import Testing

@Suite("Payload store")
struct PayloadStoreTests {
    /// Bytes that differ by length and by seed, so that no payload looks like its neighbour.
    private static func bytes(_ count: Int, seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count &* 7 &+ seed) }
    }

    private static func content(_ store: borrowing PayloadStore, _ handle: PayloadHandle) -> [UInt8] {
        store.withBytes(handle) { [UInt8]($0) }
    }

    /// Every length up to 1 100, and those around each later size class.
    static let lengths: [Int] = {
        var lengths = Array(0...1_100)
        var base = 1_024
        while base < PayloadStore.maximumCount {
            for sixteenth in 0...16 {
                let size = base + sixteenth * base / 16
                lengths += [size - 1, size, size + 1].filter { $0 <= PayloadStore.maximumCount }
            }
            base *= 2
        }
        return Array(Set(lengths)).sorted()
    }()

    @Test("every length comes back byte for byte, beside all the others")
    func allSizes() {
        var store = PayloadStore()
        let handles = Self.lengths.map { length in
            store.insert(count: length) { $0.copyBytes(from: Self.bytes(length)) }
        }
        for (length, handle) in zip(Self.lengths, handles) {
            #expect(handle.count == length)
            #expect(Self.content(store, handle) == Self.bytes(length), "\(length) bytes")
        }
        #expect(store.storedBytes == Self.lengths.reduce(0, +))
        #expect(Self.lengths.last == PayloadStore.maximumCount)
    }

    @Test("an empty payload is nothing")
    func empty() {
        var store = PayloadStore()
        let handle = store.insert(count: 0) { _ in Issue.record("there is nothing to fill") }
        #expect(handle == .empty && Self.content(store, handle).isEmpty)
        store.remove(handle)
        #expect(store.storedBytes == 0 && store.allocatedBytes == 0)
    }

    @Test("a replacement of the same size class stays in place; of another it moves")
    func replace() {
        var store = PayloadStore()
        let neighbour = store.insert(count: 40) { $0.copyBytes(from: Self.bytes(40, seed: 9)) }
        var handle = store.insert(count: 33) { $0.copyBytes(from: Self.bytes(33)) }
        let start = store.withBytes(handle) { $0.baseAddress }
        let frame = [0xFF] + Self.bytes(40, seed: 1) + [0xFF]
        store.replace(&handle, by: FrameRange(offset: 1, count: 40), of: frame.span)
        #expect(store.withBytes(handle) { $0.baseAddress } == start, "33 and 40 bytes share a class")
        #expect(Self.content(store, handle) == Self.bytes(40, seed: 1) && store.storedBytes == 80)

        let longer = Self.bytes(41, seed: 2)
        store.replace(&handle, by: FrameRange(offset: 0, count: 41), of: longer.span)
        #expect(Self.content(store, handle) == longer && store.storedBytes == 81)
        let next = store.insert(count: 35) { $0.copyBytes(from: Self.bytes(35, seed: 3)) }
        #expect(store.withBytes(next) { $0.baseAddress } == start, "the place that was left is used again")
        #expect(Self.content(store, neighbour) == Self.bytes(40, seed: 9))

        store.replace(&handle, by: FrameRange(offset: 0, count: 0), of: longer.span)
        #expect(handle == .empty && store.storedBytes == 75)
        store.replace(&handle, by: FrameRange(offset: 0, count: 4), of: longer.span)
        #expect(Self.content(store, handle) == Array(longer.prefix(4)))
    }

    @Test("places are little longer than what lies in them")
    func slack() {
        for length in [1, 8, 9, 100, 264, 265, 1_024, 1_025, 3_000, 4_097, 70_000] {
            var store = PayloadStore()
            // Chunks of this size hold a power of two of them.
            let count = 1 << 19
            for _ in 0..<count where store.storedBytes < 32 << 20 { _ = store.insert(count: length) { _ in } }
            let stored = Double(store.storedBytes)
            let places = stored / Double(length)
            let slack = Double(store.allocatedBytes - store.storedBytes) / places
            // The last chunk may be empty but for one place.
            let lastChunk = Double(4 << 20) / places
            #expect(slack <= max(7, Double(length) / 16) + lastChunk, "\(length) bytes")
        }
    }

    @Test("what is freed is used again: a steady load does not grow")
    func steady() {
        var store = PayloadStore()
        var handles = (0..<2_000).map { index in
            store.insert(count: 64) { $0.copyBytes(from: Self.bytes(64, seed: index)) }
        }
        let allocated = store.allocatedBytes
        for round in 0..<50 {
            for index in stride(from: round % 3, to: handles.count, by: 3) {
                store.remove(handles[index])
                handles[index] = store.insert(count: 60) { $0.copyBytes(from: Self.bytes(60, seed: index)) }
            }
        }
        #expect(store.allocatedBytes == allocated)
    }

    @Test("agrees with a dictionary of arrays", arguments: [1, 2, .random(in: .min ... .max)] as [UInt64])
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var store = PayloadStore()
        var kept: [(handle: PayloadHandle, bytes: [UInt8])] = []
        for step in 0..<20_000 {
            // Mostly short ones, some of each class.
            let count = Int(random.below(1 << random.below(13)))
            let new = Self.bytes(count, seed: step)
            switch kept.isEmpty ? 0 : random.below(3) {
            case 0 where kept.count < 300:
                kept.append((store.insert(count: count) { $0.copyBytes(from: new) }, new))
            case 1:
                let index = Int(random.below(Int64(kept.count)))
                store.replace(&kept[index].handle, by: FrameRange(offset: 0, count: count), of: new.span)
                kept[index].bytes = new
            default:
                let index = Int(random.below(Int64(kept.count)))
                store.remove(kept.remove(at: index).handle)
            }
        }
        for (handle, bytes) in kept { #expect(Self.content(store, handle) == bytes, "seed \(seed)") }
        #expect(store.storedBytes == kept.reduce(0) { $0 + $1.bytes.count }, "seed \(seed)")
    }

    @Test(
        "a run of a frame equals its own bytes and nothing that differs in one", arguments: [0, 1, 7, 8, 9, 16, 17, 40])
    func equality(count: Int) {
        let bytes = Self.bytes(count)
        let frame = [1, 2, 3] + bytes + [4]
        let range = FrameRange(offset: 3, count: count)
        #expect(bytes.withUnsafeBytes { frame.span.equals(range, $0) })
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            #expect(!other.withUnsafeBytes { frame.span.equals(range, $0) }, "byte \(index)")
        }
        #expect(!(bytes + [0]).withUnsafeBytes { frame.span.equals(range, $0) })
    }
}
