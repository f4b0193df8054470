import IsletCore
import IsletJournal
import IsletProtocol

/// From events to bytes, and back: what is published, answered, and kept for recovery.
enum CodecBench {
    private static let now = Instant(1_780_000_000_000)
    private static let epoch = Array("0198c0de-1c00-7a3e-9f21-3b5c8d7e0a11".utf8)
    /// A batch of the journal has so many events.
    private static let batchEvents = 64

    static func round(_ meter: inout Meter) throws {
        var engine = Engine(rules: .standard, start: now)
        var decoder = CommandDecoder()
        let startFrame = SampleFrames.start(1, staleDate: now.milliseconds + 3_600_000)
        let updateFrame = SampleFrames.update(2, of: 1)

        let start = try execute(startFrame, &decoder, &engine)
        let started = engine.events[0]
        measureEvent(&meter, "event, started", started, start, startFrame, engine)
        engine.releaseEvents()
        let update = try execute(updateFrame, &decoder, &engine)
        let updated = engine.events[0]
        measureEvent(&meter, "event, updated", updated, update, updateFrame, engine)
        try measureImage(&meter, updated, engine)
        measureAnswer(&meter, updated, update, updateFrame, engine)

        var writer = JSONWriter()
        writer.event(updated, epoch: epoch, frame: updateFrame.span, envelope: update.envelope, of: engine)
        let json = writer.copy()
        meter.measure("event, parts") { _ in
            // An event that this wrote is an object.
            guard let parts = try? EventParts(of: json.span) else { preconditionFailure("not an object") }
            precondition(parts.contentState != nil)
        }
        measureBatch(&meter, json)
    }

    private static func execute(
        _ frame: [UInt8], _ decoder: inout CommandDecoder, _ engine: inout Engine
    ) throws -> Command {
        let command = try decoder.withDecoded(frame.span) { outcome, _ in outcome }.get()
        let outcome = engine.apply(command, of: frame.span, at: now, freshID: EntityID(high: 0, low: 0))
        guard case .applied = outcome else { preconditionFailure("a sample is refused: \(outcome)") }
        return command
    }

    private static func measureEvent(
        _ meter: inout Meter, _ name: String, _ event: ActivityEvent, _ command: Command, _ frame: [UInt8],
        _ engine: borrowing Engine
    ) {
        var writer = JSONWriter(capacity: 1 << 14)
        meter.measure(name) { _ in
            writer.removeAll()
            writer.topic(of: event.id, kind: event.kind, in: engine)
            writer.beginDocument()
            writer.event(event, epoch: epoch, frame: frame.span, envelope: command.envelope, of: engine)
        }
        precondition(writer.count > 0)
    }

    private static func measureImage(
        _ meter: inout Meter, _ event: ActivityEvent, _ engine: borrowing Engine
    ) throws {
        var image = ImageWriter()
        meter.measure("image") { _ in
            image.removeAll()
            image.image(of: event, in: engine)
        }
        let bytes = image.bytes
        var revision = UInt32(0)
        try meter.measure("image, read") { _ in revision = try ActivityImage(bytes.span).revision }
        precondition(revision == event.revision)
    }

    private static func measureAnswer(
        _ meter: inout Meter, _ event: ActivityEvent, _ command: Command, _ frame: [UInt8], _ engine: borrowing Engine
    ) {
        var writer = JSONWriter()
        let reference = SlotRef(slot: event.slot, generation: 0)
        precondition(engine.record(reference) != nil)
        meter.measure("answer") { _ in
            writer.removeAll()
            writer.applied(command.envelope, frame.span, seq: event.seq, activity: reference, of: engine)
        }
    }

    private static func measureBatch(_ meter: inout Meter, _ json: [UInt8]) {
        var batch = JournalBatch(number: 1)
        let app = Array(SampleFrames.app.utf8)
        let topic = Array("\(SampleFrames.app)/activity/Bench/\(SampleFrames.id(1))".utf8)
        let image = [UInt8](repeating: 7, count: 100)
        var seq: UInt64 = 0
        meter.measure("batch, append") { _ in
            if batch.events.count == batchEvents { batch.reset(number: 1) }
            seq += 1
            batch.append(
                stream: 0, app: app.span, seq: seq, previous: seq - 1, at: now.milliseconds, topic: topic.span,
                json: json.span, image: image.span)
        }
    }
}
