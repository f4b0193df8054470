package import IsletCore

/// Appends compact JSON to a buffer of its own, which is meant to be kept and used again: once it has grown, writing
/// allocates nothing.
///
/// Commas need no state: one is due before a member or an element unless the byte before opens the container. The
/// writer does not check that what is asked for is a JSON document; that is the encoders' business and their tests'.
package struct JSONWriter: ~Copyable {
    /// A buffer that has grown beyond this is given back by ``removeAll()`` (an answer frame is at most this large).
    package static let keptCapacity = 1 << 20

    // Proof for the pointer: `storage` is allocated with `capacity` bytes and owned by this noncopyable value alone;
    // `count <= capacity` always, each write goes through `reserve` first, and only the first `count` bytes, all
    // written, are ever shown.
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes written.
    package private(set) var count: Int
    private var documentStart = 0

    package init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        storage = .allocate(byteCount: self.capacity, alignment: 16)
        count = 0
    }

    deinit {
        storage.deallocate()
    }

    // MARK: The bytes

    /// What has been written; valid inside `body` only.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: storage, count: count))
    }

    /// What has been written; valid inside `body` only.
    package func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = UnsafeBufferPointer(start: UnsafePointer(storage.assumingMemoryBound(to: UInt8.self)), count: count)
        return try body(bytes.span)
    }

    /// A copy of what has been written.
    package func copy() -> [UInt8] {
        withBytes { Array($0) }
    }

    /// What follows is a document of its own, behind the bytes that are already there.
    package mutating func beginDocument() {
        documentStart = count
    }

    /// Forgets everything, keeping the buffer.
    package mutating func removeAll() {
        count = 0
        documentStart = 0
        guard capacity > Self.keptCapacity else { return }
        storage.deallocate()
        capacity = Self.keptCapacity
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    /// Forgets all but the first `length` bytes, for a row that turned out not to fit.
    package mutating func truncate(to length: Int) {
        precondition(length >= 0 && length <= count)
        count = length
        documentStart = min(documentStart, length)
    }

    /// Makes room for `extra` more bytes.
    @inline(__always) private mutating func reserve(_ extra: Int) {
        if capacity - count < extra { grow(extra) }
    }

    @inline(never) private mutating func grow(_ extra: Int) {
        let larger = max(capacity * 2, count + extra)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        moved.copyMemory(from: storage, byteCount: count)
        storage.deallocate()
        storage = moved
        capacity = larger
    }

    @inline(__always) mutating func append(_ byte: UInt8) {
        reserve(1)
        storage.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inline(__always) mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (storage + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    @inline(__always) mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The opening quote of a string, after a comma where one is due.
    @inline(__always) mutating func beginString() {
        separate()
        append(UInt8(ascii: "\""))
    }

    /// A comma where the byte before does not open a container or end a key.
    @inline(__always) private mutating func separate() {
        guard count > documentStart else { return }
        switch storage.load(fromByteOffset: count - 1, as: UInt8.self) {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default: append(UInt8(ascii: ","))
        }
    }

    // MARK: Containers and keys

    package mutating func beginObject() {
        separate()
        append(UInt8(ascii: "{"))
    }

    package mutating func endObject() {
        append(UInt8(ascii: "}"))
    }

    package mutating func beginArray() {
        separate()
        append(UInt8(ascii: "["))
    }

    package mutating func endArray() {
        append(UInt8(ascii: "]"))
    }

    /// A member's name, which needs no escapes.
    package mutating func key(_ name: StaticString) {
        separate()
        append(UInt8(ascii: "\""))
        append(name)
        append("\":")
    }

    /// A member's name that needs no escapes, such as an `app` that a decoder has checked.
    package mutating func key(plain name: Span<UInt8>) {
        plain(name)
        append(UInt8(ascii: ":"))
    }

    // MARK: Values

    package mutating func null() {
        separate()
        append("null")
    }

    package mutating func bool(_ value: Bool) {
        separate()
        append(value ? "true" : "false")
    }

    /// Bytes that are JSON already: a payload, which is carried as it came.
    package mutating func raw(_ json: Span<UInt8>) {
        separate()
        json.withUnsafeBytes { append($0) }
    }

    package mutating func id(_ id: EntityID) {
        separate()
        reserve(38)
        append(UInt8(ascii: "\""))
        for position in 0..<16 {
            if position == 4 || position == 6 || position == 8 || position == 10 { append(UInt8(ascii: "-")) }
            let word = position < 8 ? id.high : id.low
            let byte = UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * (position & 7)))
            append(EntityID.hexDigit(byte >> 4))
            append(EntityID.hexDigit(byte & 15))
        }
        append(UInt8(ascii: "\""))
    }

    package mutating func integer(_ value: some FixedWidthInteger) {
        separate()
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDigits(UInt64(value.magnitude))
    }

    /// The shortest text that reads back as the same number; an integral one has no `.0`, and zero has no sign.
    ///
    /// JSON has no infinities: one is written as `null`.
    package mutating func double(_ value: Double) {
        separate()
        if value.magnitude < 0x1p53, value == value.rounded(.towardZero) {
            if value < 0 { append(UInt8(ascii: "-")) }
            appendDigits(UInt64(value.magnitude))
        } else if value.isFinite {
            appendUTF8(value.description)
        } else {
            append("null")
        }
    }

    private mutating func appendDigits(_ value: UInt64) {
        reserve(20)
        var length = 1
        var bound: UInt64 = 10
        while length < 20, value >= bound {
            length += 1
            bound = length < 20 ? bound * 10 : .max
        }
        var rest = value
        var index = count + length
        count = index
        repeat {
            index -= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            storage.storeBytes(of: UInt8(ascii: "0") + UInt8(digit), toByteOffset: index, as: UInt8.self)
            rest = quotient
        } while rest > 0
    }

    /// The text's bytes as they are.
    mutating func appendUTF8(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
}
