import Synchronization

/// The context that this run of the command is in: the one of `--context`, else of ISLET_CONTEXT, else the one in use.
///
/// Options of one subcommand stand in several groups, which do not know of each other, and all ask for it: so it is the
/// process's, chosen once when the arguments have been read.
enum ChosenContext {
    private struct Choice {
        let context: ContextBook.Context
        /// Whether `--context` names it: then it stands over the environment, as every option does.
        let isOption: Bool
    }

    private static let chosen = Mutex<Choice?>(nil)

    /// Chooses it.
    ///
    /// - Parameter named: what `--context` says.
    /// - Throws: a `Failure` where there is none of that name, or the file cannot be read.
    static func choose(named: String?) throws {
        let wanted = named ?? environment("ISLET_CONTEXT")
        guard wanted != ContextBook.none else { return chosen.withLock { $0 = nil } }
        let book = try ContextFile.load()
        guard let name = wanted ?? book.current else { return }
        guard let context = book[name] else { throw unknown(name, in: book) }
        chosen.withLock { $0 = Choice(context: context, isOption: named != nil) }
    }

    /// What the context says; nil where there is no context, or it says nothing.
    static subscript(setting: ContextBook.Setting) -> String? {
        chosen.withLock { $0?.context[setting] }
    }

    /// Whether an option names it.
    static var isOption: Bool { chosen.withLock { $0?.isOption ?? false } }

    /// The first that says something: a context that an option names, the environment, any other context.
    ///
    /// - Parameter name: of the environment's variable.
    static func value(of setting: ContextBook.Setting, orEnvironment name: String) -> String? {
        guard let choice = chosen.withLock({ $0 }) else { return environment(name) }
        let said = choice.context[setting]
        return choice.isOption ? said ?? environment(name) : environment(name) ?? said
    }

    /// That there is no context of a name, with the one that may be meant.
    static func unknown(_ name: String, in book: ContextBook) -> Failure {
        let names = book.contexts.map(\.name)
        let hint = Suggestion.text(for: name, among: names)
        let known = names.isEmpty ? "; there is none yet (islet context add)" : " (islet context list)"
        return Failure(.usage, "there is no context '\(name)'\(hint)\(known)")
    }
}
