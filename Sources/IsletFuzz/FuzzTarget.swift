import IsletCore
import IsletJournal
import IsletProtocol

/// What a fuzzer, and the test that runs its corpus, throws bytes at. Each takes whatever comes and must not trap.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A frame on its way to a command.
    case command
    /// JSON that is carried through, and the JSON of a stored event.
    case json
    /// The packed columns of a row of the journal.
    case rows
    /// The after-image of an activity, a control, a widget or a group's key.
    case image
    /// A fact of the snapshot, and a client's trace.
    case fact
    /// An answer that was remembered.
    case answer

    /// Takes an input apart.
    package func run(_ bytes: Span<UInt8>) {
        switch self {
        case .command: Self.command(bytes)
        case .json: Self.json(bytes)
        case .rows: Self.rows(bytes)
        case .image: Self.image(bytes)
        case .fact: Self.fact(bytes)
        case .answer: Self.answer(bytes)
        }
    }

    private static func command(_ bytes: Span<UInt8>) {
        var decoder = CommandDecoder()
        // Twice: a decoder is used again, expects the names of the first time, and the same bytes mean the same.
        let first = decoder.withDecoded(bytes) { outcome, frame in
            if case .success(let command) = outcome { read(command, frame) }
            return outcome
        }
        let second = decoder.withDecoded(bytes) { outcome, _ in outcome }
        precondition(first == second, "the same frame was read in two ways")
    }

    /// What the service reads of a frame beyond its command: what providers of widgets say.
    private static func read(_ command: Command, _ frame: Span<UInt8>) {
        let kind = WidgetKindDeclaration(kind: [], families: [.systemMedium])
        if case .widget(.add(let add)) = command.operation {
            _ = RenderingCheck.refusal(of: add.rendering, frame, by: kind)
        }
        if case .providerFail(let fail) = command.operation, let message = fail.message {
            let reason = FailureReason.json(of: message, in: frame)
            let isString = (try? JSONScanner.scanValue(reason.span))?.kind == .string
            precondition(reason.isEmpty || isString, "a reason that is no text")
        }
        guard case .providerAnswer(let answer) = command.operation else { return }
        if let value = answer.value {
            _ = RelevanceReading.read(frame, at: value)
            _ = RecommendationsReading.areRecommendations(frame, at: value, for: kind)
            _ = KindParameter.Option.areOptions(frame, at: value)
        }
        let timeline = try? TimelineReading.read(
            frame, entries: answer.entries, policy: answer.policy, needsLogin: answer.needsLogin,
            family: .systemMedium, limit: 256)
        for entry in timeline?.entries ?? [] {
            let bytes = frame.extracting(entry.bytes.indices)
            _ = EntryReading.url(of: bytes)
            _ = EntryReading.link(named: [UInt8(ascii: "a")], of: bytes)
        }
    }

    private static func json(_ bytes: Span<UInt8>) {
        _ = try? JSONScanner.scanValue(bytes)
        var reasons = ToldReasons()
        reasons.add(bytes, seq: 1)
        do throws(ScanError) {
            try JSONScanner.scanObject(bytes) { member in
                _ = bytes.extracting(member.value.range.indices)
                if member.value.kind == .string { _ = member.value.text.string(in: bytes) }
                _ = member.name.string(in: bytes)
            }
            let parts = try EventParts(of: bytes)
            for part in [parts.key, parts.device, parts.attributes, parts.contentState] {
                if let part { _ = bytes.extracting(part.indices) }
            }
        } catch {
            precondition((0...bytes.count).contains(error.offset), "an error outside of the bytes")
        }
    }

    /// The first byte says how many events, the second where the first column ends.
    private static func rows(_ bytes: Span<UInt8>) {
        try? PackedRow.forEachNote(bytes) { _ in }
        guard bytes.count >= 2 else { return }
        let columns = bytes.extracting(2..<bytes.count)
        let end = min(Int(bytes[1]), columns.count)
        let (body, recovery) = (columns.extracting(0..<end), columns.extracting(end..<columns.count))
        try? PackedRow.forEachEvent(body: body, recovery: recovery, count: Int(bytes[0])) { event in
            _ = body.extracting(event.json)
            _ = recovery.extracting(event.topic)
            _ = recovery.extracting(event.image)
            return true
        }
    }

    /// What can be read is taken back, or refused.
    private static func image(_ bytes: Span<UInt8>) {
        _ = try? ActivityImage(bytes)
        _ = try? GroupImage(bytes)
        let (id, name) = (EntityID(high: 1, low: 2), Array("a".utf8))
        if let image = try? ControlImage(bytes) {
            var engine = Engine(rules: .standard, start: Instant(0))
            _ = try? engine.restoreControl(id, at: 0, seq: 1, image, app: name, kind: name)
            _ = try? engine.finishRestoring(isProven: false)
        }
        if let image = try? WidgetImage(bytes) {
            var engine = Engine(rules: .standard, start: Instant(0))
            _ = try? engine.restoreWidget(id, at: 0, seq: 1, image, app: name, kind: name)
            _ = try? engine.restoreWidget(id, seq: 2, image, app: name, kind: name)
            _ = try? engine.finishRestoring(isProven: false)
        }
    }

    /// The first byte says where the key ends.
    private static func fact(_ bytes: Span<UInt8>) {
        guard bytes.count >= 1 else { return }
        let rest = bytes.extracting(1..<bytes.count)
        let end = min(Int(bytes[0]), rest.count)
        let (key, value) = (rest.extracting(0..<end), rest.extracting(end..<rest.count))
        var engine = Engine(rules: .standard, start: Instant(0))
        if (try? engine.restoreFact(key, value, isInSnapshot: false)) == true { _ = engine.forgetFact(key) }
        _ = engine.restoreLock(key, isLocked: true, isInSnapshot: true)
        _ = try? engine.restoreReload(key, value, isInSnapshot: true)
        _ = try? engine.restoreGroupFact(key, value, isInSnapshot: true)
        if let fact = try? Engine.controlKindFact(key, value),
            let declaration = try? KindDeclarations.readOne(fact.declaration.span)
        {
            _ = try? engine.restoreControlKind(declaration, fact, isInSnapshot: true)
        }
        if let fact = try? Engine.widgetKindFact(key, value),
            let declaration = try? WidgetDeclarations.readOne(fact.declaration.span)
        {
            _ = try? engine.restoreWidgetKind(declaration, fact, isInSnapshot: true)
        }
        var retries = RetryWindow()
        _ = try? retries.restoreTrace(key, value, lastBatch: 1)
    }

    private static func answer(_ bytes: Span<UInt8>) {
        var retries = RetryWindow()
        for batch: UInt64 in 1...2 { try? retries.restoreAnswer(bytes, batch: batch, at: Instant(1_000)) }
        _ = retries.forgetExpired(at: Instant(1_000_000_000))
    }
}
