/// The names that Prometheus allows.
package enum MetricName {
    /// `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    package static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first) || first == UInt8(ascii: ":") else { return false }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: ":") }
    }

    /// `[a-zA-Z_][a-zA-Z0-9_]*`, not one that Prometheus keeps for itself, and not that of a histogram's bounds.
    package static func isValidLabel(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), !name.hasPrefix("__"), name != "le" else { return false }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// A metric's name made of any text: each byte that may not stand in one becomes `_`.
    package static func metric(_ text: String) -> String {
        isValid(text) ? text : made(of: text) { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: ":") }
    }

    /// A label's name made of any text.
    package static func label(_ text: String) -> String {
        if isValidLabel(text) { return text }
        let name = made(of: text) { isLetter($0) || isDigit($0) }
        return isValidLabel(name) ? name : "label_" + name
    }

    private static func made(of text: String, _ mayStand: (UInt8) -> Bool) -> String {
        var bytes = text.utf8.map { mayStand($0) ? $0 : UInt8(ascii: "_") }
        if bytes.first.map(isDigit) ?? true { bytes.insert(UInt8(ascii: "_"), at: 0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
