package import IsletCore

extension JSONWriter {
    /// A string of text that needs no escapes: names of the contract.
    package mutating func string(_ text: StaticString) {
        appendString(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// A string whose bytes need no escapes, because a decoder has let only such in (`req`, `app`, `type`, `key` …).
    package mutating func plain(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { appendString($0) }
    }

    /// A string of any text.
    package mutating func string(_ text: String) {
        var text = text
        beginString()
        text.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
        append(UInt8(ascii: "\""))
    }

    /// A string of any text in strict UTF-8.
    package mutating func string(utf8 text: Span<UInt8>) {
        beginString()
        text.withUnsafeBytes { appendEscaped($0) }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
        var plainStart = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            append(UnsafeRawBufferPointer(rebasing: text[plainStart..<index]))
            plainStart = index + 1
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case 0x08: append("\\b")
            case 0x09: append("\\t")
            case 0x0A: append("\\n")
            case 0x0C: append("\\f")
            case 0x0D: append("\\r")
            default:
                append("\\u00")
                append(EntityID.hexDigit(byte >> 4))
                append(EntityID.hexDigit(byte & 15))
            }
        }
        append(UnsafeRawBufferPointer(rebasing: text[plainStart...]))
    }
}

extension JSONWriter {
    // MARK: Members: a key and its value

    @inline(__always) @inlinable package mutating func field(_ name: StaticString, _ value: some FixedWidthInteger) {
        key(name)
        integer(value)
    }

    @inline(__always) package mutating func field(_ name: StaticString, _ value: Double) {
        key(name)
        double(value)
    }

    @inline(__always) package mutating func field(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    @inline(__always) package mutating func field(_ name: StaticString, _ value: EntityID) {
        key(name)
        id(value)
    }

    @inline(__always) package mutating func field(_ name: StaticString, _ value: Instant) {
        key(name)
        date(value)
    }

    /// A member whose value is a name of the contract.
    @inline(__always) package mutating func field(_ name: StaticString, name value: StaticString) {
        key(name)
        string(value)
    }

    @inline(__always) package mutating func field(_ name: StaticString, string value: String) {
        key(name)
        string(value)
    }

    /// A member whose value needs no escapes.
    @inline(__always) package mutating func field(_ name: StaticString, plain value: Span<UInt8>) {
        key(name)
        plain(value)
    }

    /// A member that a merge patch takes away.
    mutating func cleared(_ name: StaticString) {
        key(name)
        null()
    }

    /// A member whose value is JSON already.
    @inline(__always) package mutating func field(_ name: StaticString, raw value: Span<UInt8>) {
        key(name)
        raw(value)
    }
}
