import IsletCore
import IsletProtocol

/// The commands that change widgets.
extension Partition {
    /// A change of a widget: once, however often it is sent (see `change`).
    func changeWidget(
        _ operation: WidgetOperation, _ envelope: Envelope, _ frame: Span<UInt8>, freshID: EntityID
    ) -> FrameResult {
        let outcome: Engine.WidgetOutcome
        switch operation {
        case .add(let add):
            if let refusal = refusal(of: add, frame) { return refuse(envelope, frame, refusal) }
            outcome = engine.addWidget(add, envelope, frame, at: now.domain, freshID: freshID)
        case .configure(let configure):
            if let refusal = refusal(of: configure, frame) { return refuse(envelope, frame, refusal) }
            outcome = engine.configureWidget(configure, envelope, frame, at: now.domain, dating)
        case .remove(let address):
            outcome = engine.removeWidget(address, envelope, frame, at: now.domain, dating)
        case .reload(let reload):
            if case .kind(let address) = reload, engine.findWidgetKind(address, frame) == nil {
                return refuse(envelope, frame, .kindUnknown(address.kind))
            }
            outcome = engine.reloadWidgets(reload, envelope, frame, at: now.domain, dating)
        case .visible(let address):
            outcome = engine.visibleWidget(address, envelope, frame, at: now.domain, dating)
        case .tap(let tap):
            switch tapping(tap, frame) {
            case .success(let tapping):
                outcome = engine.tapWidget(tap.address, tapping, envelope, frame, at: now.domain, dating)
            case .failure(let refusal): return refuse(envelope, frame, refusal)
            }
        case .invalidateRelevance(let address): return invalidateRelevance(address, envelope, frame)
        case .invalidateRecommendations(let app, let kind):
            return invalidateRecommendations(app, kind, envelope, frame)
        case .get, .history, .explain, .timeline, .budget, .list, .kinds, .snapshot, .options, .recommendations,
            .stack:
            preconditionFailure("a read is no change")
        }
        return answer(outcome, operation, envelope, frame)
    }

