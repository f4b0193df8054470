import IsletClient
import IsletProtocol

/// Text of users on its way to a terminal.
extension String {
    /// The text with everything made visible that a terminal would obey: control characters (C0, DEL, C1), characters
    /// that turn the direction of writing or show nothing, and line ends. What is plain stays as it is.
    ///
    /// Every text that comes from outside passes through this before a terminal gets it.
    package var printable: String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
        var result = String.UnicodeScalarView()
        var marks = 0
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark:
                marks += 1
                if marks <= Self.marksMax { result.append(scalar) }
                continue
            case .control:
                result.append(Self.picture(of: scalar))
            case _:
                result.append(scalar.isPrintable ? scalar : Self.replacement)
            }
            marks = 0
        }
        return String(result)
    }

    /// As `printable`, of a whole line.
    ///
    /// - Parameter keepsInk: whether this command's own codes for colours stay; a line that has any ends in plain ink.
    package func printable(keepsInk: Bool) -> String {
        guard keepsInk, unicodeScalars.contains(Self.escape) else { return printable }
        var parts = unicodeScalars.split(separator: Self.escape, omittingEmptySubsequences: false)[...]
        var result = parts.popFirst().map { String($0).printable } ?? ""
        var isInked = false
        for part in parts {
            guard let end = Self.endOfInk(part) else {
                result += "\u{241B}" + String(part).printable
                continue
            }
            let code = String(part[..<end])
            isInked = code != Self.plainInk
            result += "\u{1B}\(code)" + String(part[end...]).printable
        }
        return isInked ? result + "\u{1B}\(Self.plainInk)" : result
    }

    private static let escape: Unicode.Scalar = "\u{1B}"
    /// What switches all colours off, after the escape character.
    private static let plainInk = "[0m"
    /// All codes that `Style` and `Ink` make.
    private static let inks: Set = ["0", "1", "2", "7", "31", "32", "33", "35", "36", "90"]

    /// Where a code for colours ends with which a text begins, after the escape character; nil: it begins with none.
    private static func endOfInk(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView.Index? {
        guard text.first == "[", let end = text.prefix(12).firstIndex(of: "m") else { return nil }
        let inner = text[text.index(after: text.startIndex)..<end]
        let codes = inner.split(separator: ";", omittingEmptySubsequences: false)
        return codes.allSatisfy { inks.contains(String($0)) } ? text.index(after: end) : nil
    }

    /// More marks than this over one character are left out.
    private static let marksMax = 4
    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    /// Unicode's pictures of the control characters, which take one column each.
    private static func picture(of control: Unicode.Scalar) -> Unicode.Scalar {
        switch control.value {
        case 0..<0x20: Unicode.Scalar(0x2400 + control.value) ?? replacement
        case 0x7F: "\u{2421}"
        case _: replacement
        }
    }
}

extension [UInt8] {
    /// JSON that means the same, in which no character is left that a terminal would obey or that turns the direction of
    /// writing: C0 is escaped in all JSON, the others need not be.
    package var escapedForTerminal: [UInt8] {
        if allSatisfy({ $0 < 0x7F }) { return self }
        var result = String.UnicodeScalarView()
        for scalar in String(decoding: self, as: UTF8.self).unicodeScalars {
            guard scalar.value >= 0x7F, scalar.isObeyed else {
                result.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
            }
        }
        return Array(String(result).utf8)
    }

    /// JSON that means the same, without the line ends that users' content has between its parts: spaces are in their
    /// place. None is in a string, where JSON asks for an escape.
    package var onOneLine: [UInt8] {
        contains(where: Self.isLineEnd) ? map { Self.isLineEnd($0) ? UInt8(ascii: " ") : $0 } : self
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
}

extension Unicode.Scalar {
    /// Whether a terminal does something else with it than to show it, or nothing.
    fileprivate var isObeyed: Bool { !isPrintable && properties.generalCategory != .unassigned }
}

extension RawJSON {
    /// A value for a person: a text as it is, anything else as JSON; printable.
    var text: String { (string ?? description).printable }
}
