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

        @Argument(help: ArgumentHelp("The kind, as its provider has declared it.", valueName: "kind"))
        var kind: String

        @Option(help: ArgumentHelp("Its parameters: a JSON object, or @file.", valueName: "json"))
        var configuration: String?

        @Option(help: ArgumentHelp("The device that shows it.", valueName: "device"))
        var device: String?

        @Option(help: ArgumentHelp("A UUID of your own as its id.", valueName: "uuid"))
        var id: String?

        @OptionGroup var app: ControlAppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = Command("control.add", app: app.app, ["kind": .string(kind)])
            command["configuration"] = try configuration.map { try Payload.read($0, option: "--configuration") }
            command["device"] = device.map(RawJSON.string)
            command["id"] = id.map(RawJSON.string)
            try await service.withConnection { connection in
                let answer = try await ControlKindName.send(command, kind: kind, app: app.app, connection)
                let id = answer["control"]?.object?["id"]?.string ?? ""
                try await Report.change(
                    answer, done: "added", name: ControlText.name(kind: kind, id: id), output: output,
                    now: connection.now)
                guard !output.json else { return }
                Console.data("id \(id)")
                suggest(ControlText.name(kind: kind, id: id))
            }
        }

        /// The next commands worth trying, as they can be typed here.
        private func suggest(_ name: String) {
            var rest = app.named.map { " --app \($0)" } ?? ""
            if let url = service.commands { rest += " --commands \(url)" }
            let islet = Invocation.name
            Console.message(
                """

                Next you might try:
                  \(islet) control get \(name)\(rest)
                  \(islet) control tap \(name) --wait\(rest)
                  \(islet) control explain \(name)\(rest)
                """)
        }
    }

    /// `islet control configure`.
    struct Configure: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give it other parameters; its value is asked for anew.",
            discussion: """
                EXAMPLES:
                  islet control configure Thermostat --configuration '{"room":"office"}'
                """)

        @OptionGroup var target: ControlTarget

        @Option(help: ArgumentHelp("Its parameters: a JSON object, or @file.", valueName: "json"))
        var configuration: String

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let parameters = try Payload.read(configuration, option: "--configuration")
            try await service.withConnection { connection in
                var command = try await target.command("control.configure", connection)
                command["configuration"] = parameters
                let answer = try await connection.send(command)
                try await Report.change(
                    answer, done: "configured", name: target.target, output: output, now: connection.now)
            }
        }
    }

    /// `islet control remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take it away.",
            discussion: """
                EXAMPLES:
                  islet control remove Torch
                """)

        @OptionGroup var target: ControlTarget
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("control.remove", connection))
                try await Report.change(
                    answer, done: "removed", name: target.target, output: output, now: connection.now)
            }
        }
    }
}
