package import IsletCore

/// Finds the members of a JSON object, or the elements of an array, in one pass over the bytes, without copying or
/// allocating, and proves on the way that everything inside is well-formed.
///
/// The grammar is RFC 8259 and nothing more: no comments, no byte order mark, no raw control characters, strict UTF-8.
/// A `\u` escape of a lone surrogate is inside that grammar and is accepted where bytes are only carried through; it is
/// no text, so ``JSONText/unescaped(in:into:)`` refuses it. Equal names are not an error here: who reads the
/// members knows the names and tells (a payload's own members are not looked into at all).
package enum JSONScanner {
    /// How deep a member's value may nest: `{}` and `[]` are 1, a value that is neither is 0.
    package static let maximumDepth = 64

    /// How deep a value of the service's own messages may nest: those carry payloads of ``maximumDepth`` a few levels down.
    package static let maximumMessageDepth = 128

    /// Visits each member of the object that is the whole of `frame`.
    ///
    /// The visits come while the scan goes on; they mean nothing if it throws in the end.
    package static func scanObject(
        _ frame: Span<UInt8>, depthLimit: Int = maximumDepth, visit: (JSONField) -> Void
    ) throws(ScanError) {
        try scanObject(frame) { cursor throws(ScanError) in
            try cursor.scanMembers(depthLimit: depthLimit, visit: visit)
        }
    }

    /// Visits each member of the object under a name in the object that is the whole of `frame`, in one pass over both.
    ///
    /// Nothing is visited where no object has that name. The visits mean nothing if it throws in the end.
    package static func scanObject(
        _ frame: Span<UInt8>, under name: StaticString, visit: (JSONField) -> Void
    ) throws(ScanError) {
        try scanObject(frame) { cursor throws(ScanError) in
            try cursor.scanMembers(under: name, in: frame, visit: visit)
        }
    }

    /// Lets `scanMembers` go over the object that is the whole of `frame`.
    @inline(__always) static func scanObject(
        _ frame: Span<UInt8>, scanMembers: (inout JSONCursor) throws(ScanError) -> Void
    ) throws(ScanError) {
        try frame.withUnsafeBufferPointer { buffer throws(ScanError) in
            var cursor = JSONCursor(buffer, in: 0..<buffer.count)
            cursor.skipWhitespace()
            if let first = cursor.peek(), first != UInt8(ascii: "{") {
                let start = cursor.position
                _ = try cursor.scanValue(depthLimit: maximumDepth)
                try cursor.expectEnd()
                throw ScanError(.notAnObject, at: start)
            }
            try scanMembers(&cursor)
            try cursor.expectEnd()
        }
    }

    /// Visits each member of the object at `range`, which stands anywhere in `frame`.
    package static func scanObject(
        _ frame: Span<UInt8>, at range: FrameRange, visit: (JSONField) -> Void
    ) throws(ScanError) {
        try scan(frame, at: range) { cursor throws(ScanError) in try cursor.scanMembers(visit: visit) }
    }

    /// Visits each element of the array at `range`, which stands anywhere in `frame`.
    package static func scanArray(
        _ frame: Span<UInt8>, at range: FrameRange, depthLimit: Int = maximumDepth, visit: (JSONValue) -> Void
    ) throws(ScanError) {
        try scan(frame, at: range) { cursor throws(ScanError) in
            try cursor.scanElements(depthLimit: depthLimit, visit: visit)
        }
    }

    /// Checks that the whole of `bytes` is one JSON value, and says which.
    package static func scanValue(
        _ bytes: Span<UInt8>, depthLimit: Int = maximumDepth
    ) throws(ScanError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { buffer throws(ScanError) in
            var cursor = JSONCursor(buffer, in: 0..<buffer.count)
            cursor.skipWhitespace()
            let value = try cursor.scanValue(depthLimit: depthLimit)
            try cursor.expectEnd()
            return value
        }
    }

    private static func scan(
        _ frame: Span<UInt8>, at range: FrameRange, _ body: (inout JSONCursor) throws(ScanError) -> Void
    ) throws(ScanError) {
        try frame.withUnsafeBufferPointer { buffer throws(ScanError) in
            precondition(range.indices.upperBound <= buffer.count, "a range of another frame")
            var cursor = JSONCursor(buffer, in: range.indices)
            try body(&cursor)
            try cursor.expectEnd()
        }
    }
}
