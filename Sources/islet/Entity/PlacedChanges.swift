import ArgumentParser
import IsletClient

/// What is placed where, for `islet control add` and `islet widget add`.
struct PlacingOptions<Family: PlacedFamily>: ParsableArguments {
    @OptionGroup var kind: KindTarget<Family>

    @Option(help: ArgumentHelp("Its parameters: a JSON object, or @file.", valueName: "json"))
    var configuration: String?

    @Option(help: ArgumentHelp("The device that shows it.", valueName: "device"))
    var device: String?

    @Option(help: ArgumentHelp("A UUID of your own as its id.", valueName: "uuid"))
    var id: String?

    /// Places it, and says what to try next.
    ///
    /// - Parameters:
    ///   - fields: further fields of the command.
    ///   - next: the verbs of commands that are worth trying, with their options.
    func place(
        _ fields: RawObject = [:], next: [(verb: String, options: String)], _ output: OutputOptions,
        _ service: ServiceOptions
    ) async throws {
        var command = kind.command("add")
        for field in fields.members { command[field.name] = field.value }
        command["configuration"] = try configuration.map { try Payload.read($0, option: "--configuration") }
        command["device"] = device.map(RawJSON.string)
        command["id"] = id.map(RawJSON.string)
        try await service.withConnection { [command] connection in
            let answer = try await kind.send(command, connection)
            let id = EntityText.entity(answer)?["id"]?.string ?? ""
            let name = PlacedText.name(kind: kind.kind, id: id)
            try await Report.change(answer, done: "added", name: name, output: output, now: connection.now)
            guard !output.json else { return }
            Console.data("id \(id)")
            suggest(name, next, service)
        }
    }

    /// The next commands worth trying, as they can be typed here.
    private func suggest(_ name: String, _ next: [(verb: String, options: String)], _ service: ServiceOptions) {
        let rest = Invocation.options(["app": kind.app.named]) + service.spelled
        let lines = next.map { "  \(Invocation.name) \(Family.noun) \($0.verb) \(name)\($0.options)\(rest)" }
        Console.message((["", "Next you might try:"] + lines).joined(separator: "\n"))
    }
}

/// `islet control remove`, `islet widget remove`.
struct PlacedRemove<Family: PlacedFamily>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "remove",
            abstract: "Take \(Family.one) away.",
            discussion: """
                EXAMPLES:
                  islet \(Family.noun) remove \(Family.example)
                  islet \(Family.noun) remove --filter 'device=phone-1' --dry-run

                With --filter it says how many it would be, and asks before it removes them.
                What has changed by then and does not fit any more is skipped; what is gone
                by then is counted, and is no failure.
                """)
    }

    @OptionGroup var choice: EntityChoice<PlacedTarget<Family>>
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        guard let target = choice.one else {
            guard let filter = choice.filter.filter else { return }
            return try await BulkChange(
                choice: choice, filter: filter, verb: "remove", done: "removed", output: output, service: service
            ).run()
        }
        try await service.withConnection { connection in
            let answer = try await connection.send(target.command("remove", connection))
            try await Report.change(answer, done: "removed", name: target.target, output: output, now: connection.now)
        }
    }
}

/// `islet control reload`, `islet widget reload`.
struct PlacedReload<Family: PlacedFamily>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "reload",
            abstract: "Let providers be asked anew: for one \(Family.noun), for a kind, or for all.",
            discussion: """
                EXAMPLES:
                  islet \(Family.noun) reload \(Family.example)
                  islet \(Family.noun) reload --kind \(Family.example) --push
                  islet \(Family.noun) reload                    all of the app
                """)
    }

    @Argument(
        help: ArgumentHelp("The \(Family.noun), as for get; without one: all of them.", valueName: "kind or id"))
    var target: String?

    @Option(help: ArgumentHelp("All of this kind.", valueName: "kind"))
    var kind: String?

    @Option(help: ArgumentHelp("The device whose \(Family.noun) it is.", valueName: "device"))
    var device: String?

    @Flag(help: "As a push.")
    var push = false

    @OptionGroup var app: FamilyApp<Family>
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func validate() throws {
        guard target == nil || kind == nil else { throw ValidationError("name a \(Family.noun) or --kind, not both") }
        try EntityText.checkAddress(target, device: device, of: Family.self)
        guard target != nil || device == nil else { throw ValidationError("--device needs a \(Family.noun)") }
    }

    func run() async throws {
        var command = Command("\(Family.noun).reload")
        command["kind"] = kind.map(RawJSON.string)
        if push { command["source"] = .string("push") }
        try await service.withConnection { connection in
            let app = try await app.required(connection)
            if let target {
                let name = PlacedName<Family>(target, device: device, app: app)
                command["id"] = .string(try await name.id(connection))
            }
            let answer = try await KindName<Family>.send(command, kind: kind ?? "", app: app, connection)
            if target == nil, !output.json {
                let count = answer["count"]?.integer ?? 0
                let change = "reloading \(count) \(count == 1 ? Family.noun : Family.plural)"
                return Console.data(change, of: change)
            }
            try await Report.change(answer, done: "reloading", name: target ?? "", output: output, now: connection.now)
        }
    }
}
