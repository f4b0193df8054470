import ArgumentParser
import IsletClient

/// `islet settings …`: a person's switches.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show and set a person's switches for an app.",
        discussion: """
            EXAMPLES:
              islet settings get
              islet settings set --activities off --device phone-1
              islet settings set --activities on
            """,
        subcommands: [Get.self, Set.self])

    /// Whose settings.
    struct Address: ParsableArguments {
        @OptionGroup var app: AppOption

        @Option(help: ArgumentHelp("Of this device; without one: for all.", valueName: "device"))
        var device: String?

        func command(_ op: String, _ connection: IsletConnection) async throws -> Command {
            var command = Command(op, app: try await app.required(connection))
            command["device"] = device.map(RawJSON.string)
            return command
        }
    }

    /// `islet settings get`.
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the switches.",
            discussion: """
                EXAMPLES:
                  islet settings get
                  islet settings get --device phone-1 --json
                """)

        @OptionGroup var address: Address
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let command = try await address.command("settings.get", connection)
                try SettingsCommand.show(await connection.send(command), output)
            }
        }
    }

    /// `islet settings set`.
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set one or both switches; activities that may not go on are dismissed.",
            discussion: """
                EXAMPLES:
                  islet settings set --activities off --device phone-1
                  islet settings set --activities on --frequent-pushes off
                """)

        @Option(help: ArgumentHelp("Live Activities: on or off.", valueName: "on|off"))
        var activities: Switch?

        @Option(help: ArgumentHelp("Frequent updates: on or off. A change ends what runs.", valueName: "on|off"))
        var frequentPushes: Switch?

        @OptionGroup var address: Address
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard activities != nil || frequentPushes != nil else {
                throw ValidationError("name --activities or --frequent-pushes")
            }
        }

        func run() async throws {
            try await service.withConnection { connection in
                var command = try await address.command("settings.set", connection)
                if let activities { command["activitiesEnabled"] = .bool(activities == .on) }
                if let frequentPushes { command["frequentPushesEnabled"] = .bool(frequentPushes == .on) }
                try SettingsCommand.show(await connection.send(command), output, of: "set")
            }
        }
    }

    /// A switch.
    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    private static func show(_ answer: Answer, _ output: OutputOptions, of change: String? = nil) throws {
        guard let settings = answer["settings"]?.object else { throw IsletError.unreadable("no settings") }
        if output.json { return Console.data(settings.json.bytes, of: change) }
        for member in settings.members {
            Console.data(member.name.padded(to: 24) + (member.value.bool == true ? "on" : "off"), of: change)
        }
    }
}
