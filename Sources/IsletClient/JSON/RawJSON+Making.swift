extension RawJSON {
    /// `null`.
    public static let null = RawJSON(trusted: Array("null".utf8)[...])

    /// A string, escaped where JSON asks for it.
    public static func string(_ text: String) -> RawJSON {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 2)
        JSONText.append(text, to: &bytes)
        return RawJSON(trusted: bytes[...])
    }

    /// An integer.
    public static func integer(_ value: some FixedWidthInteger) -> RawJSON {
        RawJSON(trusted: Array(value.description.utf8)[...])
    }

    /// A number; nil for an infinity or NaN, which JSON does not have.
    public static func number(_ value: Double) -> RawJSON? {
        guard value.isFinite else { return nil }
        if let integer = Int64(exactly: value) { return .integer(integer) }
        return RawJSON(trusted: Array(value.description.utf8)[...])
    }

    /// `true` or `false`.
    public static func bool(_ value: Bool) -> RawJSON {
        RawJSON(trusted: Array((value ? "true" : "false").utf8)[...])
    }

    /// An object of these members, in this order.
    public static func object(_ members: [RawObject.Member]) -> RawJSON {
        var bytes: [UInt8] = []
        JSONText.append(members, to: &bytes)
        return RawJSON(trusted: bytes[...])
    }

    /// An array of these elements.
    public static func array(_ elements: [RawJSON]) -> RawJSON {
        var bytes = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: element.slice)
        }
        bytes.append(UInt8(ascii: "]"))
        return RawJSON(trusted: bytes[...])
    }
}

/// Compact JSON appended to bytes.
enum JSONText {
    static func append(_ members: [RawObject.Member], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(member.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: member.value.slice)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(hexDigits[Int(byte >> 4)])
                bytes.append(hexDigits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}
