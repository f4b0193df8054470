import ArgumentParser
import Glibc

/// The process: reads the arguments, runs the subcommand, and ends with the documented exit code.
@main
enum Main {
    static func main() async {
        do {
            var command = try await IsletCommand.asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(with: error)
        }
    }

    private static func end(with error: any Error) -> Never {
        if let failure = Failure(error) {
            Console.message(failure.text)
            exit(failure.code.rawValue)
        }
        // What is left is the parser's: help and versions, which are no errors, and wrong usage.
        let isUsage = IsletCommand.exitCode(for: error) == .validationFailure
        let text = IsletCommand.fullMessage(for: error)
        guard isUsage else { IsletCommand.exit(withError: error) }
        let unknown = UnknownSubcommand(Array(CommandLine.arguments.dropFirst()), of: IsletCommand.self)
        Console.message(unknown?.text ?? text)
        // To a monitoring system 2 means that the service is ill; that nothing could be judged is 3.
        let isCheck = CommandLine.arguments.dropFirst().first == Check.name
        exit(isCheck ? CheckStatus.unknown.rawValue : Outcome.usage.rawValue)
    }
}
