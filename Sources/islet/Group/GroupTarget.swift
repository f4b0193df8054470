import ArgumentParser
import IsletClient

/// The group that a subcommand is about, and the app that asks.
struct GroupTarget: ParsableArguments {
    @Argument(help: ArgumentHelp("The group, such as group.com.example.", valueName: "group"))
    var group: String

    @OptionGroup var app: AppOption

    func command(_ op: String) -> Command {
        Command(op, app: app.app, ["group": .string(group)])
    }
}

/// The key of a group that a subcommand is about.
struct GroupKeyTarget: ParsableArguments {
    @OptionGroup var group: GroupTarget

    @Argument(help: ArgumentHelp("The key.", valueName: "key"))
    var key: String

    func command(_ op: String) -> Command {
        var command = group.command(op)
        command["key"] = .string(key)
        return command
    }

    /// What a person calls it, such as `group.com.example/last-city`.
    var name: String { "\(group.group)/\(key)" }
}

/// The guard of a change.
struct RevisionOption: ParsableArguments {
    @Option(help: ArgumentHelp("Only where the key has this revision; 0: where it is not there.", valueName: "number"))
    var ifRevision: UInt64?

    var json: RawJSON? { ifRevision.map { .integer(Int64(clamping: $0)) } }
}

extension ServiceOptions {
    /// Sends a change and tells what became of it.
    func change(_ command: Command, done: String, name: String, _ output: OutputOptions) async throws {
        try await withConnection { connection in
            try await Report.change(
                connection.send(command), done: done, name: name, output: output, now: connection.now)
        }
    }
}
