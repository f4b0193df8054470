import Synchronization

/// The context that this run of the command is in: the one of `--context`, else of ISLET_CONTEXT, else the one in use.
///
/// Options of one subcommand stand in several groups, which do not know of each other, and all ask for it: so it is the
/// process's, chosen once when the arguments have been read.
enum ChosenContext {
    private static let chosen = Mutex<(name: String, context: ContextBook.Context)?>(nil)

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
        chosen.withLock { $0 = (name, context) }
    }

    /// What the context says; nil where there is no context, or it says nothing.
    static subscript(setting: ContextBook.Setting) -> String? {
        chosen.withLock { $0?.context[setting] }
    }

    /// How it is called; nil where there is none.
    static var name: String? { chosen.withLock { $0?.name } }

    /// That there is no context of a name, with the one that may be meant.
    static func unknown(_ name: String, in book: ContextBook) -> Failure {
        let names = book.contexts.map(\.name)
        let hint = Suggestion.text(for: name, among: names)
        let known = names.isEmpty ? "; there is none yet (islet context add)" : " (islet context list)"
        return Failure(.usage, "there is no context '\(name)'\(hint)\(known)")
    }
}
