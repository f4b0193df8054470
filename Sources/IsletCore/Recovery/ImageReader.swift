/// Why stored bytes are not what was written.
package enum ImageError: Error, Equatable, Sendable {
    /// They end too early.
    case truncated
    /// They go on behind the end.
    case tooLong
    /// They were written by a later release.
    case unknownVersion(UInt8)
    /// A value that no release has written.
    case unknownValue
    /// Something that belongs together does not fit, with what it is about.
    case contradiction(String)
}

/// Reads what an ``ImageWriter`` wrote; the bytes come from a disk, so everything is checked.
///
/// Unsafe pointer: a reader exists only inside ``read(_:_:)``, which borrows the bytes meanwhile; every access is checked
/// against their count.
package struct ImageReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Reads all of some bytes.
    package static func read<Result>(
        _ bytes: Span<UInt8>, _ body: (inout ImageReader) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        try bytes.withUnsafeBytes { buffer throws(ImageError) in
            var reader = ImageReader(buffer)
            let result = try body(&reader)
            guard reader.isAtEnd else { throw .tooLong }
            return result
        }
    }

    private var isAtEnd: Bool { position == bytes.count }

    package mutating func byte() throws(ImageError) -> UInt8 {
        guard position < bytes.count else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _: Value.Type = Value.self
    ) throws(ImageError) -> Value {
        let count = MemoryLayout<Value>.size
        guard bytes.count - position >= count else { throw .truncated }
        let start = position
        position += count
        return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Value.self))
    }

    package mutating func instant() throws(ImageError) -> Instant { Instant(try integer(Milliseconds.self)) }

    package mutating func entityID() throws(ImageError) -> EntityID {
        let high = try integer(UInt64.self)
        return EntityID(high: high, low: try integer(UInt64.self))
    }

    /// The place of a run of bytes whose length stands before it.
    package mutating func run() throws(ImageError) -> Range<Int> {
        let count = Int(try integer(UInt32.self))
        guard bytes.count - position >= count else { throw .truncated }
        defer { position += count }
        return position..<position + count
    }

    /// A copy of a run of bytes whose length stands before it.
    package mutating func bytesOfRun() throws(ImageError) -> [UInt8] { Array(bytes[try run()]) }

    /// A value by its stored number.
    package mutating func value<Value: RawRepresentable>(
        _: Value.Type = Value.self
    ) throws(ImageError) -> Value where Value.RawValue == UInt8 {
        guard let value = Value(rawValue: try byte()) else { throw .unknownValue }
        return value
    }

    package mutating func flag() throws(ImageError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .unknownValue
        }
    }
}

extension Instant {
    /// Whether spans between it and the present can be computed: a bit that flipped in a file must not make one overflow.
    var isPlausible: Bool { !isSet || abs(milliseconds / 2) < 1 << 53 }
}
