import IsletCore

/// A position in bytes that are being scanned, and the rules of the grammar that move it.
///
/// Proof for the pointer: a cursor lives only inside `withUnsafeBufferPointer` of the span it reads (it is never stored
/// or returned), and `0 <= position <= end <= count of the buffer` always holds: every read is behind a comparison
/// with `end`, and `position` moves only over bytes that were read.
struct JSONCursor {
    let base: UnsafeRawPointer
    let end: Int
    var position: Int

    init(_ buffer: UnsafeBufferPointer<UInt8>, in range: Range<Int>) {
        // An empty buffer may have no address; nothing is read from this one then.
        base = UnsafeRawPointer(buffer.baseAddress ?? UnsafePointer(bitPattern: 8).unsafelyUnwrapped)
        end = range.upperBound
        position = range.lowerBound
    }

    /// The byte at an index below `end`.
    @inline(__always) func byte(_ index: Int) -> UInt8 {
        base.load(fromByteOffset: index, as: UInt8.self)
    }

    /// Eight bytes from an index at most `end - 8`, the first in the lowest place.
    @inline(__always) func word(_ index: Int) -> UInt64 {
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The byte at the position, nil at the end.
    @inline(__always) func peek() -> UInt8? {
        position < end ? byte(position) : nil
    }

    @inline(__always) mutating func skipWhitespace() {
        // Most often there is none.
        while position < end, byte(position) <= 0x20 {
            switch byte(position) {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// The error for a byte that has no place here, or for the end.
    func unexpected() -> ScanError {
        ScanError(position < end ? .unexpectedByte : .unexpectedEnd, at: position)
    }

    @inline(__always) mutating func expect(_ wanted: UInt8) throws(ScanError) {
        guard position < end, byte(position) == wanted else { throw unexpected() }
        position += 1
    }

    /// Only white space may be left.
    mutating func expectEnd() throws(ScanError) {
        skipWhitespace()
        guard position == end else { throw ScanError(.trailingBytes, at: position) }
    }

    /// An object at the position, each of whose members is visited when its value has been scanned.
    @inline(__always) mutating func scanMembers(
        depthLimit: Int = JSONScanner.maximumDepth, visit: (JSONField) -> Void
    ) throws(ScanError) {
        try scanMembers { cursor, name throws(ScanError) in
            visit(JSONField(name: name, value: try cursor.scanValue(depthLimit: depthLimit)))
        }
    }

    /// An object at the position, in whose members of this name that are objects each member is visited.
    mutating func scanMembers(
        under name: StaticString, in frame: Span<UInt8>, visit: (JSONField) -> Void
    ) throws(ScanError) {
        try scanMembers { cursor, found throws(ScanError) in
            if cursor.peek() == UInt8(ascii: "{"), found.equals(name, in: frame) {
                try cursor.scanMembers(visit: visit)
            } else {
                _ = try cursor.scanValue(depthLimit: JSONScanner.maximumDepth)
            }
        }
    }

    /// An object at the position; `scanValue` goes over each member's value.
    @inline(__always) private mutating func scanMembers(
        scanValue: (inout JSONCursor, _ name: JSONText) throws(ScanError) -> Void
    ) throws(ScanError) {
        var isFirst = true
        while let name = try nextName(isFirst: isFirst) {
            isFirst = false
            try scanValue(&self, name)
        }
    }

    /// The name of an object's next member, with the position on its value; nil behind the object.
    ///
    /// - Parameter isFirst: whether the object itself is at the position, and not the end of a member's value.
    @inline(__always) mutating func nextName(isFirst: Bool) throws(ScanError) -> JSONText? {
        if isFirst {
            try expect(UInt8(ascii: "{"))
            skipWhitespace()
            if peek() == UInt8(ascii: "}") {
                position += 1
                return nil
            }
        } else {
            skipWhitespace()
            guard peek() == UInt8(ascii: ",") else {
                try expect(UInt8(ascii: "}"))
                return nil
            }
            position += 1
            skipWhitespace()
        }
        return try scanName()
    }

    /// An array at the position, each of whose elements is visited when it has been scanned.
    @inline(__always) mutating func scanElements(
        depthLimit: Int = JSONScanner.maximumDepth, visit: (JSONValue) -> Void
    ) throws(ScanError) {
        try expect(UInt8(ascii: "["))
        skipWhitespace()
        if peek() == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            visit(try scanValue(depthLimit: depthLimit))
            skipWhitespace()
            guard peek() == UInt8(ascii: ",") else { break }
            position += 1
            skipWhitespace()
        }
        try expect(UInt8(ascii: "]"))
    }

    /// A member's name, its colon and the white space after it.
    @inline(__always) mutating func scanName() throws(ScanError) -> JSONText {
        let start = position
        guard peek() == UInt8(ascii: "\"") else { throw unexpected() }
        let hasEscapes = try scanString(isLong: false)
        let range = FrameRange(offset: start + 1, count: position - start - 2)
        skipWhitespace()
        try expect(UInt8(ascii: ":"))
        skipWhitespace()
        return JSONText(range: range, hasEscapes: hasEscapes)
    }

    /// Any value at the position, which stands on its first byte.
    mutating func scanValue(depthLimit: Int) throws(ScanError) -> JSONValue {
        let start = position
        guard position < end else { throw unexpected() }
        var hasEscapes = false
        let kind: JSONKind
        switch byte(position) {
        case UInt8(ascii: "\""):
            hasEscapes = try scanString(isLong: false)
            kind = .string
        case UInt8(ascii: "{"):
            try scanNested(depthLimit: depthLimit)
            kind = .object
        case UInt8(ascii: "["):
            try scanNested(depthLimit: depthLimit)
            kind = .array
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            kind = try scanNumber() ? .integer : .number
        case UInt8(ascii: "t"):
            try scanWord("true")
            kind = .true
        case UInt8(ascii: "f"):
            try scanWord("false")
            kind = .false
        case UInt8(ascii: "n"):
            try scanWord("null")
            kind = .null
        default:
            throw unexpected()
        }
        return JSONValue(kind: kind, hasEscapes: hasEscapes, range: FrameRange(start..<position))
    }

    @inline(__always) mutating func scanWord(_ word: StaticString) throws(ScanError) {
        for index in 0..<word.utf8CodeUnitCount {
            try expect(word.utf8Start[index])
        }
    }
}
