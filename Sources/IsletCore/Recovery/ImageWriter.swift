/// Writes what recovery reads back with an ``ImageReader``: numbers in little-endian order and runs of bytes with their
/// lengths, one after another. Kept and used again, so that it allocates nothing once it has grown.
package struct ImageWriter: Sendable {
    /// As long as it was ever needed, so that a number is a store and not a run that is appended.
    private var storage = [UInt8](repeating: 0, count: 64)
    /// How many bytes were written.
    package private(set) var count = 0

    package init() {}

    /// A copy of what was written.
    package var bytes: [UInt8] { Array(storage[..<count]) }

    /// What was written; valid inside `body` only.
    @inline(__always)
    package func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(storage.span.extracting(0..<count))
    }

    package mutating func removeAll() {
        count = 0
    }

    package mutating func write(byte: UInt8) {
        reserve(1)
        storage[count] = byte
        count += 1
    }

    @inline(__always) private mutating func reserve(_ extra: Int) {
        if storage.count - count < extra { grow(extra) }
    }

    @inline(never) private mutating func grow(_ extra: Int) {
        storage += [UInt8](repeating: 0, count: max(storage.count, extra))
    }

    /// Writes so many bytes of numbers behind one look for room.
    ///
    /// Inlined, so that each number is one store: an activity's image takes 262 instructions instead of 902.
    @inline(__always) mutating func write(fixed size: Int, _ body: (inout Numbers) -> Void) {
        reserve(size)
        let start = count
        storage.withUnsafeMutableBytes { bytes in
            var numbers = Numbers(UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + size]))
            body(&numbers)
            precondition(numbers.count == size, "other numbers than there is room for")
        }
        count += size
    }

    /// Where ``write(fixed:_:)`` lets numbers be put, one behind the other.
    struct Numbers {
        private let room: UnsafeMutableRawBufferPointer
        private(set) var count = 0

        @inline(__always) fileprivate init(_ room: UnsafeMutableRawBufferPointer) { self.room = room }

        /// Traps where there is no room for it.
        @inline(__always) mutating func put<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
            room.storeBytes(of: value.littleEndian, toByteOffset: count, as: Value.self)
            count += MemoryLayout<Value>.size
        }

        @inline(__always) mutating func put(_ instant: Instant) { put(instant.milliseconds) }

        @inline(__always) mutating func put(_ flag: Bool) { put(flag ? 1 as UInt8 : 0) }
    }

    /// One byte, 0 or 1.
    package mutating func write(_ flag: Bool) {
        write(byte: flag ? 1 : 0)
    }

    // A literal would be taken for an `Int`: so each width that is used has a method of its own.

    package mutating func write(_ value: UInt16) { writeInteger(value) }

    package mutating func write(_ value: UInt32) { writeInteger(value) }

    package mutating func write(_ value: UInt64) { writeInteger(value) }

    @inline(__always) private mutating func writeInteger<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        reserve(MemoryLayout<Value>.size)
        storage.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: count, as: Value.self) }
        count += MemoryLayout<Value>.size
    }

    package mutating func write(_ instant: Instant) { writeInteger(instant.milliseconds) }

    package mutating func write(_ id: EntityID) {
        write(id.high)
        write(id.low)
    }

    /// At most 2³² - 1 bytes, with their length before them.
    package mutating func write(run: UnsafeRawBufferPointer) {
        write(UInt32(run.count))
        reserve(run.count)
        storage.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[count...]).copyMemory(from: run) }
        count += run.count
    }

    /// At most 2³² - 1 bytes, with their length before them.
    package mutating func write(run: Span<UInt8>) {
        run.withUnsafeBytes { write(run: $0) }
    }

    /// At most 2³² - 1 bytes, with their length before them.
    package mutating func write(run: [UInt8]) {
        run.withUnsafeBytes { write(run: $0) }
    }
}
