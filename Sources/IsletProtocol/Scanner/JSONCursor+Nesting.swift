extension JSONCursor {
    /// An object or array at the position, with all that is in it.
    ///
    mutating func scanNested(depthLimit: Int) throws(ScanError) {
        if depthLimit <= UInt64.bitWidth {
            try scanNested(depthLimit: depthLimit, noObjects: 0 as UInt64)
        } else {
            precondition(depthLimit <= UInt128.bitWidth)
            try scanNested(depthLimit: depthLimit, noObjects: 0 as UInt128)
        }
    }

    /// No recursion, so that no input can exhaust the stack: which of the open containers are objects is kept as one bit
    /// for each, which is why the limit of depth cannot be above the number of bits.
    @inline(__always) private mutating func scanNested<Bits: FixedWidthInteger & UnsignedInteger>(
        depthLimit: Int, noObjects: Bits
    ) throws(ScanError) {
        var objects = noObjects
        var depth = 0

        while true {
            // Here a value begins.
            guard position < end else { throw unexpected() }
            switch byte(position) {
            case UInt8(ascii: "{"):
                guard depth < depthLimit else { throw ScanError(.tooDeep, at: position) }
                position += 1
                skipWhitespace()
                if peek() == UInt8(ascii: "}") {
                    position += 1
                } else {
                    depth += 1
                    objects = objects << 1 | 1
                    try skipName()
                    continue
                }
            case UInt8(ascii: "["):
                guard depth < depthLimit else { throw ScanError(.tooDeep, at: position) }
                position += 1
                skipWhitespace()
                if peek() == UInt8(ascii: "]") {
                    position += 1
                } else {
                    depth += 1
                    objects <<= 1
                    continue
                }
            case UInt8(ascii: "\""): _ = try scanString(isLong: true)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try scanNumber()
            case UInt8(ascii: "t"): try scanWord("true")
            case UInt8(ascii: "f"): try scanWord("false")
            case UInt8(ascii: "n"): try scanWord("null")
            default: throw unexpected()
            }

            // Here a value has ended: close what it completes, or go on to the next one.
            closing: while true {
                guard depth > 0 else { return }
                skipWhitespace()
                guard position < end else { throw unexpected() }
                let inObject = objects & 1 == 1
                switch byte(position) {
                case UInt8(ascii: ","):
                    position += 1
                    skipWhitespace()
                    if inObject { try skipName() }
                    break closing
                case UInt8(ascii: "}") where inObject, UInt8(ascii: "]") where !inObject:
                    position += 1
                    depth -= 1
                    objects >>= 1
                default:
                    throw unexpected()
                }
            }
        }
    }

    @inline(__always) private mutating func skipName() throws(ScanError) {
        guard peek() == UInt8(ascii: "\"") else { throw unexpected() }
        _ = try scanString(isLong: false)
        skipWhitespace()
        try expect(UInt8(ascii: ":"))
        skipWhitespace()
    }
}
