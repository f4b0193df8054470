import ArgumentParser
import IsletClient

/// `islet activity diff` and its like.
struct EntityCompare<Target: EntityTarget>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "diff",
            abstract: "Compare two revisions, or times, of \(Target.Family.one).",
            discussion: """
                EXAMPLES:
                  islet \(Target.Family.noun) diff \(Target.Family.example)              the last change
                  islet \(Target.Family.noun) diff \(Target.Family.example) 3            what made revision 3
                  islet \(Target.Family.noun) diff \(Target.Family.example) 3 7          from 3 to 7
                  islet \(Target.Family.noun) diff \(Target.Family.example) 1h 10m       from an hour ago to 10 m ago
                  islet \(Target.Family.noun) diff \(Target.Family.example) 3 7 --json | jq -c '.changes[]'

                Lines with + are new, lines with - are gone. Below them: the events that
                made the difference. islet \(Target.Family.noun) history lists the revisions.
                """)
    }

    @OptionGroup var target: Target

    @Argument(help: ArgumentHelp("From here: a revision, how long ago, or a date.", valueName: "from"))
    var from: PastPoint?

    @Argument(help: ArgumentHelp("To here; alone, the first is compared with what was before it.", valueName: "to"))
    var to: PastPoint?

    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.withConnection { connection in
            let reading = try await StoryReading(target, service, connection)
            let (before, after) = try ends(reading)
            let diff = EntityDiff(before, after)
            if output.json { return Console.data(Self.json(before, after, diff).bytes) }
            let span = TimeText.span(after.at.subtractingClamped(before.at))
            Console.data(
                "\(Style.output.bold(reading.name))  revision \(before.revision) → \(after.revision), \(span) later: "
                    + "\(TimeText.full(before.at)) → \(TimeText.full(after.at))")
            for line in diff.lines(style: .output) { Console.data(line) }
            if diff.changes.isEmpty { Console.data("  nothing is different") }
            Self.tellEvents(reading, before, after, speed: await ServiceSpeed.of(connection))
            if let note = reading.note(unknown: diff.unknown) { Console.message(note) }
        }
    }

    /// The two that are compared, the older one first.
    private func ends(_ reading: StoryReading) throws -> (EntityStory.Past, EntityStory.Past) {
        guard let from else {
            return try single(reading, reading.story.last?.revision ?? 1)
        }
        if let to { return try pair(reading, from, to) }
        // One alone: a revision with the one before it, a time with now.
        if case .revision(let revision) = from { return try single(reading, revision) }
        return try pair(reading, from, .ago(milliseconds: 0))
    }

    /// A revision and the one before it, which of the first one is nothing.
    private func single(
        _ reading: StoryReading, _ revision: UInt64
    ) throws -> (EntityStory.Past, EntityStory.Past) {
        let after = try reading.past(.revision(revision))
        guard revision > 1 else {
            return (EntityStory.Past(revision: 0, at: after.at, members: [:], unknown: []), after)
        }
        return (try reading.past(.revision(revision - 1)), after)
    }

    private func pair(
        _ reading: StoryReading, _ from: PastPoint, _ to: PastPoint
    ) throws -> (EntityStory.Past, EntityStory.Past) {
        let (first, second) = (try reading.past(from), try reading.past(to))
        return first.revision <= second.revision ? (first, second) : (second, first)
    }

    private static func tellEvents(
        _ reading: StoryReading, _ before: EntityStory.Past, _ after: EntityStory.Past, speed: Double
    ) {
        var lines = EventLines(style: .output, speed: speed)
        for chapter in reading.story.chapters
        where chapter.revision > before.revision && chapter.revision <= after.revision {
            guard let event = StreamEvent(topic: "", bytes: chapter.event.json.bytes) else { continue }
            for line in lines.lines(event, name: reading.name) { Console.data(line) }
        }
    }

    private static func json(
        _ before: EntityStory.Past, _ after: EntityStory.Past, _ diff: EntityDiff
    ) -> RawJSON {
        func end(_ past: EntityStory.Past) -> RawJSON {
            .object([.init("revision", .integer(past.revision)), .init("at", .integer(past.at))])
        }
        return .object([
            .init("id", after.members["id"] ?? .null), .init("from", end(before)), .init("to", end(after)),
            .init("changes", diff.json), .init("complete", .bool(diff.unknown.isEmpty)),
            .init("unknown", .array(diff.unknown.map(RawJSON.string))),
        ])
    }
}
