import ArgumentParser
import IsletClient

extension WidgetCommand {
    /// `islet widget list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the widgets that are placed.",
            discussion: """
                EXAMPLES:
                  islet widget list
                  islet widget list --kind Weather --device phone-1
                  islet widget list --filter 'next<10m and family~*Small' -o wide
                  islet widget list --json | jq .entry
                """)

        @Option(
            help: ArgumentHelp(
                "Only these: loading, placeholder, shown, reloading or acting.", valueName: "state"))
        var state: String?

        @Option(
            help: ArgumentHelp("Only of this kind.", valueName: "kind"),
            completion: .custom(Completions.kinds(of: Widgets.self)))
        var kind: String?

        @Option(help: ArgumentHelp("Only of this family, such as systemSmall.", valueName: "family"))
        var family: String?

        @Option(
            help: ArgumentHelp("Only of this device.", valueName: "device"), completion: .custom(Completions.devices))
        var device: String?

        @OptionGroup var filter: FilterOption<Widgets>
        @OptionGroup var limit: LimitOption
        @OptionGroup var app: FamilyApp<Widgets>
        @OptionGroup var allApps: AllAppsOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let list = EntityList(
                app: app, allApps: allApps, limit: limit, filter: filter.filter, output: output, service: service)
            try await list.write(["state": state, "kind": kind, "family": family, "device": device])
        }
    }

    /// `islet widget add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Place a widget of a kind.",
            discussion: """
                EXAMPLES:
                  islet widget add Flight --family systemSmall --device phone-1
                  islet widget add Weather --family systemMedium \\
                      --configuration '{"city":"paris"}' --rendering '{"mode":"accented"}'
                """)

        @OptionGroup var placing: PlacingOptions<Widgets>

        @Option(help: ArgumentHelp("Its size and place, one of the kind's, such as systemSmall.", valueName: "family"))
        var family: String

        @Option(help: ArgumentHelp("How it is drawn: a JSON object, or @file.", valueName: "json"))
        var rendering: String?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var fields: RawObject = ["family": .string(family)]
            fields["rendering"] = try rendering.map { try Payload.read($0, option: "--rendering") }
            let next = ["timeline", "budget", "explain"].map { (verb: $0, options: "") }
            try await placing.place(fields, next: next, output, service)
        }
    }

    /// `islet widget configure`.
    struct Configure: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a widget other parameters, so that its timeline is asked for anew; or draw it in another way.",
            discussion: """
                EXAMPLES:
                  islet widget configure Weather --configuration '{"city":"berlin"}'
                  islet widget configure Weather --rendering '{"mode":"vibrant"}'
                """)

        @OptionGroup var target: PlacedTarget<Widgets>

        @Option(help: ArgumentHelp("Its parameters: a JSON object, or @file.", valueName: "json"))
        var configuration: String?

        @Option(help: ArgumentHelp("How it is drawn: a JSON object, or @file.", valueName: "json"))
        var rendering: String?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard configuration != nil || rendering != nil else {
                throw ValidationError("name --configuration, --rendering or both")
            }
        }

        func run() async throws {
            let parameters = try configuration.map { try Payload.read($0, option: "--configuration") }
            let drawing = try rendering.map { try Payload.read($0, option: "--rendering") }
            try await service.withConnection { connection in
                var command = try await target.command("configure", connection)
                command["configuration"] = parameters
                command["rendering"] = drawing
                let answer = try await connection.send(command)
                try await Report.change(
                    answer, done: "configured", name: target.target, output: output, now: connection.now)
            }
        }
    }
}
