import ArgumentParser
import IsletClient

/// The group that a subcommand is about, and the app that asks.
struct GroupTarget: ParsableArguments {
    @Argument(help: ArgumentHelp("The group, such as group.com.example.", valueName: "group"))
    var group: String

    @OptionGroup var app: AppOption

    /// The command about the group, but for the app that asks.
    func command(_ op: String) -> Command {
        Command(op, ["group": .string(group)])
    }

    /// Sends a command about it in the name of the app.
    func send(_ command: Command, _ connection: IsletConnection) async throws -> Answer {
        var command = command
        command["app"] = .string(try await app.required(connection))
        return try await connection.send(command)
    }

    /// Sends a change and tells what became of it.
    ///
    /// - Parameters:
    ///   - done: what was done.
    ///   - name: to what.
    func change(
        _ command: Command, done: String, name: String, _ output: OutputOptions, _ service: ServiceOptions
    ) async throws {
        try await service.withConnection { connection in
            try await Report.change(
                send(command, connection), done: done, name: name, output: output, now: connection.now)
        }
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
