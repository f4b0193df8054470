import IsletCore
import IsletProtocol

/// The commands about controls.
extension Partition {
    /// A change of a control: once, however often it is sent (see `change`).
    func changeControl(_ command: Command, _ frame: Span<UInt8>, freshID: EntityID) -> FrameResult {
        let envelope = command.envelope
        if let refusal = refusalBefore(command, frame) { return refuse(envelope, frame, refusal) }
        let outcome: Engine.ControlOutcome
        switch command.operation {
        case .controlAdd(let add):
            outcome = engine.addControl(add, envelope, frame, at: now.domain, freshID: freshID)
        case .controlConfigure(let configure):
            outcome = engine.configureControl(configure, envelope, frame, at: now.domain, dating)
        case .controlRemove(let address):
            outcome = engine.removeControl(address, envelope, frame, at: now.domain, dating)
        case .controlTap(let address):
            outcome = engine.tapControl(address, isOn: nil, envelope, frame, at: now.domain, dating)
        case .controlSet(let set):
            outcome = engine.tapControl(set.address, isOn: set.isOn, envelope, frame, at: now.domain, dating)
        case .controlReload(let reload):
            outcome = engine.reloadControls(reload, envelope, frame, at: now.domain, dating)
        default: preconditionFailure("no change of a control")
        }
        return answerControl(outcome, command, frame)
    }

