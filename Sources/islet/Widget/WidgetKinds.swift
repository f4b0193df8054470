import ArgumentParser
import IsletClient

extension WidgetCommand {
    /// `islet widget kinds`.
    struct Kinds: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the kinds that providers have declared.",
            discussion: """
                EXAMPLES:
                  islet widget kinds
                  islet widget kinds --json | jq .declaration
                """)

        @OptionGroup var app: FamilyApp<Widgets>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await KindList<Widgets>.write("FAMILIES", app: app, output, service) { declaration in
                (declaration["families"]?.elements ?? []).compactMap(\.string).joined(separator: ", ")
            }
        }
    }

    /// `islet widget options`.
    struct Options: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List what a parameter of a kind may be; its provider may have to say it.",
            discussion: """
                EXAMPLES:
                  islet widget options Weather city
                  islet widget options Weather city --default
                  islet widget options Weather city --entity berlin --entity paris
                """)

        @OptionGroup var target: OptionsTarget<Widgets>

        @Flag(name: .customLong("default"), help: "The one that holds where nobody has chosen.")
        var isDefault = false

        @Option(help: ArgumentHelp("What this identifier stands for; may be named several times.", valueName: "id"))
        var entity: [String] = []

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard !isDefault || entity.isEmpty else { throw ValidationError("name --default or --entity, not both") }
        }

        func run() async throws {
            var fields: RawObject = [:]
            var nothing = "no options are named: any value of its type will do"
            if isDefault {
                fields["query"] = .string("defaultResult")
                nothing = "nothing is chosen by default"
            } else if !entity.isEmpty {
                fields["query"] = .string("entitiesFor")
                fields["identifiers"] = .array(entity.map(RawJSON.string))
                nothing = "none of these is known"
            }
            try await target.write(fields, nothing: nothing, output, service)
        }
    }

    /// `islet widget snapshot`.
    struct Snapshot: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask the provider of a kind for one entry, as galleries do; it is not charged.",
            discussion: """
                EXAMPLES:
                  islet widget snapshot Weather --family systemSmall
                  islet widget snapshot Weather --family systemSmall --preview
                """)

        @OptionGroup var target: KindTarget<Widgets>

        @Option(help: ArgumentHelp("For which size and place, one of the kind's.", valueName: "family"))
        var family: String

        @Option(help: ArgumentHelp("Its parameters: a JSON object, or @file.", valueName: "json"))
        var configuration: String?

        @Flag(help: "For a gallery: sample data will do.")
        var preview = false

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("snapshot")
            command["family"] = .string(family)
            command["configuration"] = try configuration.map { try Payload.read($0, option: "--configuration") }
            if preview { command["isPreview"] = .bool(true) }
            try await service.withConnection { [command] connection in
                let answer = try await target.send(command, connection)
                guard let entry = answer["snapshot"]?.object else { throw IsletError.unreadable("no snapshot") }
                if output.json { return Console.data(entry.json.bytes) }
                let now = try await connection.now()
                if let date = entry["date"]?.integer { Console.data(TimeText.full(date, now: now)) }
                for member in entry.members where member.name != "date" {
                    Console.data("  " + member.name.printable.padded(to: 15) + " " + member.value.text)
                }
            }
        }
    }

    /// `islet widget recommendations`.
    struct Recommendations: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the configurations that the provider of a kind recommends.",
            discussion: """
                EXAMPLES:
                  islet widget recommendations Weather
                  islet widget recommendations Weather --fresh    ask its provider again
                """)

        @OptionGroup var target: KindTarget<Widgets>

        @Flag(help: "Forget those that are known, and ask again.")
        var fresh = false

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                if fresh { _ = try await target.send(target.command("invalidateRecommendations"), connection) }
                let answer = try await target.send(target.command("recommendations"), connection)
                let rows = answer["recommendations"]?.elements?.compactMap(\.object) ?? []
                for row in rows {
                    if output.json {
                        Console.data(row.json.bytes)
                    } else {
                        Console.data("\(row["description"]?.text ?? "")  \(row["configuration"]?.text ?? "")")
                    }
                }
                if rows.isEmpty { Console.message("nothing is recommended") }
            }
        }
    }

    /// `islet widget invalidate-relevance`.
    struct InvalidateRelevance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask the provider of a kind again when its widgets are relevant, which orders Smart Stacks.",
            discussion: """
                EXAMPLES:
                  islet widget invalidate-relevance Flight
                  islet widget stack phone-1                    what came of it
                """)

        @OptionGroup var target: KindTarget<Widgets>
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await target.send(target.command("invalidateRelevance"), connection)
                if output.json { return Console.data(answer.json.bytes) }
                if case .ignored(let reason) = answer.outcome {
                    return Console.message("ignored: \(reason) (its provider says nothing of its relevance)")
                }
                Console.data("asking when \(target.kind) is relevant")
            }
        }
    }
}
