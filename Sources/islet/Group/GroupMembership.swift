import ArgumentParser
import IsletClient

extension GroupCommand {
    /// `islet group create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a group, which the app then owns.",
            discussion: """
                EXAMPLES:
                  islet group create group.com.example
                  islet group create group.com.example --member com.example.watch --member com.example.widgets
                """)

        @OptionGroup var target: GroupTarget

        @Option(name: .customLong("member"), help: ArgumentHelp("An app that is a member too.", valueName: "bundle id"))
        var members: [String] = []

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("group.create")
            if !members.isEmpty { command["members"] = .array(members.map(RawJSON.string)) }
            try await target.change(command, done: "created", name: target.group, output, service)
        }
    }

    /// `islet group admit`.
    struct Admit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let another app be a member.",
            discussion: """
                EXAMPLES:
                  islet group admit group.com.example com.example.watch
                """)

        @OptionGroup var target: GroupTarget

        @Argument(help: ArgumentHelp("The app that becomes a member.", valueName: "bundle id"))
        var member: String

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("group.admit")
            command["member"] = .string(member)
            try await target.change(command, done: "admitted \(member) to", name: target.group, output, service)
        }
    }

    /// `islet group leave`.
    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Be no member any more; its owner stays.",
            discussion: """
                EXAMPLES:
                  islet group leave group.com.example --app com.example.watch
                """)

        @OptionGroup var target: GroupTarget
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let app = try await target.app.required(connection)
                try await Report.change(
                    target.send(target.command("group.leave"), connection), done: "\(app) left", name: target.group,
                    output: output, now: connection.now)
            }
        }
    }

    /// `islet group info`.
    struct Info: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a group's owner, its members and its size.",
            discussion: """
                EXAMPLES:
                  islet group info group.com.example
                """)

        @OptionGroup var target: GroupTarget
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await target.send(target.command("group.info"), connection)
                guard let group = answer["group"]?.object else {
                    throw IsletError.unreadable("no group")
                }
                if output.json { return Console.data(group.json.bytes) }
                for line in GroupText.lines(group, style: .output) { Console.data(line) }
            }
        }
    }
}
