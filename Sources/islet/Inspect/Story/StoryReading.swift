import IsletClient

/// The past of an entity that a person asks about.
struct StoryReading {
    let story: EntityStory
    /// What the person calls it.
    let name: String
    /// Domain time when it was read.
    let now: Int64
    private let noun: String
    /// Whether events that the answer had no room for may be kept.
    private let isFull: Bool
    /// What names the entity and the service in another command.
    private let address: String

    /// Asks for the events and the entity.
    ///
    /// - Parameter service: as the person has named it, for the commands that are suggested.
    init<Target: EntityTarget>(
        _ target: Target, _ service: ServiceOptions, _ connection: IsletConnection
    ) async throws {
        let command = try await target.command("history", connection)
        let history = try await target.send(command, connection)
        // By its id from here on: who holds a key may change in between.
        let short = EntityText.entity(history)
        var get = Command("\(Target.Family.noun).get", command.fields)
        if let id = short?["id"] {
            get["id"] = id
            get["key"] = nil
            get["device"] = nil
        }
        let current = EntityText.entity(try await connection.send(get)) ?? [:]
        noun = Target.Family.noun
        name = target.target
        address = name + Invocation.options(["app": target.app.named, "device": target.device]) + service.spelled
        now = try await connection.now()
        let events = history["events"]?.elements ?? []
        isFull = AnswerRoom.isFull(events)
        story = EntityStory(
            events.compactMap(\.object), isComplete: history["complete"]?.bool ?? false,
            noun: noun, current: current)
    }

    /// The entity at a point.
    ///
    /// - Throws: a `Failure` where nothing is known of that time.
    func past(_ point: PastPoint) throws -> EntityStory.Past {
        switch point {
        case .revision(let revision):
            guard let chapter = story.chapter(revision: revision) else { throw unknown(revision: revision) }
            return story.past(chapter)
        case .ago, .at:
            let date = point.date(now: now) ?? now
            guard date <= now else {
                throw Failure(
                    .usage,
                    "\(TimeText.full(date, now: now)) is to come: "
                        + "`\(Invocation.name) \(noun) explain \(address)` says what will happen")
            }
            guard let chapter = story.chapter(at: date) else { throw unknown(date: date) }
            return story.past(chapter)
        }
    }

    private func unknown(revision: UInt64) -> Failure {
        guard let first = story.chapters.first, let last = story.last else {
            return Failure(.notFound, "no event of \(name) is kept any more (notFound)")
        }
        let revisions = "its revisions \(first.revision) to \(last.revision)"
        guard !isFull || revision > first.revision else {
            return Failure(
                .notFound,
                "of \(name) an answer has no more than \(revisions), and not revision \(revision): \(olderEvents) "
                    + "(notFound)")
        }
        let kept = "\(revisions) are kept"
        return Failure(.notFound, "revision \(revision) of \(name) is not known: \(kept) (notFound)")
    }

    private func unknown(date: Int64) -> Failure {
        guard let first = story.chapters.first else {
            return Failure(.notFound, "no event of \(name) is kept any more (notFound)")
        }
        let since = TimeText.full(first.at, now: now)
        guard !isFull || first.revision == 1 else {
            return Failure(
                .notFound,
                "of \(name) an answer has no more than its events since \(since), and not what it was at "
                    + "\(TimeText.full(date)): \(olderEvents) (notFound)")
        }
        let text =
            first.revision == 1
            ? "\(name) was not there yet: it came at \(since)"
            : "what \(name) was at \(TimeText.full(date)) is not kept any more: its events are known since \(since)"
        return Failure(.notFound, "\(text) (notFound)")
    }

    /// What is to be said where not everything is known; nil where all is.
    func note(unknown: [String]) -> String? {
        guard !unknown.isEmpty else { return nil }
        let since = story.chapters.first.map { " before revision \($0.revision)" } ?? ""
        let events =
            isFull ? "an answer has no room for the events\(since)" : "not all events\(since) are kept any more"
        return "\(events); not known: \(unknown.joined(separator: ", "))"
    }

    /// Where the events are that an answer has no room for.
    private var olderEvents: String { "`\(Invocation.name) tail --since` shows older events that are kept" }
}
