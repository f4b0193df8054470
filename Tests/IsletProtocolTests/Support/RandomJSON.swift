/// Random well-formed JSON text, with white space, escapes and characters of every length in it.
struct RandomJSON {
    var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func object(depth: Int = 4) -> String {
        let members = (0..<Int.random(in: 0...5, using: &generator)).map { index in
            "\(space())\(string("k\(index)"))\(space()):\(space())\(value(depth: depth - 1))\(space())"
        }
        return "{\(members.joined(separator: ","))\(space())}"
    }

    mutating func value(depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
        case 0: return number()
        case 1: return "true"
        case 2: return "false"
        case 3: return "null"
        case 4, 5: return string("")
        case 6: return object(depth: depth)
        default:
            let elements = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                "\(space())\(value(depth: depth - 1))\(space())"
            }
            return "[\(elements.joined(separator: ","))\(space())]"
        }
    }

    mutating func space() -> String {
        guard generator.chance(1, in: 8) else { return "" }
        return ["", " ", "\n", "\t \r"].randomElement(using: &generator)!
    }

    mutating func number() -> String {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return String(Int.random(in: -1000...1000, using: &generator))
        case 1: return String(Int64(truncatingIfNeeded: generator.next()))
        case 2: return "\(Int.random(in: 0...99, using: &generator)).\(Int.random(in: 0...999, using: &generator))"
        default: return "-\(Int.random(in: 1...9, using: &generator))e\(Int.random(in: -9...9, using: &generator))"
        }
    }

    /// A string that begins with `stem`.
    mutating func string(_ stem: String) -> String {
        let pieces = [
            "a", "longer plain text", "é", "日本", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\uD83D\\uDE00",
            "\\ud800", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFFF}", "\u{10FFFF}", " ",
        ]
        let count = generator.chance(1, in: 4) ? Int.random(in: 0...12, using: &generator) : 1
        return "\"" + stem + (0..<count).map { _ in pieces.randomElement(using: &generator)! }.joined() + "\""
    }
}
