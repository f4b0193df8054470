import ArgumentParser
import IsletClient

extension ControlCommand {
    /// `islet control add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Place a control of a kind.",
            discussion: """
                EXAMPLES:
                  islet control add Torch
                  islet control add Thermostat --configuration '{"room":"kitchen"}' \\
                      --device phone-1
                """)

        @OptionGroup var placing: PlacingOptions<Controls>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await placing.place(next: [("get", ""), ("tap", " --wait"), ("explain", "")], output, service)
        }
    }

    /// `islet control configure`.
    struct Configure: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a control other parameters; its value is asked for anew.",
            discussion: """
                EXAMPLES:
                  islet control configure Thermostat --configuration '{"room":"office"}'
                """)

        @OptionGroup var target: PlacedTarget<Controls>

        @Option(help: ArgumentHelp("Its parameters: a JSON object, or @file.", valueName: "json"))
        var configuration: String

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let parameters = try Payload.read(configuration, option: "--configuration")
            try await service.withConnection { connection in
                var command = try await target.command("configure", connection)
                command["configuration"] = parameters
                let answer = try await connection.send(command)
                try await Report.change(
                    answer, done: "configured", name: target.target, output: output, now: connection.now)
            }
        }
    }
}
