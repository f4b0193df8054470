package import IsletCore

extension KindParameter.Option {
    /// A provider gives at most this many options for a parameter.
    package static let maximumCount = 1_000

    /// Whether the bytes at `range` are options as a provider gives them: an array of objects, each with a `value` and
    /// perhaps a `title`, which is a string.
    package static func areOptions(_ frame: Span<UInt8>, at range: FrameRange) -> Bool {
        guard range.count > 0, frame[Int(range.offset)] == UInt8(ascii: "[") else { return false }
        var elements: [JSONValue] = []
        var areWell = true
        do {
            try JSONScanner.scanArray(frame, at: range) { element in
                if element.kind == .object, elements.count < maximumCount {
                    elements.append(element)
                } else {
                    areWell = false
                }
            }
            for element in elements {
                var hasValue = false
                try JSONScanner.scanObject(frame, at: element.range) { member in
                    if member.name.equals("value", in: frame), member.value.kind != .null {
                        hasValue = true
                    } else if !member.name.equals("title", in: frame) || member.value.kind != .string {
                        areWell = false
                    }
                }
                areWell = areWell && hasValue
            }
        } catch {
            return false
        }
        return areWell
    }
}
