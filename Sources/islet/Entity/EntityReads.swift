import ArgumentParser
import IsletClient
import IsletFilter

/// `islet activity get` and its like.
struct EntityGet<Target: EntityTarget>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "get",
            abstract: "Show all of \(Target.Family.one).",
            discussion: """
                EXAMPLES:
                  islet \(Target.Family.noun) get \(Target.Family.example)
                  islet \(Target.Family.noun) get \(Target.Family.example) --json
                """)
    }

    @OptionGroup var target: Target
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.withConnection { connection in
            let answer = try await target.send(target.command("get", connection), connection)
            try await Self.write(answer, output, connection)
        }
    }

    /// Writes the entity of an answer.
    static func write(_ answer: Answer, _ output: OutputOptions, _ connection: IsletConnection) async throws {
        guard let entity = EntityText.entity(answer) else {
            throw IsletError.unreadable("no \(Target.Family.noun)")
        }
        if output.json { return Console.data(entity.json.bytes) }
        if output.isNames { return Console.data(Target.Family.address(entity)) }
        let now = try await connection.now()
        for line in Target.Family.lines(entity, now: now, style: .output) { Console.data(line) }
    }
}

/// `islet activity history` and its like.
struct EntityHistory<Target: EntityTarget>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "history",
            abstract: "Show the events of \(Target.Family.one), oldest first.",
            discussion: """
                EXAMPLES:
                  islet \(Target.Family.noun) history \(Target.Family.example)
                  islet \(Target.Family.noun) history \(Target.Family.example) --since 10m
                  islet \(Target.Family.noun) history \(Target.Family.example) --filter 'cause!=command'
                  islet \(Target.Family.noun) history \(Target.Family.example) --json      one event a line
                """)
    }

    @OptionGroup var target: Target
    @OptionGroup var since: SinceOption
    @OptionGroup var filter: FilterOption<HistoryRows<Target.Family>>
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.withConnection { connection in
            let command = try await target.command("history", connection)
            let answer = try await target.send(command, connection)
            let begin = try await since.date(now: connection.now)
            let filter = filter.filter
            var lasting = LastingMembers(.init(rawValue: Target.Family.noun), askedBy: filter)
            // What was removed meanwhile has its first event, if that is kept.
            if lasting.isUnknown {
                var get = Command("\(Target.Family.noun).get")
                for name in ["app", "id", "key", "device"] { get[name] = command[name] }
                let now = try? await target.send(get, connection)
                if let entity = now.flatMap(EntityText.entity) { lasting.take(whole: entity) }
            }
            let speed = output.json ? 1 : await ServiceSpeed.of(connection)
            EventLines.writeHistory(answer, name: target.target, speed: speed, output) { event in
                lasting.take(event)
                guard event.at >= begin else { return false }
                return filter.map { EventRow(event, lasting).fits($0, at: event.at) } ?? true
            }
        }
    }
}

/// `islet activity explain` and its like.
struct EntityExplain<Target: EntityTarget>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "explain",
            abstract: "Say why \(Target.Family.one) is as it is, and what comes next.",
            discussion: """
                EXAMPLES:
                  islet \(Target.Family.noun) explain \(Target.Family.example)
                  islet \(Target.Family.noun) explain \(Target.Family.example) --all
                  islet \(Target.Family.noun) explain \(Target.Family.example) --since 10m
                  islet \(Target.Family.noun) explain \(Target.Family.example) --json | jq -c '.decisions[]'
                """)
    }

    @OptionGroup var target: Target
    @OptionGroup var since: SinceOption
    @OptionGroup var decisions: DecisionsOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.withConnection { connection in
            let answer = try await target.send(target.command("explain", connection), connection)
            let begin = try await since.date(now: connection.now)
            try await ExplainText.write(
                answer, since: since.isSet ? begin : nil, decisions, shown: Target.Family.shown, output, connection)
        }
    }
}
