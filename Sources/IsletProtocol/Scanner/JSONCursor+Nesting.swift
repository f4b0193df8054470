extension JSONCursor {
    /// An object or array at the position, with all that is in it.
    ///
    /// No recursion, so that no input can exhaust the stack: which of the open containers are objects is kept as one bit
    /// for each, which is why the limit of depth cannot be above 64.
    mutating func scanNested(depthLimit: Int) throws(ScanError) {
        precondition(depthLimit <= UInt64.bitWidth)
        var objects: UInt64 = 0
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
