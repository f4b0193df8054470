import IsletJournal

/// What recovery told, in words that can be compared.
final class Recorded: RecoveryVisitor {
    private(set) var lines: [String] = []

    func begin(batch number: UInt64, at: Int64) { lines.append("batch \(number) at \(at)") }

    func fact(_ content: Span<UInt8>) { lines.append("fact \(text(content))") }

    func event(
        app: Span<UInt8>, seq: UInt64, previous: UInt64, topic: Span<UInt8>, json: Span<UInt8>, image: Span<UInt8>
    ) {
        lines.append("\(text(app)) \(seq)<\(previous) \(text(topic)) \(text(json)) \(text(image))")
    }

    func endStream(app: Span<UInt8>, seq: UInt64, entities: Int, digest: UInt64) {
        lines.append("\(text(app)) ends at \(seq): \(entities), \(digest)")
    }
}

func text(_ span: Span<UInt8>) -> String {
    span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
}

/// An event of a sample batch.
struct SampleEvent {
    var app: String
    var seq: UInt64
    var previous: UInt64 = 0
    var padding = 0

    var json: String {
        let filler = String(repeating: "x", count: padding)
        return """
            {"seq":\(seq),"event":"activity.updated","activity":{"id":"a-\(seq)"},"filler":"\(filler)"}
            """
    }
    var topic: String { "\(app)/activity/a-\(seq)" }
    var image: String { "image-\(seq)" }
    var line: String { "\(app) \(seq)<\(previous) \(topic) \(json) \(image)" }
}

extension JournalBatch {
    /// A batch with some events, notes and answers.
    static func sample(
        _ number: UInt64, _ events: [SampleEvent] = [], facts: [String] = [], answers: [String] = [], at: Int64? = nil
    ) -> JournalBatch {
        let time = at ?? 1_000 * Int64(number)
        var batch = JournalBatch(number: number)
        for event in events {
            batch.append(
                stream: event.app.utf8.reduce(7) { $0 &* 31 &+ UInt32($1) }, app: Array(event.app.utf8).span,
                seq: event.seq, previous: event.previous, at: time, topic: Array(event.topic.utf8).span,
                json: Array(event.json.utf8).span, image: Array(event.image.utf8).span)
        }
        for fact in facts { batch.note(Array(fact.utf8).span) }
        for answer in answers { batch.remember(Array(answer.utf8).span) }
        batch.close(at: time) { _ in (entities: events.count, digest: 77) }
        return batch
    }

    /// One event of one app, with the number of the batch as its sequence number.
    static func single(_ number: UInt64, app: String = "com.a", padding: Int = 0, at: Int64? = nil) -> JournalBatch {
        let event = SampleEvent(app: app, seq: number, previous: number - 1, padding: padding)
        return sample(number, [event], answers: ["answer \(number)"], at: at)
    }
}

extension Store {
    /// Everything that recovery tells of the batches after that one.
    func recorded(after number: UInt64 = 0) throws -> [String] {
        let visitor = Recorded()
        try forEachBatch(after: number, visitor)
        return visitor.lines
    }

    /// The answers that are kept.
    func answers(since: Int64 = 0) throws -> [String] {
        var lines: [String] = []
        try forEachAnswer(since: since) { batch, at, answer in lines.append("\(batch) at \(at): \(text(answer))") }
        return lines
    }

    /// The entities of the snapshot.
    func entities() throws -> [String] {
        var lines: [String] = []
        try forEachEntity { entity in
            let places = entity.parts
            let parts = [
                places.id, places.app, places.kind, places.key, places.device, places.attributes, places.content,
            ]
            .map { String(decoding: entity.copy($0), as: UTF8.self) }
            let image = String(decoding: entity.copy(places.image), as: UTF8.self)
            lines.append("\(entity.slot) r\(entity.revision) s\(entity.seq) \(parts.joined(separator: "|")) \(image)")
        }
        return lines
    }

    /// The facts of the snapshot, sorted.
    func facts() throws -> [String] {
        var lines: [String] = []
        try forEachFact { key, value in lines.append("\(text(key)): \(text(value))") }
        return lines.sorted()
    }
}

extension StateChunk {
    /// Adds an entity that says which one it is.
    mutating func add(slot: UInt64, revision: UInt64 = 1, seq: UInt64 = 1, nextAt: Int64? = nil, content: String = "{}")
    {
        var entity = Entity(slot: slot)
        entity.id = keep("a-\(slot)")
        entity.app = keep("com.a")
        entity.kind = keep("Delivery")
        entity.key = keep("key-\(slot)")
        entity.device = keep("phone")
        entity.state = keep("active")
        entity.revision = revision
        entity.seq = seq
        entity.nextAt = nextAt
        if nextAt != nil { entity.nextCause = keep("stale") }
        entity.attributes = keep("{\"a\":1}")
        entity.content = keep(content)
        entity.image = keep("image-\(slot)")
        append(entity)
    }

    mutating func keep(_ text: String) -> Slice { store(Array(text.utf8).span) }
}
