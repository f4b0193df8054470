package import IsletCore

/// Where the value of a key stands in the JSON of an event that set it.
package enum GroupEventValue {
    /// The range of `group.value`; nil where there is none.
    ///
    /// - Throws: where it is no JSON object.
    package static func range(in json: Span<UInt8>) throws(ScanError) -> FrameRange? {
        var group: FrameRange?
        try JSONScanner.scanObject(json) { member in
            if member.name.equals("group", in: json), member.value.kind == .object { group = member.value.range }
        }
        guard let group else { return nil }
        var value: FrameRange?
        try JSONScanner.scanObject(json, at: group) { member in
            if member.name.equals("value", in: json) { value = member.value.range }
        }
        return value
    }
}
