import ArgumentParser
import IsletClient

/// `islet activity at` and its like: as it was.
struct EntityAt<Target: EntityTarget>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "at",
            abstract: "Show \(Target.Family.one) as of a time, or of a revision.",
            discussion: """
                EXAMPLES:
                  islet \(Target.Family.noun) at 10m \(Target.Family.example)                 ten minutes ago
                  islet \(Target.Family.noun) at 2026-01-31T09:00Z \(Target.Family.example)
                  islet \(Target.Family.noun) at 3 \(Target.Family.example)                   its revision 3
                  islet \(Target.Family.noun) at 1h \(Target.Family.example) --json

                It is put together from the events that the service keeps. Where some are
                gone, it says which members are not known, and guesses nothing.
                """)
    }

    @Argument(
        help: ArgumentHelp(
            "How long ago, such as 10m; a date in UTC; or a revision.", valueName: "time"))
    var point: PastPoint

    @OptionGroup var target: Target
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.withConnection { connection in
            let reading = try await StoryReading(target, service, connection)
            let past = try reading.past(point)
            let date = point.date(now: reading.now) ?? past.at
            if output.json { return Console.data(Self.json(past, at: date, reading).bytes) }
            Console.data(
                "\(TimeText.full(date, now: reading.now)): revision \(past.revision), made at "
                    + "\(TimeText.full(past.at, now: date))")
            for line in Target.Family.lines(past.members, now: date, style: .output) { Console.data(line) }
            if let note = reading.note(unknown: past.unknown) { Console.message(note) }
        }
    }

    private static func json(_ past: EntityStory.Past, at date: Int64, _ reading: StoryReading) -> RawJSON {
        .object([
            .init("at", .integer(date)), .init("revision", .integer(past.revision)),
            .init("revisionAt", .integer(past.at)), .init("complete", .bool(past.unknown.isEmpty)),
            .init("unknown", .array(past.unknown.map(RawJSON.string))),
            .init(Target.Family.noun, past.members.json),
        ])
    }
}
