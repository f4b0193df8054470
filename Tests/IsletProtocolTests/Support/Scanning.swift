import IsletCore
import IsletProtocol

/// The members of a scanned object, as (name, kind, the value's bytes), for tests.
struct ScannedMember: Equatable, CustomStringConvertible {
    var name: String
    var kind: JSONKind
    var value: String

    var description: String { "\(name): \(value) (\(kind))" }
}

func members(of text: String) throws(ScanError) -> [ScannedMember] {
    try members(of: Array(text.utf8))
}

func members(of bytes: [UInt8]) throws(ScanError) -> [ScannedMember] {
    var found: [ScannedMember] = []
    try JSONScanner.scanObject(bytes.span) { field in
        found.append(
            ScannedMember(
                name: field.name.string(in: bytes.span), kind: field.value.kind,
                value: String(decoding: bytes[field.value.range.indices], as: UTF8.self)))
    }
    return found
}

/// Whether the scanner takes `bytes` for one JSON value.
func isValue(_ bytes: [UInt8]) -> Bool {
    do {
        _ = try JSONScanner.scanValue(bytes.span)
        return true
    } catch {
        return false
    }
}
