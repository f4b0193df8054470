/// Options about the service may stand before the subcommand as well, as in `islet --context staging info`. The argument
/// parser knows them only behind it.
enum LeadingOptions {
    private static let names: Set = ["--bulk", "--commands", "--context", "--events", "--timeout"]

    /// The words of a command line with such options at the end, or before `--`. Where no subcommand follows, as they are.
    static func moved(_ words: [String]) -> [String] {
        var rest = words[...]
        var options: [String] = []
        while let word = rest.first, names.contains(String(word.prefix { $0 != "=" })) {
            let count = word.contains("=") ? 1 : 2
            options += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        guard !options.isEmpty, let first = rest.first, !first.hasPrefix("-") else { return words }
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return rest[..<end] + options + rest[end...]
    }
}