    private func answerControl(
        _ outcome: Engine.ControlOutcome, _ command: Command, _ frame: Span<UInt8>
    ) -> FrameResult {
        let envelope = command.envelope
        // Before its events leave: the slot of one that was removed is free then.
        var record: ControlRecord?
        switch outcome {
        case .applied(let control), .ignored(let control, _): record = engine.controls.record(control)
        case .reloading, .refused, .notAToggle: break
        }
        encodeEvents(frame, envelope)
        let seq = command.operation.app.flatMap { engine.apps.find($0, of: frame) }.map { engine.apps.seq(of: $0) }
        switch outcome {
        case .applied:
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("outcome", name: "applied")
                if let seq { writer.field("seq", seq) }
                if let record {
                    writer.key("control")
                    writer.shortControl(record)
                }
                writer.endObject()
            }
        case .reloading(let count):
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("outcome", name: "applied")
                if let seq { writer.field("seq", seq) }
                writer.field("count", count)
                writer.endObject()
            }
        case .ignored(_, let reason):
            statistics.ignored += 1
            return answer { writer in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("outcome", name: "ignored")
                writer.field("reason", name: reason.wireName)
                if let seq { writer.field("seq", seq) }
                if let record {
                    writer.key("control")
                    writer.shortControl(record)
                }
                writer.endObject()
            }
        case .refused(let refusal): return refuse(envelope, frame, refusal)
        case .notAToggle: return refuse(envelope, frame, .badField(.value, .notAllowedHere))
        }
    }

    /// What is checked with what the engine does not know: the kind's parameters, and who provides it.
    private func refusalBefore(_ command: Command, _ frame: Span<UInt8>) -> Refusal? {
        switch command.operation {
        case .controlAdd(let add):
            let address = ControlKindAddress(app: add.app, kind: add.kind)
            guard let kind = engine.findControlKind(address, frame) else { return .kindUnknown(add.kind) }
            return misfit(add.configuration, kind, frame)
        case .controlConfigure(let configure):
            guard let control = engine.findControl(configure.address, frame),
                let kind = engine.controls.record(control)?.kind
            else { return .notFound }
            return misfit(configure.configuration, kind, frame)
        case .controlTap(let address): return unprovided(address, frame)
        case .controlSet(let set): return unprovided(set.address, frame)
        case .controlReload(.kind(let address)):
            return engine.findControlKind(address, frame) == nil ? .kindUnknown(address.kind) : nil
        default: return nil
        }
    }

    private func misfit(_ configuration: FrameRange?, _ kind: ControlKindID, _ frame: Span<UInt8>) -> Refusal? {
        guard let declaration = engine.controls.kinds[kind].declaration else { return nil }
        if let configuration, Int(configuration.count) > engine.rules.controlValueLimit {
            return .badField(.configuration, .tooLong)
        }
        let bytes = frame.extracting((configuration ?? FrameRange(0..<0)).indices)
        let misfit = KindParameter.misfit(of: bytes, to: declaration.parameters)
        return misfit.map { .badConfiguration(parameter: $0) }
    }

    /// An action that nobody can perform does not begin.
    private func unprovided(_ address: ControlAddress, _ frame: Span<UInt8>) -> Refusal? {
        guard let control = engine.findControl(address, frame), let record = engine.controls.record(control) else {
            return .notFound
        }
        let policyWaits = record.machine.state == .disabled
        return policyWaits || providers.isServed(record.kind) ? nil : .unavailable(.noProvider)
    }

    // MARK: Reads

    /// `control.get`, and with `maxAge` once its value is fresh enough.
    func getControl(_ get: ControlGet, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let control = engine.readControl(get.address, frame, at: now.domain, dating) else {
            return refuse(envelope, frame, .notFound)
        }
        encodeEvents(frame, nil)
        guard let maxAge = get.maxAge, let record = engine.controls.record(control),
            !record.machine.isFresh(within: maxAge, at: now.domain), engine.refreshControl(control, at: now.domain)
        else { return showControl(control, envelope, frame) }
        encodeEvents(frame, nil)
        let limit = engine.controls.kinds[record.kind].declaration?.valueDeadline ?? Self.minSeqWait
        let wanted = WantedValue(
            control: control, maxAge: maxAge, since: now.domain, callsBefore: record.callSerial,
            deadline: now.monotonic + min(envelope.ttl ?? limit, limit))
        return later(.controlValue(wanted), envelope, frame)
    }

    func showControl(_ control: SlotRef, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let record = engine.controls.record(control) else { return refuse(envelope, frame, .notFound) }
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("seq", engine.apps[engine.controls.kinds.app(of: record.kind)].seq)
            writer.key("control")
            writer.control(
                record, machine: record.machine, revision: record.revision, stateAt: record.dates.stateAt, of: engine)
            writer.endObject()
        }
    }

    /// `control.preview`: what a gallery shows (C1); the provider is not asked.
    func previewControl(_ address: ControlKindAddress, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let kind = engine.findControlKind(address, frame),
            let declaration = engine.controls.kinds[kind].declaration
        else { return refuse(envelope, frame, .kindUnknown(address.kind)) }
        return answer { writer in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.key("preview")
            writer.beginObject()
            writer.field("state", name: ControlState.preview.wireName)
            if !declaration.previewValue.isEmpty { writer.field("value", raw: declaration.previewValue.span) }
            writer.field("kind", raw: declaration.json.span)
            writer.endObject()
            writer.endObject()
        }
    }

    /// `control.list`.
    func list(_ list: ControlList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let start = list.cursor.map({ cursors.slot(of: frame.text($0)) }) ?? 0 else {
            return refuse(envelope, frame, .badField(.cursor, .badCursor))
        }
        let scan = ListScan(filter: ControlFilter(list, frame, engine), firstRow: start, limit: list.limit, cursors: cursors)
        if isThroughAtOnce({ scan.advance(engine, left: &$0) }) {
            return answer { scan.write(to: &$0, envelope, frame) }
        }
        return later(.controlList(scan), envelope, frame)
    }

    // MARK: Options

    /// `control.options`: what a parameter may be. Static ones are answered at once, others are asked for.
    func listOptions(_ options: ControlOptions, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard let kind = engine.findControlKind(options.address, frame),
            let declaration = engine.controls.kinds[kind].declaration
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
        let question = question(
            .control(kind),
            .controlOptions(parameter: name, configuration: options.configuration.map { frame.bytes($0) }))
        return ask(question, within: declaration.valueDeadline, envelope, frame)
    }

    /// The answer to `control.get` with `maxAge`, once the value is there or will not come in time.
    func finishValue(_ wanted: WantedValue, _ job: Job) -> FrameResult? {
        if let record = engine.controls.record(wanted.control), now.monotonic < wanted.deadline {
            guard !record.machine.hasCall || wanted.isThere(in: record, at: now.domain) else {
                // It may have been asked for among many.
                heldReads.bringForward(wanted.control)
                return nil
            }
        }
        let req = job.req
        return showControl(wanted.control, job.envelope, req.span)
    }
}
