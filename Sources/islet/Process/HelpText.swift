/// The parser's help and its usage in errors, which it does not wrap.
enum HelpText {
    /// What a line may have.
    private static let columnsMax = 80
    private static let heads = ["USAGE: ", "Usage: "]

    /// The text, in which a usage that is too long for a line names the options as the parser does where there are very
    /// many: `islet group set [<options>] <group> <key> <json>`.
    static func fitted(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return lines.map { line in
            guard line.count > columnsMax, heads.contains(where: line.hasPrefix) else { return line }
            return shortened(line)
        }.joined(separator: "\n")
    }

    /// Without the options that may be left out.
    private static func shortened(_ usage: String) -> String {
        var kept: [String] = []
        var place: Int?
        var depth = 0
        var group = ""
        for word in usage.split(separator: " ") {
            group += (group.isEmpty ? "" : " ") + word
            depth += word.count { $0 == "[" || $0 == "<" } - word.count { $0 == "]" || $0 == ">" }
            guard depth == 0 else { continue }
            if group.hasPrefix("[-") || group == "[<options>]" {
                place = place ?? kept.count
            } else {
                kept.append(group)
            }
            group = ""
        }
        // Options come before what they leave: behind the words of the command.
        if place != nil {
            let words = kept.prefix { !$0.hasPrefix("<") && !$0.hasPrefix("[") && !$0.hasPrefix("-") }.count
            kept.insert("[<options>]", at: words)
        }
        return kept.joined(separator: " ")
    }
}
