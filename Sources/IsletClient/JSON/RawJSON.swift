import IsletCore
import IsletProtocol

/// One JSON value as its exact bytes, known to be well-formed.
///
/// The bus carries what users put into `attributes` and `contentState` byte for byte, and so does this library: a value
/// is looked into only where somebody asks for its meaning.
public struct RawJSON: Sendable, Hashable {
    /// The bytes; a part of a longer buffer, which they keep alive.
    package let slice: ArraySlice<UInt8>

    /// Bytes that a scanner has found well-formed, or that were written so.
    init(trusted slice: ArraySlice<UInt8>) {
        self.slice = slice
    }

    /// The value that these bytes are; nil where they are not one well-formed JSON value in UTF-8 (depth at most 64).
    /// White space around it is left out.
    public init?(_ bytes: [UInt8]) {
        guard let range = Scan.value(of: bytes) else { return nil }
        slice = bytes[range]
    }

    /// The value of this JSON text; nil where it is not well-formed.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// A copy of the bytes.
    public var bytes: [UInt8] { Array(slice) }

    /// The number of bytes, which is what the 4 KB limit counts.
    public var count: Int { slice.count }

    /// Whether this is `null`.
    public var isNull: Bool { slice.first == UInt8(ascii: "n") }

    /// The text of a string, its escapes read; nil for every other value.
    public var string: String? {
        guard slice.first == UInt8(ascii: "\"") else { return nil }
        return Scan.string(of: slice)
    }

    /// The value of an integer that fits; nil for every other value.
    public var integer: Int64? {
        Int64(asciiText)
    }

    /// The value of an integer that is not negative and fits; nil for every other value.
    public var unsigned: UInt64? {
        UInt64(asciiText)
    }

    /// The value of a stream's sequence number; nil for every other value, and for one that is so high that one more, or a
    /// span of them, could not be counted. No service that is right comes near it.
    package var sequenceNumber: UInt64? {
        unsigned.flatMap { $0 < 1 << 62 ? $0 : nil }
    }

    /// The nearest `Double` of a number; nil for every other value.
    public var double: Double? {
        guard let first = slice.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else { return nil }
        return Double(asciiText)
    }

    /// The value of `true` or `false`; nil for every other value.
    public var bool: Bool? {
        switch slice.first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// The members of an object; nil for every other value.
    public var object: RawObject? {
        guard slice.first == UInt8(ascii: "{") else { return nil }
        return RawObject(self)
    }

    /// The elements of an array; nil for every other value.
    public var elements: [RawJSON]? {
        guard slice.first == UInt8(ascii: "[") else { return nil }
        return Scan.elements(of: slice)
    }

    /// The bytes as text; numbers and words are ASCII.
    private var asciiText: String { String(decoding: slice, as: UTF8.self) }
}

extension RawJSON: CustomStringConvertible {
    /// The JSON text itself.
    public var description: String { String(decoding: slice, as: UTF8.self) }
}
