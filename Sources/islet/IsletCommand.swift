import ArgumentParser

@main
struct IsletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "islet", abstract: "The server-side truth for Live Activities.", subcommands: [Serve.self])
}
