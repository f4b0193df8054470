/// Writes what recovery reads back with an ``ImageReader``: numbers in little-endian order and runs of bytes with their
/// lengths, one after another. Kept and used again, so that it allocates nothing once it has grown.
package struct ImageWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    package mutating func write(byte: UInt8) {
        bytes.append(byte)
    }

    /// One byte, 0 or 1.
    package mutating func write(_ flag: Bool) {
        bytes.append(flag ? 1 : 0)
    }

    // A literal would be taken for an `Int`: so each width that is used has a method of its own.

    package mutating func write(_ value: UInt16) { writeInteger(value) }

    package mutating func write(_ value: UInt32) { writeInteger(value) }

    package mutating func write(_ value: UInt64) { writeInteger(value) }

    private mutating func writeInteger(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func write(_ instant: Instant) { writeInteger(instant.milliseconds) }

    package mutating func write(_ id: EntityID) {
        write(id.high)
        write(id.low)
    }

    /// At most 2³² - 1 bytes, with their length before them.
    package mutating func write(run: UnsafeRawBufferPointer) {
        write(UInt32(run.count))
        bytes.append(contentsOf: run)
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
