package import IsletClient

/// What is known of an entity's past: its events, put together to what it was after each of them.
///
/// Events are merge patches. Where all are kept, that gives the whole entity at any revision. Where the oldest are
/// gone, a member is known from its last change on, and also before that, if nothing has changed it until now; the rest is
/// named as unknown and never guessed.
package struct EntityStory {
    /// One event.
    package struct Chapter: Sendable {
        package let revision: UInt64
        /// When it took effect, in milliseconds of domain time.
        let at: Int64
        let event: RawObject
        let patch: RawObject
    }

    /// The entity as it was.
    package struct Past: Sendable {
        let revision: UInt64
        /// When the revision was made.
        let at: Int64
        package let members: RawObject
        /// The members whose value then is not known any more.
        package let unknown: [String]
    }

    /// The kept events, oldest first.
    package let chapters: [Chapter]
    /// Whether the first event of all is among them, and none is missing.
    package let isComplete: Bool
    private let current: RawObject

    /// - Parameters:
    ///   - events: of the answer to `<family>.history`, oldest first.
    ///   - isComplete: what the answer says.
    ///   - noun: under which name events carry the entity.
    ///   - current: the entity as it is now.
    package init(_ events: [RawObject], isComplete: Bool, noun: String, current: RawObject) {
        var chapters: [Chapter] = []
        for event in events {
            guard let patch = event[noun]?.object, let revision = patch["revision"]?.unsigned,
                let at = event["at"]?.integer, revision > chapters.last?.revision ?? 0
            else { continue }
            chapters.append(Chapter(revision: revision, at: at, event: event, patch: patch))
        }
        self.chapters = chapters
        // Since when it is in its state now says nothing of before.
        var followed = current
        followed["stateAt"] = nil
        self.current = followed
        let isDense = zip(chapters, chapters.dropFirst()).allSatisfy { $0.revision + 1 == $1.revision }
        self.isComplete = isComplete && isDense && chapters.first?.revision == 1
    }

    /// The newest revision whose event is kept.
    var last: Chapter? { chapters.last }

    /// The event that was in force at a date; nil where it is older than the kept ones.
    package func chapter(at date: Int64) -> Chapter? { chapters.last { $0.at <= date } }

    /// The event of a revision; nil where it is not kept.
    package func chapter(revision: UInt64) -> Chapter? { chapters.first { $0.revision == revision } }

    /// The entity after an event.
    package func past(_ chapter: Chapter) -> Past {
        guard let index = chapters.firstIndex(where: { $0.revision == chapter.revision }) else {
            return Past(revision: chapter.revision, at: chapter.at, members: [:], unknown: [])
        }
        var known = RawObject()
        var unknown: [String] = []
        let before = unbroken(chapters[...index].reversed())
        if let first = before.last, first.revision == 1 {
            for chapter in before.reversed() { known.merge(chapter.patch) }
        } else {
            let after = unbroken(chapters[index...])
            let isReached = after.last?.revision == current["revision"]?.unsigned
            for name in names {
                switch value(name, before: before, after: after, isReached: isReached) {
                case .known(let value): known[name] = value
                case .absent: break
                case .unknown: unknown.append(name)
                }
            }
        }
        if let to = chapter.event["to"] { known["state"] = to }
        known["revision"] = .integer(chapter.revision)
        return Past(
            revision: chapter.revision, at: chapter.at, members: known,
            unknown: unknown.filter { known[$0] == nil })
    }

    private enum Value {
        case known(RawJSON)
        case absent
        case unknown
    }

    /// A member's value after the first of `before`, which goes back in time.
    private func value(_ name: String, before: [Chapter], after: [Chapter], isReached: Bool) -> Value {
        for chapter in before {
            if let value = chapter.patch[name] { return value.isNull ? .absent : .known(value) }
        }
        let isChangedLater = after.dropFirst().contains { $0.patch[name] != nil }
        if isReached, !isChangedLater, let value = current[name] { return .known(value) }
        return .unknown
    }

    /// The chapters from the first on as long as each is the neighbour of the one before it.
    private func unbroken(_ chapters: some Sequence<Chapter>) -> [Chapter] {
        var run: [Chapter] = []
        for chapter in chapters {
            if let last = run.last, max(last.revision, chapter.revision) - min(last.revision, chapter.revision) != 1 {
                break
            }
            run.append(chapter)
        }
        return run
    }

    /// All members that the entity has or had, in the order in which they are seen first.
    private var names: [String] {
        var seen: Set<String> = []
        let all = [current] + chapters.map(\.patch)
        return all.flatMap { $0.members.map(\.name) }.filter { seen.insert($0).inserted }
    }
}
