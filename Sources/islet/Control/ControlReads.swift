import ArgumentParser
import IsletClient
import IsletFilter

extension ControlCommand {
    /// `islet control get`.
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show all of a control.",
            discussion: """
                EXAMPLES:
                  islet control get Torch
                  islet control get Torch --max-age 0s    ask its provider first
                  islet control get Torch --json
                """)

        @OptionGroup var target: PlacedTarget<Controls>

        @Option(help: ArgumentHelp("Ask its provider first where the value is older than this.", valueName: "span"))
        var maxAge: Span?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                var command = try await target.command("get", connection)
                command["maxAge"] = maxAge.map { .integer($0.milliseconds) }
                try await EntityGet<PlacedTarget<Controls>>.write(
                    connection.send(command), output, connection)
            }
        }
    }

    /// `islet control list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the controls that are placed.",
            discussion: """
                EXAMPLES:
                  islet control list
                  islet control list --kind Thermostat --device phone-1
                  islet control list --filter 'state!=shown and kind~garage'
                  islet control list -o name            as get, tap and set take them
                  islet control list --json | jq -r .id
                """)

        @Option(
            help: ArgumentHelp(
                "Only these: loading, preview, shown, reloading, acting, authenticating or disabled.",
                valueName: "state"))
        var state: String?

        @Option(
            help: ArgumentHelp("Only of this kind.", valueName: "kind"),
            completion: .custom(Completions.kinds(of: Controls.self)))
        var kind: String?

        @Option(
            help: ArgumentHelp("Only of this device.", valueName: "device"), completion: .custom(Completions.devices))
        var device: String?

        @OptionGroup var filter: FilterOption<Controls>
        @OptionGroup var limit: LimitOption
        @OptionGroup var app: FamilyApp<Controls>
        @OptionGroup var allApps: AllAppsOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let list = EntityList(
                app: app, allApps: allApps, limit: limit, filter: filter.filter, output: output, service: service)
            try await list.write(["state": state, "kind": kind, "device": device])
        }
    }
}
