/// Where one payload lies in the ``PayloadStore``: its size class, its place and its length, in eight bytes.
package struct PayloadHandle: Equatable, Sendable, BitwiseCopyable {
    fileprivate var place: UInt32
    /// The length in the low 24 bits, the size class in the high 8.
    fileprivate var shape: UInt32

    /// No bytes.
    package static let empty = PayloadHandle(place: 0, shape: 0)

    /// The number of bytes.
    @inlinable package var count: Int { countBits }

    @usableFromInline var countBits: Int { Int(shape & 0xFF_FFFF) }
    fileprivate var sizeClass: Int { Int(shape >> 24) }
}

/// Users' bytes in arenas of size classes: no allocation per payload once warm, and no header beside it.
///
/// Eight classes for each doubling, so at most a ninth is slack beyond the smallest. Unsafe pointers: the struct is
/// noncopyable and the single owner of the chunks; a place is only ever made by `insert` and checked against its class's
/// chunks on each use.
package struct PayloadStore: ~Copyable {
    /// The longest payload: a frame has at most 64 KiB, and what is stored together comes from one frame.
    package static let maximumCount = 1 << 17
    private static let chunkBytes = 1 << 20
    /// The size classes in bytes: 16, 32, 48, 64, 72, 80, 88, … 128, 144, 160, … 131 072.
    private static let sizes: [Int] = {
        var sizes = [16, 32, 48]
        var base = 64
        while base < maximumCount {
            for eighth in 0..<8 { sizes.append(base + eighth * base / 8) }
            base *= 2
        }
        return sizes + [maximumCount]
    }()

    private struct Arena {
        var size: Int
        var perChunk: Int
        var chunks: [UnsafeMutableRawPointer] = []
        var used: UInt32 = 0
        /// The head of the list of free places, which is threaded through the places themselves.
        var firstFree: UInt32 = .max
    }

    private var arenas: [Arena]
    /// The payload bytes that are stored.
    package private(set) var storedBytes: Int = 0
    /// The bytes that it holds.
    package private(set) var allocatedBytes: Int = 0

    package init() {
        arenas = PayloadStore.sizes.map { Arena(size: $0, perChunk: max(1, PayloadStore.chunkBytes / $0)) }
    }

    deinit {
        for arena in arenas {
            for chunk in arena.chunks { chunk.deallocate() }
        }
    }

    /// Stores some bytes. `fill` writes exactly `count` of them.
    package mutating func insert(
        count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) -> PayloadHandle {
        precondition(count <= PayloadStore.maximumCount, "longer than a frame")
        guard count > 0 else { return .empty }
        let sizeClass = PayloadStore.sizeClass(of: count)
        let place = take(sizeClass)
        fill(UnsafeMutableRawBufferPointer(start: address(sizeClass, place), count: count))
        storedBytes += count
        return PayloadHandle(place: place, shape: UInt32(sizeClass) << 24 | UInt32(count))
    }

    /// Stores a run of a frame.
    package mutating func insert(_ range: FrameRange, of frame: Span<UInt8>) -> PayloadHandle {
        insert(count: Int(range.count)) { target in frame.copy(range, to: target) }
    }

    /// Replaces a payload by a run of a frame, in place where the size class stays.
    package mutating func replace(_ handle: inout PayloadHandle, by range: FrameRange, of frame: Span<UInt8>) {
        let count = Int(range.count)
        if handle.count > 0, count > 0, PayloadStore.sizeClass(of: count) == handle.sizeClass {
            frame.copy(
                range, to: UnsafeMutableRawBufferPointer(start: address(handle.sizeClass, handle.place), count: count))
            storedBytes += count - handle.count
            handle.shape = UInt32(handle.sizeClass) << 24 | UInt32(count)
        } else {
            remove(handle)
            handle = insert(range, of: frame)
        }
    }

    /// Frees a payload.
    package mutating func remove(_ handle: PayloadHandle) {
        guard handle.count > 0 else { return }
        storedBytes -= handle.count
        address(handle.sizeClass, handle.place).storeBytes(of: arenas[handle.sizeClass].firstFree, as: UInt32.self)
        arenas[handle.sizeClass].firstFree = handle.place
    }

    /// The bytes of a payload, for as long as the closure runs.
    @inline(__always)
    package func withBytes<Result>(_ handle: PayloadHandle, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard handle.count > 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return body(UnsafeRawBufferPointer(start: address(handle.sizeClass, handle.place), count: handle.count))
    }

    private static func sizeClass(of count: Int) -> Int {
        if count <= 64 { return (count - 1) / 16 }
        // For 2^k < count ≤ 2^(k+1): eight classes above 2^k, each 2^(k-3) apart.
        let exponent = Int.bitWidth - 1 - (count - 1).leadingZeroBitCount
        let step = 1 << (exponent - 3)
        return 3 + (exponent - 6) * 8 + (count - (1 << exponent) + step - 1) >> (exponent - 3)
    }

    private mutating func take(_ sizeClass: Int) -> UInt32 {
        let free = arenas[sizeClass].firstFree
        if free != .max {
            arenas[sizeClass].firstFree = address(sizeClass, free).load(as: UInt32.self)
            return free
        }
        let place = arenas[sizeClass].used
        if Int(place) == arenas[sizeClass].chunks.count * arenas[sizeClass].perChunk {
            let bytes = arenas[sizeClass].size * arenas[sizeClass].perChunk
            arenas[sizeClass].chunks.append(.allocate(byteCount: bytes, alignment: 16))
            allocatedBytes += bytes
        }
        arenas[sizeClass].used += 1
        return place
    }

    @inline(__always) private func address(_ sizeClass: Int, _ place: UInt32) -> UnsafeMutableRawPointer {
        let arena = arenas[sizeClass]
        precondition(place < arena.used || Int(place) < arena.chunks.count * arena.perChunk)
        let (chunk, index) = Int(place).quotientAndRemainder(dividingBy: arena.perChunk)
        return arena.chunks[chunk] + index * arena.size
    }
}

extension Span<UInt8> {
    /// Copies a run of this frame.
    @inline(__always) package func copy(_ range: FrameRange, to target: UnsafeMutableRawBufferPointer) {
        let part = extracting(range.indices)
        part.withUnsafeBytes { target.copyMemory(from: $0) }
    }

    /// Whether a run of this frame has exactly these bytes.
    @inline(__always) package func equals(_ range: FrameRange, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let part = extracting(range.indices)
        return part.withUnsafeBytes { equal($0, bytes) }
    }

    /// A run of this frame as text; for names, which are ASCII.
    package func text(_ range: FrameRange) -> String {
        let part = extracting(range.indices)
        return part.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
