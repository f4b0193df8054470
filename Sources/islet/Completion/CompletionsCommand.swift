import ArgumentParser

/// `islet completions SHELL`.
struct CompletionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print what makes a shell complete this command.",
        discussion: """
            EXAMPLES:
              islet completions bash > ~/.local/share/bash-completion/completions/islet
              islet completions zsh > ~/.zfunc/_islet          with ~/.zfunc in fpath
              islet completions fish > ~/.config/fish/completions/islet.fish
              source <(islet completions bash)                 only in this shell

            Names come from the service that the line names so far, or that the
            environment or the context does; it has 300 ms to answer.
            """)

    /// The shells that there are scripts for.
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish

        var shell: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"))
    var shell: Shell

    func run() async throws {
        Console.text(IsletCommand.completionScript(for: shell.shell) + "\n")
    }
}
