package import IsletCore

/// Appends compact JSON to a buffer of its own, which is meant to be kept and used again: once it has grown, writing
/// allocates nothing.
///
/// Commas need no state: one is due before a member or an element unless the byte before opens the container. The
/// writer does not check that what is asked for is a JSON document; that is the encoders' business and their tests'.
@usableFromInline package struct JSONWriter: ~Copyable {
    /// A buffer that has grown beyond this is given back by ``removeAll()`` (an answer frame is at most this large).
    package static let keptCapacity = 1 << 20

    // Proof for the pointer: `storage` is allocated with `capacity` bytes and owned by this noncopyable value alone;
    // `count <= capacity` always, each write goes through `reserve` first, and only the first `count` bytes, all
    // written, are ever shown.
    @usableFromInline private(set) var storage: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes written.
    @usableFromInline package private(set) var count: Int
    private var documentStart = 0
    private var dates = RecentDates()

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
    @inlinable package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: storage, count: count))
    }

    /// What has been written; valid inside `body` only.
    @inlinable package func withSpan<Result, Failure: Error>(
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
        reserve(bytes.count)
        appendReserved(bytes)
    }

    /// The same, where there is room for them.
    @inline(__always) private mutating func appendReserved(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        let length = bytes.count
        let target = storage + count
        // Most pieces are short, and a call of memcpy takes longer than they do: two words that overlap in the middle.
        if length >= 8, length <= 16 {
            let head = start.loadUnaligned(as: UInt64.self)
            let tail = start.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self)
            target.storeBytes(of: head, as: UInt64.self)
            target.storeBytes(of: tail, toByteOffset: length - 8, as: UInt64.self)
        } else if length >= 4, length < 8 {
            let head = start.loadUnaligned(as: UInt32.self)
            let tail = start.loadUnaligned(fromByteOffset: length - 4, as: UInt32.self)
            target.storeBytes(of: head, as: UInt32.self)
            target.storeBytes(of: tail, toByteOffset: length - 4, as: UInt32.self)
        } else if length < 4 {
            for index in 0..<length {
                target.storeBytes(
                    of: start.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index, as: UInt8.self)
            }
        } else {
            target.copyMemory(from: start, byteCount: length)
        }
        count += length
    }

    @inline(__always) mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// A string of bytes that need no escapes, after a comma where one is due: room is looked for once.
    @inline(__always) mutating func appendString(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count + 3)
        separateReserved()
        storage.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count, as: UInt8.self)
        count += 1
        appendReserved(bytes)
        storage.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// The opening quote of a string, after a comma where one is due.
    @inline(__always) mutating func beginString() {
        separate()
        append(UInt8(ascii: "\""))
    }

    /// A comma where the byte before does not open a container or end a key.
    @inline(__always) private mutating func separate() {
        reserve(1)
        separateReserved()
    }

    /// The same, where there is room for it.
    @inline(__always) private mutating func separateReserved() {
        guard count > documentStart else { return }
        switch storage.load(fromByteOffset: count - 1, as: UInt8.self) {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default:
            storage.storeBytes(of: UInt8(ascii: ","), toByteOffset: count, as: UInt8.self)
            count += 1
        }
    }

    // MARK: Containers and keys

    package mutating func beginObject() {
        reserve(2)
        separateReserved()
        storage.storeBytes(of: UInt8(ascii: "{"), toByteOffset: count, as: UInt8.self)
        count += 1
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
    ///
    /// Inlined, so that a literal becomes a few stores of constants: an event and its answer have 28 names, and each took
    /// 77 instructions as a call.
    @inline(__always) @usableFromInline package mutating func key(_ name: StaticString) {
        let length = name.utf8CodeUnitCount
        reserve(length + 4)
        separateReserved()
        let target = storage + count
        target.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        (target + 1).copyMemory(from: name.utf8Start, byteCount: length)
        target.storeBytes(of: Self.keyEnd.littleEndian, toByteOffset: length + 1, as: UInt16.self)
        count += length + 3
    }

    /// `":`, the first in the lower byte.
    private static let keyEnd = UInt16(UInt8(ascii: ":")) << 8 | UInt16(UInt8(ascii: "\""))

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
        beginString()
        append(id)
        append(UInt8(ascii: "\""))
    }

    /// An id's text: 8-4-4-4-12 digits.
    mutating func append(_ id: EntityID) {
        reserve(36)
        let target = storage + count
        let (first, second, third, fourth) = id.digits
        let dash = UInt8(ascii: "-")
        // The bytes of each word stand in the order of the text.
        target.storeBytes(of: first.littleEndian, as: UInt64.self)
        target.storeBytes(of: dash, toByteOffset: 8, as: UInt8.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: second).littleEndian, toByteOffset: 9, as: UInt32.self)
        target.storeBytes(of: dash, toByteOffset: 13, as: UInt8.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32).littleEndian, toByteOffset: 14, as: UInt32.self)
        target.storeBytes(of: dash, toByteOffset: 18, as: UInt8.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: third).littleEndian, toByteOffset: 19, as: UInt32.self)
        target.storeBytes(of: dash, toByteOffset: 23, as: UInt8.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32).littleEndian, toByteOffset: 24, as: UInt32.self)
        target.storeBytes(of: fourth.littleEndian, toByteOffset: 28, as: UInt64.self)
        count += 36
    }

    @inlinable package mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
        if Value.isSigned { signed(Int64(value)) } else { unsigned(UInt64(value)) }
    }

    @usableFromInline package mutating func signed(_ value: Int64) {
        separate()
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude)
    }

    @usableFromInline package mutating func unsigned(_ value: UInt64) {
        separate()
        appendDigits(value)
    }

    /// A date in milliseconds since 1970.
    package mutating func date(_ date: Instant) {
        guard let text = dates.text(of: date) else { return signed(date.milliseconds) }
        // A comma, and eight bytes of each half.
        reserve(1 + RecentDates.headCount + 8)
        separateReserved()
        storage.storeBytes(of: text.head.littleEndian, toByteOffset: count, as: UInt64.self)
        storage.storeBytes(of: text.tail.littleEndian, toByteOffset: count + RecentDates.headCount, as: UInt64.self)
        count += RecentDates.headCount + 8
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
        // Three groups of eight digits at most.
        reserve(24)
        if value < 10 {
            // Revisions are small, most of them.
            storage.storeBytes(of: UInt8(ascii: "0") + UInt8(value), toByteOffset: count, as: UInt8.self)
            count += 1
            return
        }
        guard value >= DecimalDigits.group else { return appendLeading(value) }
        let (high, low) = value.quotientAndRemainder(dividingBy: DecimalDigits.group)
        if high < DecimalDigits.group {
            appendLeading(high)
        } else {
            let (highest, middle) = high.quotientAndRemainder(dividingBy: DecimalDigits.group)
            appendLeading(highest)
            appendGroup(middle)
        }
        appendGroup(low)
    }

    /// The digits of a number below 10⁸, without zeros before it. There is room for eight.
    @inline(__always) private mutating func appendLeading(_ value: UInt64) {
        let digits = DecimalDigits.ofEight(value)
        let zeros = min(7, digits.trailingZeroBitCount >> 3)
        storage.storeBytes(
            of: (DecimalDigits.text(digits) >> UInt64(zeros << 3)).littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8 - zeros
    }

    /// All eight digits of a number below 10⁸. There is room for them.
    @inline(__always) private mutating func appendGroup(_ value: UInt64) {
        storage.storeBytes(
            of: DecimalDigits.text(DecimalDigits.ofEight(value)).littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    /// The text's bytes as they are.
    mutating func appendUTF8(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
}
