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

        @OptionGroup var app: ControlAppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(Command("control.kinds", app: app.app))
                let rows = answer["kinds"]?.elements?.compactMap(\.object) ?? []
                if output.json {
                    for row in rows { Console.data(row.json.bytes) }
                } else if !rows.isEmpty {
                    for line in Self.table(rows).lines(style: .output) { Console.data(line) }
                }
                Console.message("\(rows.count) kind\(rows.count == 1 ? "" : "s") in \(app.app)")
            }
        }

        private static func table(_ rows: [RawObject]) -> TextTable {
            var table = TextTable("KIND", "TEMPLATE", "PROVIDERS", "CONTROLS", "PARAMETERS")
            for row in rows {
                let declaration = row["declaration"]?.object ?? [:]
                let parameters = declaration["parameters"]?.elements?.compactMap(\.object) ?? []
                table.add(
                    row["kind"]?.string ?? "", declaration["template"]?.string ?? "",
                    row["providers"]?.description ?? "", row["controls"]?.description ?? "",
                    parameters.isEmpty ? "-" : parameters.map(text).joined(separator: ", "))
            }
            return table
        }

        /// Such as `room (string)`, `room (enum, optional)`.
        private static func text(_ parameter: RawObject) -> String {
            let type = parameter["type"]?.string ?? "?"
            let optional = parameter["isOptional"]?.bool == true ? ", optional" : ""
            return "\(parameter["name"]?.string ?? "?") (\(type)\(optional))"
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

        @Argument(help: ArgumentHelp("The kind.", valueName: "kind"))
        var kind: String

        @Argument(help: ArgumentHelp("The parameter.", valueName: "parameter"))
        var parameter: String

        @Option(help: ArgumentHelp("What is configured so far: a JSON object, or @file.", valueName: "json"))
        var configuration: String?

        @OptionGroup var app: ControlAppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = Command("control.options", app: app.app, ["kind": .string(kind)])
            command["parameter"] = .string(parameter)
            command["configuration"] = try configuration.map { try Payload.read($0, option: "--configuration") }
            try await service.withConnection { connection in
                let answer = try await ControlKindName.send(command, kind: kind, app: app.app, connection)
                let options = answer["options"]?.elements ?? []
                for option in options {
                    if output.json {
                        Console.data(option.bytes)
                    } else {
                        let value = option.object?["value"] ?? option
                        let title = option.object?["title"]?.string.map { "  \($0)" } ?? ""
                        Console.data((value.string ?? value.description) + title)
                    }
                }
                if options.isEmpty { Console.message("no options are named: any value of its type will do") }
            }
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

        @Argument(help: ArgumentHelp("The kind.", valueName: "kind"))
        var kind: String

        @OptionGroup var app: ControlAppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let command = Command("control.preview", app: app.app, ["kind": .string(kind)])
            try await service.withConnection { connection in
                let answer = try await ControlKindName.send(command, kind: kind, app: app.app, connection)
                guard let preview = answer["preview"]?.object else { throw IsletError.unreadable("no preview") }
                if output.json { return Console.data(preview.json.bytes) }
                let declaration = preview["kind"]?.object ?? preview
                let style = Style.output
                let value = preview["value"].map { "  " + ControlText.text($0) } ?? ""
                let name = declaration["displayName"]?.string ?? ControlText.shortKind(kind)
                Console.data(style.bold(name) + "  " + style.of(state: "preview", "preview") + value)
                for member in declaration.members {
                    let text = member.value.string ?? member.value.description
                    Console.data("  " + member.name.padded(to: 15) + " " + text)
                }
            }
        }
    }
}
