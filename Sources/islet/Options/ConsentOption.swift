import ArgumentParser
import Glibc

/// Whether what cannot be taken back may be done without asking.
struct ConsentOption: ParsableArguments {
    @Flag(name: [.customShort("y"), .customLong("yes")], help: "Do it without asking.")
    var isGiven = false

    /// Asks the person.
    ///
    /// - Parameter what: such as `end 12 activities`.
    /// - Throws: a `Failure` where the person does not want it, or there is nobody to ask.
    func require(_ what: String) throws {
        if isGiven { return }
        guard Self.isSomebodyThere else {
            throw Failure(
                .usage, "to \(what) needs --yes, since nobody can be asked: there is no terminal; nothing was changed")
        }
        try ask(what)
    }

    /// As `require`, but where there is nobody to ask it goes on: for what a script may do without harm.
    func requireOfPerson(_ what: String) throws {
        if !isGiven, Self.isSomebodyThere { try ask(what) }
    }

    private func ask(_ what: String) throws {
        Console.prompt("\(what.printable)? [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else { throw Failure(.failure, "nothing was changed") }
    }

    private static var isSomebodyThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}
