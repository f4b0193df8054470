import ArgumentParser
import IsletClient

/// An option that has one value and was given more than once. The argument parser takes the last one and says nothing,
/// so that of two filters only one would hold.
enum RepeatedOption {
    /// What is told of the first one; nil where there is none.
    ///
    /// - Parameters:
    ///   - words: the command line, without the command's own name.
    ///   - command: the subcommand that they were read for.
    static func text(_ words: [String], of command: any ParsableCommand.Type) -> String? {
        let words = words.prefix { $0 != "--" }
        let dashed = words.filter { $0.hasPrefix("-") }.map(name)
        // What the options are is only looked up where it may matter.
        guard Set(dashed).count < dashed.count || dashed.contains(where: { !$0.hasPrefix("--") }) else { return nil }
        let options = options(of: command)
        let given = given(words, options)
        for option in options where !option.isRepeating {
            let found = given.filter(option.names.contains)
            guard found.count > 1 else { continue }
            let spelled = Set(found).sorted().joined(separator: " or ")
            return "Error: \(spelled) is given \(found.count) times, and has one value: only the last would count"
        }
        return nil
    }

    /// An option that has a value.
    private struct Option {
        /// With their dashes.
        let names: [String]
        let isRepeating: Bool
    }

    /// A word without the value that may stand in it behind `=`.
    private static func name(_ word: String) -> String { String(word.prefix { $0 != "=" }) }

    /// The names of the options that are given; the word behind one that has a value is that, also with a dash.
    private static func given(_ words: ArraySlice<String>, _ options: [Option]) -> [String] {
        var given: [String] = []
        var isValue = false
        for word in words {
            let name = name(word)
            if isValue {
                isValue = false
            } else if word.hasPrefix("-") {
                given.append(name)
                isValue = name == word && options.contains { $0.names.contains(name) }
            }
        }
        return given
    }

    /// The options of a subcommand that have values.
    private static func options(of command: any ParsableCommand.Type) -> [Option] {
        let described = RawJSON(command._dumpHelp())?.object?["command"]?.object?["arguments"]?.elements ?? []
        return described.compactMap(\.object).compactMap { argument in
            guard argument["kind"]?.string == "option" else { return nil }
            let names = argument["names"]?.elements?.compactMap(\.object).compactMap { name in
                name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 }
            }
            return Option(names: names ?? [], isRepeating: argument["isRepeating"]?.bool == true)
        }
    }
}
