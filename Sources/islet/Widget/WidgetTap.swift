import ArgumentParser
import IsletClient

extension WidgetCommand {
    /// `islet widget tap`.
    struct Tap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tap a widget: all of it, a link in it, or a button.",
            discussion: """
                EXAMPLES:
                  islet widget tap Flight
                  islet widget tap Weather --link tomorrow
                  islet widget tap Flight --action checkIn --parameters '{"seat":"12A"}'
                  islet widget tap Flight --action checkIn --wait    exit code 1 where it failed
                """)

        @OptionGroup var target: PlacedTarget<Widgets>

        @Option(help: ArgumentHelp("The link of the current entry that is tapped.", valueName: "name"))
        var link: String?

        @Option(help: ArgumentHelp("The action that the tapped button or toggle runs.", valueName: "name"))
        var action: String?

        @Option(help: ArgumentHelp("What the action gets: a JSON object, or @file.", valueName: "json"))
        var parameters: String?

        @OptionGroup var wait: WaitOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard link == nil || action == nil else { throw ValidationError("name --link or --action, not both") }
            guard parameters == nil || action != nil else { throw ValidationError("--parameters needs --action") }
            guard !wait.isSet || action != nil else { throw ValidationError("--wait needs --action") }
        }

        func run() async throws {
            var fields: RawObject = [:]
            fields["link"] = link.map(RawJSON.string)
            fields["action"] = action.map(RawJSON.string)
            fields["parameters"] = try parameters.map { try Payload.read($0, option: "--parameters") }
            let tap = PlacedAction(target: target, done: "tapped", output: output, service: service)
            try await tap.run("tap", fields, waits: wait.isSet)
        }
    }

    /// `islet widget visible`.
    struct Visible: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say that a person sees a widget: where its timeline is over, the next one is asked for.",
            discussion: """
                EXAMPLES:
                  islet widget visible Flight
                """)

        @OptionGroup var target: PlacedTarget<Widgets>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("visible", connection))
                try await Report.change(answer, done: "saw", name: target.target, output: output, now: connection.now)
            }
        }
    }
}
