/// A second, naive reading of RFC 8259 that shares nothing with the scanner: recursive, copying, one character at a time.
///
/// It says yes or no to whole documents whose nesting is at most `depthLimit`.
struct ReferenceJSON {
    private var rest: ArraySlice<Character>
    private let depthLimit: Int

    static func accepts(_ bytes: [UInt8], depthLimit: Int = 64) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        // Scalars, not grapheme clusters: one `Character` each.
        var reader = ReferenceJSON(rest: text.unicodeScalars.map(Character.init)[...], depthLimit: depthLimit)
        reader.space()
        guard reader.value(depth: 0) else { return false }
        reader.space()
        return reader.rest.isEmpty
    }

    private mutating func take(_ wanted: Character) -> Bool {
        guard rest.first == wanted else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func space() {
        rest = rest.drop { " \t\n\r".unicodeScalars.contains($0.unicodeScalars.first!) }
    }

    private mutating func value(depth: Int) -> Bool {
        switch rest.first {
        case "{":
            guard depth < depthLimit else { return false }
            return list("{", "}") { $0.member(depth: depth + 1) }
        case "[":
            guard depth < depthLimit else { return false }
            return list("[", "]") { $0.value(depth: depth + 1) }
        case "\"": return string()
        case "t": return "true".allSatisfy { take($0) }
        case "f": return "false".allSatisfy { take($0) }
        case "n": return "null".allSatisfy { take($0) }
        default: return number()
        }
    }

    private mutating func list(
        _ open: Character, _ close: Character, _ item: (inout ReferenceJSON) -> Bool
    ) -> Bool {
        guard take(open) else { return false }
        space()
        if take(close) { return true }
        repeat {
            space()
            guard item(&self) else { return false }
            space()
        } while take(",")
        return take(close)
    }

    private mutating func member(depth: Int) -> Bool {
        guard string() else { return false }
        space()
        guard take(":") else { return false }
        space()
        return value(depth: depth)
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let next = rest.popFirst() {
            if next == "\"" { return true }
            if next.unicodeScalars.first!.value < 0x20 { return false }
            if next == "\\" {
                guard let escape = rest.popFirst() else { return false }
                if escape == "u" {
                    let digits = rest.prefix(4)
                    guard digits.count == 4, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return false }
                    rest = rest.dropFirst(4)
                } else if !"\"\\/bfnrt".contains(escape) {
                    return false
                }
            }
        }
        return false
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") {
            guard let first = rest.first, ("1"..."9").contains(first), first.isASCII else { return false }
            _ = digits()
        }
        if take("."), !digits() { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if !digits() { return false }
        }
        return true
    }

    private mutating func digits() -> Bool {
        let count = rest.prefix { $0.isASCII && $0.isWholeNumber }.count
        rest = rest.dropFirst(count)
        return count > 0
    }
}
