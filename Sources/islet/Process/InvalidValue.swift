import IsletFilter

/// A value that the argument parser has found invalid. The parser only says so; how such a value is written is told
/// here.
enum InvalidValue {
    /// The parser's message, and behind its first sentence the forms that are valid, where they are known by what the
    /// usage calls the value.
    ///
    /// - Parameter words: the command line, without the command's own name.
    static func explained(_ message: String, _ words: [String]) -> String {
        if let dashed = timeWithDash(words), message.hasPrefix("Error: Unknown option '-"),
            let end = message.firstIndex(of: "\n")
        {
            return "Error: " + dashed + message[end...]
        }
        guard message.hasPrefix(begin) || message.hasPrefix("Error: " + begin),
            let sentence = message.firstRange(of: begin),
            let middle = message[sentence.upperBound...].firstRange(of: "' is invalid for '"),
            let end = message[middle.upperBound...].firstRange(of: ">'")
        else { return message }
        let value = String(message[sentence.upperBound..<middle.lowerBound])
        let kind = message[middle.upperBound..<end.lowerBound].split(separator: "<").last.map(String.init) ?? ""
        // The parser took it for options, and the word behind it for the value.
        if kind == "time", let dashed = timeWithDash(words) {
            return message[..<sentence.lowerBound] + dashed + message[end.upperBound...]
        }
        guard let form = form(of: kind, value) else { return message }
        return message[..<end.upperBound] + ": " + form + message[end.upperBound...]
    }

    private static let begin = "The value '"

    /// What is told of a time that was written as `-10m`, where an option may stand; nil where there is none.
    private static func timeWithDash(_ words: [String]) -> String? {
        let dashed = words.prefix { $0 != "--" }.first { $0.hasPrefix("-") && PastPoint(argument: $0) != nil }
        return dashed.map { "'\($0)' begins with a dash, as options do: write \($0.dropFirst()), or -- before it" }
    }

    /// How a value of a kind is written; nil where the help says it.
    private static func form(of kind: String, _ value: String) -> String? {
        switch kind {
        case "span":
            let isNumber = !value.isEmpty && value.allSatisfy { $0.isASCII && $0.isNumber }
            return isNumber
                ? "a length of time has its unit, as in \(value)s, \(value)m or \(value)ms"
                : "a length of time is written as 250ms, 30s, 10m, 8h, 1d or 1h30m"
        case "date": return Moment.meant(by: value) ?? "it is \(Moment.forms)"
        case "span|date":
            let forms = "a length of time ago such as 10m, or a date such as 2026-01-31 or 2026-01-31T09:00Z"
            return Moment.meant(by: value) ?? "it is \(forms)"
        case "condition": return WaitCondition.forms
        case _: return nil
        }
    }
}
