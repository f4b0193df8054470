/// Bytes that grow and are used again, and that stand still while they are bound to a statement.
@safe
final class ByteBuffer {
    /// Allocated with `capacity` bytes, of which the first `count` are initialised.
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 4_096) {
        self.capacity = max(1, capacity)
        unsafe start = UnsafeMutableRawPointer.allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { unsafe start.deallocate() }

    /// The bytes, until the next change.
    @unsafe var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: start, count: count) }

    /// The bytes in a range, until the next change.
    @unsafe func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside the buffer")
        return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
    }

    /// Empties it. A buffer that grew beyond `limit` gives its memory back where less than a quarter of it was used.
    func removeAll(keeping limit: Int = .max) {
        let used = count
        count = 0
        guard capacity > limit, capacity / 4 > used else { return }
        unsafe start.deallocate()
        capacity = 4_096
        unsafe start = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    @inline(__always)
    func append(_ byte: UInt8) {
        reserve(1)
        unsafe start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inline(__always)
    func append(_ content: Span<UInt8>) {
        unsafe content.withUnsafeBytes { unsafe append($0) }
    }

    @unsafe @inline(__always)
    func append(_ content: UnsafeRawBufferPointer) {
        guard let source = content.baseAddress, content.count > 0 else { return }
        reserve(content.count)
        unsafe (start + count).copyMemory(from: source, byteCount: content.count)
        count += content.count
    }

    /// Four bytes, the lowest first.
    @inline(__always)
    func append(_ value: UInt32) {
        reserve(4)
        unsafe start.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt32.self)
        count += 4
    }

    /// Writes over four bytes that were appended.
    func replace(at offset: Int, by value: UInt32) {
        precondition(offset >= 0 && offset <= count - 4, "outside the buffer")
        unsafe start.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
    }

    /// Eight bytes, the lowest first.
    @inline(__always)
    func append(_ value: UInt64) {
        reserve(8)
        unsafe start.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    @inline(__always)
    private func reserve(_ more: Int) {
        if count + more > capacity { grow(to: count + more) }
    }

    @inline(never)
    private func grow(to needed: Int) {
        let enlarged = max(needed, 2 * capacity)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: enlarged, alignment: 16)
        unsafe moved.copyMemory(from: start, byteCount: count)
        unsafe start.deallocate()
        unsafe start = moved
        capacity = enlarged
    }
}
