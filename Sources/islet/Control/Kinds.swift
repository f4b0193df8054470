import ArgumentParser
import IsletClient

extension ControlCommand {
    /// `islet control kinds`.
    struct Kinds: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the kinds that providers have declared.",
            discussion: """
                EXAMPLES:
                  islet control kinds
                  islet control kinds --json | jq .declaration
                """)

        @OptionGroup var app: FamilyApp<Controls>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await KindList<Controls>.write("TEMPLATE", app: app, output, service) { declaration in
                declaration["template"]?.string ?? ""
            }
        }
    }

    /// `islet control options`.
    struct Options: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List what a parameter of a kind may be; its provider may have to say it.",
            discussion: """
                EXAMPLES:
                  islet control options Thermostat room
                """)

        @OptionGroup var target: OptionsTarget<Controls>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await target.write(nothing: "no options are named: any value of its type will do", output, service)
        }
    }

    /// `islet control preview`.
    struct Preview: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what the gallery shows of a kind; its provider is not asked.",
            discussion: """
                EXAMPLES:
                  islet control preview Thermostat
                """)

        @OptionGroup var target: KindTarget<Controls>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await target.send(target.command("preview"), connection)
                guard let preview = answer["preview"]?.object else { throw IsletError.unreadable("no preview") }
                if output.json { return Console.data(preview.json.bytes) }
                let declaration = preview["kind"]?.object ?? preview
                let style = Style.output
                let value = preview["value"].map { "  " + ControlText.text($0) } ?? ""
                let name = declaration["displayName"]?.string ?? PlacedText.shortKind(target.kind)
                Console.data(style.bold(name) + "  " + style.of(state: "preview", "preview") + value)
                for member in declaration.members {
                    Console.data("  " + member.name.printable.padded(to: 15) + " " + member.value.text)
                }
            }
        }
    }
}
