import IsletCore
import IsletProtocol

/// The commands that only look at widgets.
extension Partition {
    func readWidget(_ operation: WidgetOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        switch operation {
        case .get(let address): return show(address, envelope, frame) { writer, engine, record, now in
            writer.key("widget")
            writer.widget(
                record, machine: record.machine, revision: record.revision, stateAt: record.dates.stateAt, of: engine)
        }
        case .timeline(let address, let date): return show(address, envelope, frame) { writer, engine, record, now in
            writer.timeline(of: record, at: date, of: engine)
        }
        case .budget(let address): return show(address, envelope, frame) { writer, engine, record, now in
            writer.budget(engine.budget(of: record, at: now))
        }
        case .history(let address): return past(.history, address, envelope, frame)
        case .explain(let address): return past(.explain, address, envelope, frame)
        case .list(let list): return self.list(list, envelope, frame)
        case .kinds(let list): return listWidgetKinds(list, envelope, frame)
        case .snapshot(let snapshot): return takeSnapshot(snapshot, envelope, frame)
        case .options(let options): return listOptions(options, envelope, frame)
        case .recommendations(let address): return listRecommendations(address, envelope, frame)
        case .stack(let device): return showStack(of: frame.bytes(device), envelope, frame)
        case .add, .configure, .remove, .reload, .visible, .tap, .invalidateRelevance, .invalidateRecommendations:
            preconditionFailure("a change is no read")
        }
    }

    /// Answers with something of a widget, after what was due of it took effect.
    private func show(
        _ address: ControlAddress, _ envelope: Envelope, _ frame: Span<UInt8>,
        _ write: (inout JSONWriter, borrowing Engine, WidgetRecord, Instant) -> Void
    ) -> FrameResult {
        guard let widget = engine.readWidget(address, frame, at: now.domain, dating) else {
            return refuse(envelope, frame, .notFound)
        }
        encodeEvents(frame, nil)
        guard let record = engine.widgets.record(widget) else { return refuse(envelope, frame, .notFound) }
        let instant = now.domain
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("seq", engine.apps[engine.widgets.kinds.app(of: record.kind)].seq)
            write(&writer, engine, record, instant)
            writer.endObject()
        }
    }

    private func past(
        _ question: StoredPast.Question, _ address: ControlAddress, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        if isAnswerFull { return refuse(envelope, frame, .busy(retryAfter: Self.fullAnswerRetry)) }
        guard let widget = engine.readWidget(address, frame, at: now.domain, dating) else {
            return refuse(envelope, frame, .notFound)
        }
        encodeEvents(frame, nil)
        return past(question, of: .widget(widget), envelope, frame)
    }

    /// `widget.list` (`getCurrentConfigurations`).
    private func list(_ list: WidgetList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        if isAnswerFull { return refuse(envelope, frame, .busy(retryAfter: Self.fullAnswerRetry)) }
        guard let start = list.cursor.map({ cursors.slot(of: frame.text($0)) }) ?? 0 else {
            return refuse(envelope, frame, .badField(.cursor, .badCursor))
        }
        let scan = ListScan(filter: WidgetFilter(list, frame, engine), firstRow: start, limit: list.limit, cursors: cursors)
        if isThroughAtOnce({ scan.advance(engine, left: &$0) }) {
            return answer { scan.write(to: &$0, envelope, frame) }
        }
        return later(.widgetList(scan), envelope, frame)
    }

    /// `widget.snapshot`: an entry of no placed widget, asked of a provider now.
    private func takeSnapshot(
        _ snapshot: WidgetSnapshot, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        guard let kind = engine.findWidgetKind(snapshot.kind, frame),
            let declaration = engine.widgets.kinds[kind].declaration
        else { return refuse(envelope, frame, .kindUnknown(snapshot.kind.kind)) }
        guard declaration.families.contains(snapshot.family) else {
            return refuse(envelope, frame, .badField(.family, .unknownValue))
        }
        if snapshot.configuration != nil || !snapshot.isPreview,
            let refusal = misfit(snapshot.configuration, declaration, frame)
        {
            return refuse(envelope, frame, refusal)
        }
        let question = question(
            .widget(kind),
            .snapshot(
                snapshot.family, configuration: snapshot.configuration.map { frame.bytes($0) },
                isPreview: snapshot.isPreview))
        return ask(question, within: declaration.timelineDeadline, envelope, frame)
    }

    /// `widget.options`: what a parameter may be. Static ones are answered at once, others are asked for.
    private func listOptions(_ options: WidgetOptions, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let kind = engine.findWidgetKind(options.address, frame),
            let declaration = engine.widgets.kinds[kind].declaration
        else { return refuse(envelope, frame, .kindUnknown(options.address.kind)) }
        let name = frame.bytes(options.parameter)
        guard let parameter = declaration.parameters.first(where: { $0.name == name }) else {
            return refuse(envelope, frame, .badField(.parameter, .unknownValue))
        }
        guard parameter.hasDynamicOptions else {
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.key("options")
                writer.options(parameter.options)
                writer.endObject()
            }
        }
        var identifiers: [UInt8]?
        if case .entitiesFor(let range) = options.query { identifiers = frame.bytes(range) }
        let question = question(
            .widget(kind),
            .widgetOptions(
                parameter: name, configuration: options.configuration.map { frame.bytes($0) },
                query: options.query.wireName, identifiers: identifiers))
        return ask(question, within: declaration.timelineDeadline, envelope, frame)
    }

    /// `widget.recommendations`: from the cache, or asked of a provider.
    private func listRecommendations(
        _ address: ControlKindAddress, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        guard let kind = engine.findWidgetKind(address, frame),
            let declaration = engine.widgets.kinds[kind].declaration
        else { return refuse(envelope, frame, .kindUnknown(address.kind)) }
        let known = declaration.providesRecommendations ? engine.recommendations(of: kind) : Array("[]".utf8)
        guard let known else {
            return ask(
                question(.widget(kind), .recommendations), within: declaration.timelineDeadline, envelope, frame)
        }
        return answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("recommendations", raw: known.span)
            writer.endObject()
        }
    }

    /// `widget.stack`: the order of a device's Smart Stack now.
    private func showStack(of device: [UInt8], _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let rows = engine.smartStack(of: device, at: now.domain)
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.stack(rows, device: device.span, of: engine)
            writer.endObject()
        }
    }
}
