import IsletCore
import IsletProtocol

/// A service without sockets: commands go through the decoder into an engine, and what the engine says is encoded.
struct GoldenScenario: ~Copyable {
    static let app = "com.example.pizza"
    static let epoch = Array("k3v9".utf8)
    static let begin = Instant(1_763_700_000_000)

    private var engine: Engine
    private var decoder = CommandDecoder()
    private var now = GoldenScenario.begin
    private var made: UInt64 = 0
    /// The events, each as its name and its bytes.
    private(set) var events: [(name: String, json: String)] = []
    /// The answers.
    private(set) var answers: [String] = []

    init(rules: RuleSet = .standard) {
        engine = Engine(rules: rules, start: GoldenScenario.begin)
    }

    /// Sends a command some milliseconds after the one before; deadlines on the way take effect at their dates.
    mutating func send(after span: Milliseconds = 0, _ frame: String) {
        wait(span)
        made += 1
        let freshID = EntityID(version7At: now, random: (made, made << 32 | 0x5EED))
        let (outcome, envelope, bytes) = decoder.withDecoded(Array(frame.utf8).span) {
            (outcome, bytes) -> (Result<Command, RefusedCommand>, Envelope, [UInt8]) in
            let copy = bytes.withUnsafeBufferPointer { Array($0) }
            switch outcome {
            case .success(let command): return (outcome, command.envelope, copy)
            case .failure(let refused): return (outcome, refused.envelope, copy)
            }
        }
        var writer = JSONWriter()
        switch outcome {
        case .failure(let refused): writer.refused(envelope, bytes.span, refused.refusal)
        case .success(let command):
            let result = engine.apply(command, of: bytes.span, at: now, dating: .whenDue, freshID: freshID)
            encodeEvents(bytes, envelope)
            answer(command, result, envelope, bytes, &writer)
        }
        if envelope.wantsAnswer { answers.append(String(decoding: writer.copy(), as: UTF8.self)) }
    }

    /// Lets time pass.
    mutating func wait(_ span: Milliseconds) {
        let target = now + span
        while engine.nextWork() <= target {
            now = max(now, engine.nextWork())
            _ = engine.fireDue(at: now, dating: .whenDue, limit: 100)
            encodeEvents([], nil)
        }
        now = target
    }

    private func answer(
        _ command: Command, _ outcome: Engine.Outcome, _ envelope: Envelope, _ frame: [UInt8],
        _ writer: inout JSONWriter
    ) {
        switch outcome {
        case .applied(let activity):
            writer.applied(envelope, frame.span, seq: engine.apps.apps.first?.seq, activity: activity, of: engine)
        case .ignored(let activity, let reason):
            writer.ignored(
                envelope, frame.span, reason, seq: engine.apps.apps.first?.seq ?? 0, activity: activity, of: engine)
        case .refused(let refusal): writer.refused(envelope, frame.span, refusal)
        case .found(let reference):
            guard let record = engine.record(reference) else { return }
            writer.beginAnswer(envelope, frame.span, ok: true)
            if case .activityGet = command.operation { writer.field("seq", engine.apps.apps.first?.seq ?? 0) }
            writer.key("activity")
            writer.activity(
                record, at: reference.slot, machine: record.machine, revision: record.revision, of: engine)
            if case .activityExplain = command.operation { writer.decisions(RememberedDecisions(aboutActivity: record.id, of: engine.app(of: record), in: engine)) }
            writer.endObject()
        }
    }

    private mutating func encodeEvents(_ frame: [UInt8], _ envelope: Envelope?) {
        for event in engine.events {
            var writer = JSONWriter()
            writer.event(
                event, epoch: GoldenScenario.epoch, frame: frame.span, envelope: envelope, of: engine)
            events.append(("\(event.name.wireName)", String(decoding: writer.copy(), as: UTF8.self)))
        }
        engine.releaseEvents()
    }

    /// The watermark of the app.
    func watermark(isClosing: Bool) -> String {
        guard let app = engine.apps.apps.first else { return "" }
        var writer = JSONWriter()
        writer.watermark(
            epoch: GoldenScenario.epoch, seq: app.seq, entities: app.entities, digest: app.digest, at: now,
            isClosing: isClosing)
        return String(decoding: writer.copy(), as: UTF8.self)
    }
}
