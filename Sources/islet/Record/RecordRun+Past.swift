import IsletClient

/// A snapshot of before: what there is, without what the events since then have made of it.
extension RecordRun {
    /// Where the streams of the apps begin, and the date of the first event after that.
    typealias Beginnings = (at: Int64, starts: [String: UInt64])

    /// How many entities are asked for together.
    private static let readsMax = 64

    /// Looks for the beginnings; nil where it begins now.
    func beginnings(now: Int64) async throws -> Beginnings? {
        guard let since, since.isSet else { return nil }
        let date = try await since.date { now }
        var at = now
        var starts: [String: UInt64] = [:]
        for (app, position) in apps.sorted(by: { $0.key < $1.key }) {
            let start = try await connection.start(of: app, since: date, head: position.seq, timeout: timeout)
            if let message = start.text(of: app) { Console.message(message) }
            starts[app] = start.seq
            let first = try await firstEvent(of: app, after: start.seq, head: position.seq)
            at = min(at, first?.at ?? at)
        }
        return (at, starts)
    }

    private func firstEvent(of app: String, after seq: UInt64, head: UInt64) async throws -> StreamEvent? {
        guard seq < head else { return nil }
        return try await withRoom(for: app) { room throws(IsletError) in
            try await connection.events(of: app, from: seq, through: seq + 1, bytesMax: room, timeout: timeout)
        }.first
    }

    /// Brings a snapshot back to an earlier moment.
    ///
    /// What no event has changed since then is as it was. What began since then is left out. All else is put together
    /// from its own events; what they do not tell any more is left out, and said.
    func bringBack(_ cut: inout SnapshotCut, of app: String, to seq: UInt64) async throws {
        guard seq < cut.position.seq else { return }
        let end = cut.position.seq
        let events = try await withRoom(for: app) { room throws(IsletError) in
            try await connection.events(of: app, from: seq, through: end, bytesMax: room, timeout: timeout)
        }
        cut.knownTo = seq
        var first: [String: StreamEvent] = [:]
        for event in events where event.topic.hasPrefix(prefix) && event.revision != nil && first[event.topic] == nil {
            first[event.topic] = event
        }
        for topic in first.keys { cut.replace(topic, by: nil) }
        // An event of a key of a group has all of it; what it was before, nothing tells.
        let older = first.values.filter { !$0.isStart && $0.family != .group }.sorted { $0.seq < $1.seq }[...]
        var lost = first.values.count { $0.name == "group.deleted" }
        var rest = older
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.readsMax))
            rest = rest.dropFirst(Self.readsMax)
            for (event, past) in zip(part, try await pasts(of: part, app)) {
                guard let past, let family = event.family?.rawValue else {
                    lost += 1
                    continue
                }
                let bytes = RawJSON.object([.init(family, past.members.json)]).bytes
                cut.replace(event.topic, by: SnapshotCut.Row(bytes: bytes, revision: past.revision))
            }
        }
        guard lost > 0 else { return }
        Console.message(
            "\(app): what \(RecordCounts.entities(lost)) had then is not kept: the events are recorded, and not what "
                + "they changed")
    }

    /// What entities were before an event of each; nil where not all of it is known.
    private func pasts(of events: [StreamEvent], _ app: String) async throws -> [EntityStory.Past?] {
        func reads(_ verb: String) -> [Command] {
            events.map { event in
                var read = Command("\(event.family?.rawValue ?? "activity").\(verb)", app: app)
                read["id"] = event.id.map(RawJSON.string)
                return read
            }
        }
        let histories = await connection.send(batch: reads("history"), timeout: timeout)
        let presents = await connection.send(batch: reads("get"), timeout: timeout)
        var pasts: [EntityStory.Past?] = []
        for (event, (history, present)) in zip(events, zip(histories, presents)) {
            pasts.append(Self.past(before: event, try Self.answer(history), try Self.answer(present)))
        }
        return pasts
    }

    /// nil where it is refused, as of what is gone.
    private static func answer(_ result: Result<Answer, IsletError>) throws(IsletError) -> Answer? {
        do {
            return try result.get()
        } catch {
            guard case .refused = error else { throw error }
            return nil
        }
    }

    private static func past(before event: StreamEvent, _ history: Answer?, _ present: Answer?) -> EntityStory.Past? {
        guard let history, let present, let revision = event.revision, revision > 1, let family = event.family else {
            return nil
        }
        let story = EntityStory(
            (history["events"]?.elements ?? []).compactMap(\.object),
            isComplete: history["complete"]?.bool ?? false, noun: family.rawValue,
            current: EntityText.entity(present) ?? [:])
        guard let chapter = story.chapter(revision: revision - 1) else { return nil }
        let past = story.past(chapter)
        return past.unknown.isEmpty && past.members["app"] != nil ? past : nil
    }
}
