import ArgumentParser
import IsletClient
import IsletServer

/// The kind of controls or widgets that a subcommand is about.
struct KindTarget<Family: PlacedFamily>: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The kind, as its provider has declared it.", valueName: "kind"),
        completion: .custom(Completions.kinds(of: Family.self)))
    var kind: String

    @OptionGroup var app: FamilyApp<Family>

    /// The command `<family>.<verb>` about the kind, but for its app.
    func command(_ verb: String) -> Command {
        Command("\(Family.noun).\(verb)", ["kind": .string(kind)])
    }

    /// Sends a command about it, in its app.
    func send(_ command: Command, _ connection: IsletConnection) async throws -> Answer {
        try await KindName<Family>.send(command, kind: kind, app: app.required(connection), connection)
    }
}

/// A kind that a person names.
enum KindName<Family: PlacedFamily> {
    /// Sends a command about a kind of the app. Where nobody has declared it, the closest one that somebody has is
    /// suggested.
    static func send(
        _ command: Command, kind: String, app: String, _ connection: IsletConnection
    ) async throws -> Answer {
        var command = command
        command["app"] = .string(app)
        do throws(IsletError) {
            return try await connection.send(command)
        } catch {
            guard error.code == .notFound, error.detail["kind"] != nil else { throw error }
            let kinds = try await Pages.all(Command("\(Family.noun).kinds", app: app), "kinds", connection)
            let known = kinds.compactMap { $0.object?["kind"]?.string }
            let short = known.first { PlacedText.shortKind($0).lowercased() == kind.lowercased() }
            let hint = (short ?? Spelling.closest(to: kind, among: known)).map { "; did you mean \($0)?" } ?? ""
            throw Failure(
                .notFound, "no provider has declared the \(Family.noun) kind '\(kind)' in \(app)\(hint) (notFound)")
        }
    }
}

/// The kinds that providers have declared.
enum KindList<Family: PlacedFamily> {
    /// Asks for the kinds and writes them.
    ///
    /// - Parameters:
    ///   - column: the head of what the family says of a kind beside the rest.
    ///   - text: that of a declaration.
    static func write(
        _ column: String, app: FamilyApp<Family>, _ output: OutputOptions, _ service: ServiceOptions,
        text: (RawObject) -> String
    ) async throws {
        try await service.withConnection { connection in
            let app = try await app.required(connection)
            let kinds = try await Pages.all(Command("\(Family.noun).kinds", app: app), "kinds", connection)
            let rows = kinds.compactMap(\.object)
            if output.json {
                for row in rows { Console.data(row.json.bytes) }
            } else if output.isNames {
                for row in rows { Console.data(row["kind"]?.string ?? "?") }
            } else if !rows.isEmpty {
                var table = TextTable("KIND", column, "PROVIDERS", Family.plural.uppercased(), "PARAMETERS")
                for row in rows {
                    let declaration = row["declaration"]?.object ?? [:]
                    let parameters = declaration["parameters"]?.elements?.compactMap(\.object) ?? []
                    table.add(
                        row["kind"]?.string ?? "", text(declaration), row["providers"]?.description ?? "",
                        row[Family.plural]?.description ?? "",
                        parameters.isEmpty ? "-" : parameters.map(Self.text).joined(separator: ", "))
                }
                for line in table.lines(style: .output) { Console.data(line) }
            }
            Console.message("\(rows.count) kind\(rows.count == 1 ? "" : "s") in \(app)")
        }
    }

    /// Such as `room (string)`, `room (enum, optional)`.
    private static func text(_ parameter: RawObject) -> String {
        let type = parameter["type"]?.string ?? "?"
        let optional = parameter["isOptional"]?.bool == true ? ", optional" : ""
        return "\(parameter["name"]?.string ?? "?") (\(type)\(optional))"
    }
}

/// What a parameter of a kind may be.
struct OptionsTarget<Family: PlacedFamily>: ParsableArguments {
    @OptionGroup var kind: KindTarget<Family>

    @Argument(help: ArgumentHelp("The parameter.", valueName: "parameter"))
    var parameter: String

    @Option(help: ArgumentHelp("What is configured so far: a JSON object, or @file.", valueName: "json"))
    var configuration: String?

    /// Asks for the options and writes them.
    ///
    /// - Parameters:
    ///   - fields: further fields of the command.
    ///   - nothing: what is said where there are none.
    func write(
        _ fields: RawObject = [:], nothing: String, _ output: OutputOptions, _ service: ServiceOptions
    ) async throws {
        var command = kind.command("options")
        command["parameter"] = .string(parameter)
        command["configuration"] = try configuration.map { try Payload.read($0, option: "--configuration") }
        for field in fields.members { command[field.name] = field.value }
        try await service.withConnection { [command] connection in
            let options = try await kind.send(command, connection)["options"]?.elements ?? []
            for option in options {
                if output.json {
                    Console.data(option.bytes)
                } else {
                    let value = option.object?["value"] ?? option
                    let title = (option.object?["title"]?.text).map { "  \($0)" } ?? ""
                    Console.data(value.text + title)
                }
            }
            if options.isEmpty { Console.message(nothing) }
        }
    }
}
