/// A JSON value, read by the oracle's own small parser.
package indirect enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])
    /// The bytes of a payload of the user, as they stand: they are compared byte for byte.
    case raw(String)

    /// The members whose values are kept as they stand.
    private static let payloads: Set<String> = ["attributes", "contentState", "alert", "pushType"]

    /// Reads one document; nil where it is none.
    package init?(_ bytes: [UInt8]) {
        var reader = JSONReader(bytes)
        guard let value = reader.value(), reader.isAtEnd else { return nil }
        self = value
    }

    /// A member of an object.
    package subscript(_ name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// A number, with a fraction or without one.
    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .raw, .array, .object: nil
        }
    }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
    package var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }

    /// A number of any form.
    package static func score(_ value: Double) -> JSON {
        value == value.rounded() && value.magnitude < 1e15 ? .integer(Int64(value)) : .number(value)
    }

    static func isPayload(_ name: String) -> Bool { payloads.contains(name) }
}

/// Reads JSON by recursive descent; strict enough for what a service writes.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    private var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte, position < bytes.count else { return false }
        position += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count else { return false }
        let isThere = word.withUTF8Buffer { $0.elementsEqual(bytes[position..<position + count]) }
        if isThere { position += count }
        return isThere
    }

    mutating func value() -> JSON? {
        switch next {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object() -> JSON? {
        position += 1
        var members: [String: JSON] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            guard next == UInt8(ascii: "\""), let name = string(), take(UInt8(ascii: ":")) else { return nil }
            let start = position
            guard let value = value(), members[name] == nil else { return nil }
            // A `null` clears a payload in a merge patch.
            members[name] =
                JSON.isPayload(name) && value != .null
                ? .raw(String(decoding: bytes[start..<position], as: UTF8.self)) : value
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) ? .object(members) : nil
    }

    private mutating func array() -> JSON? {
        position += 1
        var values: [JSON] = []
        if take(UInt8(ascii: "]")) { return .array(values) }
        repeat {
            guard let value = value() else { return nil }
            values.append(value)
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) ? .array(values) : nil
    }

    private mutating func string() -> String? {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                text.append(contentsOf: escaped)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> [UInt8]? {
        let byte = next
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "b"): return [8]
        case UInt8(ascii: "f"): return [12]
        case UInt8(ascii: "u"):
            guard position + 4 <= bytes.count,
                let code = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(code)
            else { return nil }
            position += 4
            return Array(String(Character(scalar)).utf8)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        default: return nil
        }
    }

    private mutating func number() -> JSON? {
        let start = position
        while position < bytes.count, Self.isNumeric(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        return Double(text).map { .number($0) }
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}

extension JSON {
    /// For messages about differences; members in the order of their names.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let text): "\"\(text)\""
        case .raw(let text): text
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.text)" }.joined(separator: ",")
                + "}"
        }
    }
}
