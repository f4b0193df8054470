import ArgumentParser
import IsletServer

/// A word where a subcommand should stand. The argument parser only says that it did not expect it.
struct UnknownSubcommand {
    /// The subcommands before it, such as `islet activity`.
    let path: String
    let word: String
    /// What may be meant.
    let suggestion: String?

    /// The first such word of a command line; nil where there is none.
    init?(_ words: [String], of root: any ParsableCommand.Type) {
        var command = root
        var path = [root._commandName]
        // `help NAME` is another way to write `NAME --help`.
        for word in words.first == "help" ? words.dropFirst() : words[...] {
            let names = command.configuration.subcommands.map { $0._commandName }
            guard !names.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = command.configuration.subcommands.first(where: { Self.isName(word, of: $0) }) else {
                self.path = path.joined(separator: " ")
                self.word = word
                let other = Self.others[word.lowercased()]?.first(where: names.contains)
                suggestion = other ?? Self.within(command, word) ?? Spelling.closest(to: word, among: names)
                return
            }
            path.append(word)
            command = next
        }
        return nil
    }

    private static func isName(_ word: String, of command: any ParsableCommand.Type) -> Bool {
        word == command._commandName || command.configuration.aliases.contains(word)
    }

    /// The first subcommand that has one of this name, such as `activity list` for `list`.
    private static func within(_ command: any ParsableCommand.Type, _ word: String) -> String? {
        let families = command.configuration.subcommands.filter { family in
            family.configuration.subcommands.contains { isName(word, of: $0) }
        }
        let first = families.first { $0 == ActivityCommand.self } ?? families.first
        return first.map { "\($0._commandName) \(word)" }
    }

    /// What the same is called elsewhere.
    private static let others = [
        "ls": ["list"], "ps": ["list", "top"], "rule": ["rules"], "rm": ["remove", "delete", "dismiss"],
        "delete": ["remove", "dismiss", "end"], "remove": ["dismiss", "delete"], "stop": ["end"],
        "create": ["start", "add"], "new": ["start", "add"], "add": ["start", "create"], "show": ["get", "info"],
        "describe": ["get", "explain"], "why": ["explain"], "log": ["history", "tail"], "logs": ["history", "tail"],
        "watch": ["tail"], "events": ["tail", "history"], "follow": ["tail"], "completion": ["completions"],
        "status": ["stats", "get"], "version": ["info"], "run": ["serve"], "server": ["serve"], "push": ["update"],
        "select": ["use"], "switch": ["use"], "set-context": ["use"], "press": ["tap"], "health": ["check"],
    ]

    /// What is told of it.
    var text: String {
        let meant = suggestion.map { "; did you mean \($0)?" } ?? ""
        return "\(path) has no subcommand '\(word)'\(meant)\n  See '\(path) --help'."
    }
}
