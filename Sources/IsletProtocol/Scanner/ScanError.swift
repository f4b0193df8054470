/// Why bytes are not the JSON that was asked for, and where.
package struct ScanError: Error, Equatable, Sendable, BitwiseCopyable {
    /// What is wrong with the byte at the offset.
    package enum Reason: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// The bytes stop in the middle of a value.
        case unexpectedEnd
        /// A byte that the grammar does not allow in this place.
        case unexpectedByte
        /// A raw byte below 0x20 in a string.
        case controlCharacter
        /// A backslash that is not followed by one of `"\/bfnrt` or `u` and four hexadecimal digits.
        case invalidEscape
        /// No strict UTF-8 (RFC 3629): overlong, surrogate, above U+10FFFF, stray or missing continuation.
        case invalidUTF8
        /// A digit is missing, or one stands after a leading zero.
        case invalidNumber
        /// More nested objects and arrays than are allowed.
        case tooDeep
        /// The JSON is complete, and something other than white space follows.
        case trailingBytes
        /// Well-formed, but no object.
        case notAnObject
    }

    package var reason: Reason
    /// The index in the frame of the first byte that cannot stand, or the frame's length where it ends too early.
    package var offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
