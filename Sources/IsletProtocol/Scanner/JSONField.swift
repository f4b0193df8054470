package import IsletCore

/// What a JSON value is.
package enum JSONKind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case object
    case array
    case string
    /// A number without fraction and exponent that fits `Int64`.
    case integer
    /// Every other number.
    case number
    case `true`
    case `false`
    case null
}

/// A value that stands in a frame: its kind and its exact bytes, quotes and braces included.
package struct JSONValue: Equatable, Sendable, BitwiseCopyable {
    package var kind: JSONKind
    /// Whether a string holds a backslash; false for every other kind.
    package var hasEscapes: Bool
    package var range: FrameRange

    package init(kind: JSONKind, hasEscapes: Bool, range: FrameRange) {
        self.kind = kind
        self.hasEscapes = hasEscapes
        self.range = range
    }

    /// What stands between the quotes of a string; meaningless for other kinds.
    package var text: JSONText {
        JSONText(range: FrameRange(offset: Int(range.offset) + 1, count: Int(range.count) - 2), hasEscapes: hasEscapes)
    }
}

/// The inside of a string in a frame, without its quotes.
package struct JSONText: Equatable, Sendable, BitwiseCopyable {
    package var range: FrameRange
    /// False: the bytes of the range are the text itself.
    package var hasEscapes: Bool

    package init(range: FrameRange, hasEscapes: Bool) {
        self.range = range
        self.hasEscapes = hasEscapes
    }
}

/// One member of a JSON object.
package struct JSONField: Equatable, Sendable, BitwiseCopyable {
    package var name: JSONText
    package var value: JSONValue

    package init(name: JSONText, value: JSONValue) {
        self.name = name
        self.value = value
    }
}
