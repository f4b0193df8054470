import ArgumentParser
import Glibc

/// The process: reads the arguments, runs the subcommand, and ends with the documented exit code.
@main
enum Main {
    /// The command line, without the command's own name.
    private static let words = LeadingOptions.moved(Array(CommandLine.arguments.dropFirst()))

    static func main() async {
        do {
            var command = try await IsletCommand.asyncParseAsRoot(words)
            if let text = RepeatedOption.text(words, of: type(of: command)) {
                Console.message(text)
                exit(code(of: .usage))
            }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(with: error)
        }
    }

    /// The exit code of an outcome that is not good.
    ///
    /// To a monitoring system 1 and 2 mean that the service is ill; that nothing could be judged is 3.
    static func code(of outcome: Outcome) -> Int32 {
        isCheck ? CheckStatus.unknown.rawValue : outcome.rawValue
    }

    private static var isCheck: Bool { words.first == Check.name || words.first == Problems.name }

    private static func end(with error: any Error) -> Never {
        if let failure = Failure(error) {
            Console.message(failure.text)
            exit(failure.code.rawValue)
        }
        // What is left is the parser's: help and versions, which are no errors, and wrong usage.
        let code = IsletCommand.exitCode(for: error)
        let text = IsletCommand.fullMessage(for: error)
        let unknown = UnknownSubcommand(words, of: IsletCommand.self)
        // Help on a subcommand that there is not would be the help on another one.
        if code == .validationFailure || code.isSuccess && unknown != nil {
            Console.message(unknown?.text ?? HelpText.fitted(InvalidValue.explained(text, words)))
            exit(Self.code(of: .usage))
        }
        if code.isSuccess {
            Console.text(text.isEmpty ? "" : HelpText.fitted(text) + "\n")
            exit(code.rawValue)
        }
        IsletCommand.exit(withError: error)
    }
}
