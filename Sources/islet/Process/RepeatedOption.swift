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
        let given = words.prefix { $0 != "--" }.filter { $0.hasPrefix("-") }.map { word in
            word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : word
        }
        // What the options are is only looked up where it may matter.
        guard Set(given).count < given.count || given.contains(where: { !$0.hasPrefix("--") }) else { return nil }
        for names in optionsOfOneValue(of: command) {
            let found = given.filter(names.contains)
            guard found.count > 1 else { continue }
            let spelled = Set(found).sorted().joined(separator: " or ")
            return "Error: \(spelled) is given \(found.count) times, and has one value: only the last would count"
        }
        return nil
    }

    /// The names of each option of a subcommand, with their dashes.
    private static func optionsOfOneValue(of command: any ParsableCommand.Type) -> [[String]] {
        let described = RawJSON(command._dumpHelp())?.object?["command"]?.object?["arguments"]?.elements ?? []
        return described.compactMap(\.object).compactMap { argument in
            guard argument["kind"]?.string == "option", argument["isRepeating"]?.bool != true else { return nil }
            return argument["names"]?.elements?.compactMap(\.object).compactMap { name in
                name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 }
            }
        }
    }
}
