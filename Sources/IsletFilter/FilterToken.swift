/// A piece of a filter.
struct FilterToken {
    enum Kind {
        case word(String)
        case quoted(String)
        case comparison(FilterComparison)
        case open, close, end
    }

    let kind: Kind
    /// Where it begins, in characters.
    let position: Int

    /// As messages show it.
    var shown: String {
        switch kind {
        case .word(let text), .quoted(let text): "'\(text)'"
        case .comparison(let comparison): "'\(comparison.rawValue)'"
        case .open: "'('"
        case .close: "')'"
        case .end: "the end"
        }
    }

    /// The pieces of a text, of which the last is its end.
    static func all(of text: String) throws(FilterError) -> [FilterToken] {
        let characters = Array(text)
        var tokens: [FilterToken] = []
        var at = 0
        while at < characters.count {
            let begin = at
            let kind: Kind
            switch characters[at] {
            case let space where space.isWhitespace:
                at += 1
                continue
            case "(":
                kind = .open
                at += 1
            case ")":
                kind = .close
                at += 1
            case "'", "\"":
                kind = .quoted(try quoted(characters, from: &at, text))
            case _:
                if let comparison = comparison(characters, at) {
                    kind = .comparison(comparison)
                    at += comparison.rawValue.count
                } else {
                    while at < characters.count, !ends(characters, at) { at += 1 }
                    kind = .word(String(characters[begin..<at]))
                }
            }
            tokens.append(FilterToken(kind: kind, position: begin))
        }
        return tokens + [FilterToken(kind: .end, position: characters.count)]
    }

    /// Whether a word ends before this character.
    private static func ends(_ characters: [Character], _ at: Int) -> Bool {
        let character = characters[at]
        return character.isWhitespace || character == "(" || character == ")" || comparison(characters, at) != nil
    }

    /// The longest comparison that begins here.
    private static func comparison(_ characters: [Character], _ at: Int) -> FilterComparison? {
        let two = FilterComparison(rawValue: String(characters[at..<min(at + 2, characters.count)]))
        return two ?? FilterComparison(rawValue: String(characters[at]))
    }

    private static func quoted(
        _ characters: [Character], from at: inout Int, _ text: String
    ) throws(FilterError) -> String {
        let begin = at
        let quote = characters[at]
        var result = ""
        at += 1
        while at < characters.count {
            var character = characters[at]
            at += 1
            if character == quote { return result }
            if character == "\\", at < characters.count {
                character = characters[at]
                at += 1
            }
            result.append(character)
        }
        throw FilterError(position: begin, message: "a text without its closing \(quote)", text: text)
    }
}
