import ArgumentParser
import IsletClient
import IsletFilter

/// `islet clock …`: the service's time.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Show the service's time, and move a manual clock.",
        discussion: """
            EXAMPLES:
              islet serve --clock manual
              islet clock now
              islet clock advance 8h       every deadline on the way takes effect
              islet clock advance --to 2026-01-31T09:00Z
            """,
        subcommands: [Now.self, Advance.self])

    /// `islet clock now`.
    struct Now: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the service's time.",
            discussion: """
                EXAMPLES:
                  islet clock now
                  islet clock now --json | jq .now
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                try ClockCommand.show(await connection.send(Command("service.ping")), output)
            }
        }
    }

    /// `islet clock advance`.
    struct Advance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move a manual clock; returns when all that was due has happened.",
            discussion: """
                EXAMPLES:
                  islet clock advance 30s
                  islet clock advance --to 2026-01-31T09:00Z
                """)

        @Argument(help: ArgumentHelp("By how much, such as 30s or 8h.", valueName: "span"))
        var span: Span?

        @Option(parsing: .unconditional, help: ArgumentHelp("To this date.", valueName: "date"))
        var to: Moment?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard (span == nil) != (to == nil) else { throw ValidationError("name a span, or a date with --to") }
        }

        func run() async throws {
            try await service.withConnection { connection in
                var command = Command("clock.advance")
                if let span { command["by"] = .integer(span.milliseconds) }
                if let to { command["to"] = .integer(try await to.resolved(now: connection.now)) }
                try ClockCommand.show(await connection.send(command), output, isMove: true)
            }
        }
    }

    private static func show(_ answer: Answer, _ output: OutputOptions, isMove: Bool = false) throws {
        guard let now = answer["now"]?.integer else { throw IsletError.unreadable("no time") }
        let time = TimeText.full(now)
        Console.data(
            output.json ? RawObject(dictionaryLiteral: ("now", .integer(now))).description : time,
            of: isMove ? "it is \(time)" : nil)
    }
}
