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
/// A class for each eight bytes up to 1 024, then sixteen for each doubling, so at most a seventeenth is slack beyond
/// the smallest. Unsafe pointers: the struct is noncopyable and the single owner of the chunks; a place is only ever made
/// by `insert` and checked against its class's chunks on each use.
package struct PayloadStore: ~Copyable {
    /// The longest payload: a frame has at most 64 KiB, and what is stored together comes from one frame.
    package static let maximumCount = 1 << 17
    /// Pages of a chunk that nothing lies in yet are not there. Chunks are large because each takes a page more than its
    /// bytes do.
    private static let chunkBytes = 4 << 20
    private static let smallestStep = 8
    /// Up to here all classes are one smallest step apart.
    private static let finelyUpTo = 1_024
    /// The size classes in bytes: 8, 16, 24, … 1 024, 1 088, 1 152, … 2 048, 2 176, … 131 072.
    private static let sizes: [Int] = {
        var sizes = Array(stride(from: smallestStep, through: finelyUpTo, by: smallestStep))
        var base = finelyUpTo
        while base < maximumCount {
            for sixteenth in 1...16 { sizes.append(base + sixteenth * base / 16) }
            base *= 2
        }
        return sizes
    }()

    private struct Arena {
        var size: Int
        /// A chunk has this power of two of places: the most that fit.
        var chunkBits: Int
        var chunks: [UnsafeMutableRawPointer] = []
        var used: UInt32 = 0
        /// The head of the list of free places, which is threaded through the places themselves.
        var firstFree: UInt32 = .max

        init(size: Int) {
            self.size = size
            chunkBits = Int.bitWidth - 1 - (PayloadStore.chunkBytes / size).leadingZeroBitCount
        }
    }

    private var arenas: [Arena]
    /// The payload bytes that are stored.
    package private(set) var storedBytes: Int = 0
    /// The bytes that it holds.
    package private(set) var allocatedBytes: Int = 0

    package init() {
        arenas = PayloadStore.sizes.map { Arena(size: $0) }
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
        let place = store(count, fill)
        return PayloadHandle(place: place, shape: UInt32(sizeClass) << 24 | UInt32(count))
    }

    /// Stores a run of a frame.
    package mutating func insert(_ range: FrameRange, of frame: Span<UInt8>) -> PayloadHandle {
        insert(count: Int(range.count)) { target in frame.copy(range, to: target) }
    }

    /// Stores bytes.
    package mutating func insert(bytes: [UInt8]) -> PayloadHandle {
        insert(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Whether a payload is exactly these bytes.
    func holds(_ handle: PayloadHandle, _ bytes: [UInt8]) -> Bool {
        handle.count == bytes.count && withBytes(handle) { $0.elementsEqual(bytes) }
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
        free(handle.place, sizeClass: handle.sizeClass)
    }

    /// The bytes of a payload, for as long as the closure runs.
    @inline(__always)
    package func withBytes<Result>(_ handle: PayloadHandle, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard handle.count > 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return body(UnsafeRawBufferPointer(start: address(handle.sizeClass, handle.place), count: handle.count))
    }

    // For ``PayloadPair``s, which know no size class, and for handles.

    /// Takes a place for a positive number of bytes and fills it.
    mutating func store(_ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) -> UInt32 {
        let sizeClass = PayloadStore.sizeClass(of: count)
        let place = take(sizeClass)
        fill(UnsafeMutableRawBufferPointer(start: address(sizeClass, place), count: count))
        storedBytes += count
        return place
    }

    /// What lies in a place became longer or shorter, within its size class.
    @inline(__always) mutating func resized(from old: Int, to count: Int) { storedBytes += count - old }

    /// Frees the place of a positive number of bytes.
    mutating func free(_ place: UInt32, count: Int) {
        storedBytes -= count
        free(place, sizeClass: PayloadStore.sizeClass(of: count))
    }

    /// Where a positive number of bytes begins.
    @inline(__always) func start(of place: UInt32, count: Int) -> UnsafeMutableRawPointer {
        address(PayloadStore.sizeClass(of: count), place)
    }

    /// The size class of a positive number of bytes.
    @inline(__always) static func sizeClass(of count: Int) -> Int {
        if count <= finelyUpTo { return (count - 1) / smallestStep }
        // For 2^k < count ≤ 2^(k+1): sixteen classes above 2^k, each 2^(k-4) apart.
        let exponent = Int.bitWidth - 1 - (count - 1).leadingZeroBitCount
        let step = exponent - 4
        let above = (count - (1 << exponent) + (1 << step) - 1) >> step
        return finelyUpTo / smallestStep - 1 + (exponent - 10) * 16 + above
    }

    private mutating func take(_ sizeClass: Int) -> UInt32 {
        let free = arenas[sizeClass].firstFree
        if free != .max {
            arenas[sizeClass].firstFree = address(sizeClass, free).load(as: UInt32.self)
            return free
        }
        let place = arenas[sizeClass].used
        if Int(place) == arenas[sizeClass].chunks.count << arenas[sizeClass].chunkBits {
            let bytes = arenas[sizeClass].size << arenas[sizeClass].chunkBits
            arenas[sizeClass].chunks.append(.allocate(byteCount: bytes, alignment: 16))
            allocatedBytes += bytes
        }
        arenas[sizeClass].used += 1
        return place
    }

    private mutating func free(_ place: UInt32, sizeClass: Int) {
        address(sizeClass, place).storeBytes(of: arenas[sizeClass].firstFree, as: UInt32.self)
        arenas[sizeClass].firstFree = place
    }

    /// The array checks that the place's chunk is there.
    @inline(__always) private func address(_ sizeClass: Int, _ place: UInt32) -> UnsafeMutableRawPointer {
        let bits = arenas[sizeClass].chunkBits
        let index = Int(place) & (1 << bits - 1)
        return arenas[sizeClass].chunks[Int(place) >> bits] + index * arenas[sizeClass].size
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

    /// Whether a run of this frame is the same configuration as these bytes, whatever either is written like.
    func isConfiguration(_ range: FrameRange, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let part = extracting(range.indices)
        return part.withUnsafeBytes { ConfigurationForm.areEqual($0, bytes) }
    }

    /// A run of this frame as text; for names, which are ASCII.
    package func text(_ range: FrameRange) -> String {
        let part = extracting(range.indices)
        return part.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