    private func answer(
        _ outcome: Engine.WidgetOutcome, _ operation: WidgetOperation, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        // Before its events leave: the slot of one that was removed is free then.
        var record: WidgetRecord?
        switch outcome {
        case .applied(let widget), .ignored(let widget, _): record = engine.widgets.record(widget)
        case .reloading, .invalidated, .refused: break
        }
        encodeEvents(frame, envelope)
        let seq = operation.app.flatMap { engine.apps.find($0, of: frame) }.map { engine.apps[$0].seq }
        var reason: IgnoreReason?
        var count: Int?
        switch outcome {
        case .applied: break
        case .reloading(let number), .invalidated(let number): count = number
        case .ignored(_, let why):
            statistics.ignored += 1
            reason = why
        case .refused(let refusal): return refuse(envelope, frame, refusal)
        }
        return answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("outcome", name: reason == nil ? "applied" : "ignored")
            if let reason { writer.field("reason", name: reason.wireName) }
            if let seq { writer.field("seq", seq) }
            if let count { writer.field("count", count) }
            if let record {
                writer.key("widget")
                writer.shortWidget(record)
            }
            writer.endObject()
        }
    }

    // MARK: What is checked with what the engine does not know

    private func refusal(of add: WidgetAdd, _ frame: Span<UInt8>) -> Refusal? {
        let address = ControlKindAddress(app: add.app, kind: add.kind)
        guard let kind = engine.findWidgetKind(address, frame),
            let declaration = engine.widgets.kinds[kind].declaration
        else { return .kindUnknown(add.kind) }
        guard declaration.families.contains(add.family) else { return .badField(.family, .unknownValue) }
        if let refusal = misfit(add.configuration, declaration, frame) { return refusal }
        return RenderingCheck.refusal(of: add.rendering, frame, by: declaration)
    }

    private func refusal(of configure: WidgetConfigure, _ frame: Span<UInt8>) -> Refusal? {
        guard let widget = engine.findWidget(configure.address, frame),
            let kind = engine.widgets.record(widget)?.kind
        else { return .notFound }
        guard let declaration = engine.widgets.kinds[kind].declaration else { return nil }
        if configure.configuration != nil, let refusal = misfit(configure.configuration, declaration, frame) {
            return refusal
        }
        return RenderingCheck.refusal(of: configure.rendering, frame, by: declaration)
    }

    func misfit(
        _ configuration: FrameRange?, _ declaration: WidgetKindDeclaration, _ frame: Span<UInt8>
    ) -> Refusal? {
        if let configuration, Int(configuration.count) > engine.rules.controlValueLimit {
            return .badField(.configuration, .tooLong)
        }
        let bytes = frame.extracting((configuration ?? FrameRange(0..<0)).indices)
        let misfit = KindParameter.misfit(of: bytes, to: declaration.parameters)
        return misfit.map { .badConfiguration(parameter: $0) }
    }

    /// What a tap comes to by the entry that is shown.
    private func tapping(_ tap: WidgetTap, _ frame: Span<UInt8>) -> Result<Engine.WidgetTapping, Refusal> {
        // What is due of it comes first: the entry may be another one.
        guard let widget = engine.readWidget(tap.address, frame, at: now.domain, dating),
            let record = engine.widgets.record(widget)
        else { return .failure(.notFound) }
        let entry = engine.withEntry(of: record) { [UInt8]($0) }
        switch tap.target {
        case .widget: return .success(.open(url: entry.isEmpty ? nil : EntryReading.url(of: entry.span)))
        case .link(let name):
            guard !entry.isEmpty, let url = EntryReading.link(named: frame.bytes(name), of: entry.span) else {
                return .failure(.badField(.link, .unknownValue))
            }
            return .success(.link(name: frame.bytes(name), url: url))
        case .action(let name, let parameters):
            guard !entry.isEmpty else { return .failure(.badField(.action, .notAllowedHere)) }
            guard providers.isServed(ServedKind.widget(record.kind).number) else {
                return .failure(.unavailable(.noProvider))
            }
            return .success(.action(name: frame.bytes(name), parameters: parameters.map { frame.bytes($0) }))
        }
    }

    // MARK: Relevance and recommendations

    private func invalidateRelevance(
        _ address: ControlKindAddress, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        guard let kind = engine.findWidgetKind(address, frame) else {
            return refuse(envelope, frame, .kindUnknown(address.kind))
        }
        let provides = engine.widgets.kinds[kind].declaration?.providesRelevance ?? false
        if provides { askRelevance(of: kind) } else { statistics.ignored += 1 }
        return answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("outcome", name: provides ? "applied" : "ignored")
            if !provides { writer.field("reason", name: IgnoreReason.unchanged.wireName) }
            writer.endObject()
        }
    }

    private func invalidateRecommendations(
        _ name: FrameRange, _ kindName: FrameRange?, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        var kind: DeclaredKindID?
        if let kindName {
            kind = engine.findWidgetKind(ControlKindAddress(app: name, kind: kindName), frame)
            if kind == nil { return refuse(envelope, frame, .kindUnknown(kindName)) }
        }
        var count = 0
        if let app = engine.apps.find(name, of: frame) {
            count = engine.dropRecommendations(app, kind)
            outdateRecommendations(app, kind)
        }
        encodeEvents(frame, envelope)
        return answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("outcome", name: "applied")
            writer.field("count", count)
            writer.endObject()
        }
    }

    func encode(_ event: WidgetEvent, _ frame: Span<UInt8>, _ envelope: Envelope?) {
        eventWriter.removeAll()
        eventWriter.topic(ofWidget: event.id, kind: event.kind, in: engine)
        let topicCount = eventWriter.count
        eventWriter.beginDocument()
        eventWriter.event(event, epoch: epoch, frame: frame, envelope: envelope, of: engine)
        image.removeAll()
        if isDurable { image.image(of: event, in: engine) }
        append(
            app: event.app, seq: event.seq, previous: event.previous, at: event.at, entity: event.id,
            revision: event.revision, topicCount: topicCount)
        countLateness(event.lateBy)
    }
}
