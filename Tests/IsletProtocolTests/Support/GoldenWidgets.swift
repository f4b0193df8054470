import IsletCore
import IsletProtocol

/// Widgets and their provider without sockets: commands go through the decoder into an engine, and its events and calls
/// are encoded.
struct GoldenWidgets: ~Copyable {
    private(set) var engine: Engine
    private var decoder = CommandDecoder()
    private(set) var now = GoldenScenario.begin
    private var made: UInt64 = 0
    private var lastCall: UInt64 = 0
    /// What each call that was made is for.
    private(set) var open: [UInt64: (widget: SlotRef, isAction: Bool)] = [:]
    /// The events, each as its name and its bytes.
    private(set) var events: [(name: String, json: String)] = []
    /// What goes to the provider.
    private(set) var calls: [(op: String, json: String)] = []
    /// What was refused or ignored.
    private(set) var dropped: [String] = []

    init(rules: RuleSet = .standard) {
        engine = Engine(rules: rules, start: GoldenScenario.begin)
    }

    /// Sends a command some milliseconds after the one before.
    mutating func send(after span: Milliseconds = 0, _ frame: String) {
        wait(span)
        let decoded = Decoded(Array(frame.utf8), with: &decoder)
        guard let command = try? decoded.outcome.get() else {
            dropped.append("\(decoded.verdict): \(frame)")
            return
        }
        made += 1
        let freshID = EntityID(version7At: now, random: (made, made << 32 | 0x5EED))
        execute(command, decoded.frame, freshID)
        encode(decoded.frame, command.envelope)
    }

    private mutating func execute(_ command: Command, _ bytes: [UInt8], _ freshID: EntityID) {
        let (envelope, frame) = (command.envelope, bytes.span)
        switch command.operation {
        case .providerRegister(let register): self.register(register, bytes)
        case .providerAnswer(let answer): self.answer(answer, bytes)
        case .providerFail(let fail):
            let reason = fail.message.map { FailureReason.json(of: $0, in: frame) } ?? []
            end(number(fail.call, bytes), .threw, reason: reason)
        case .widget(.add(let add)): note(engine.addWidget(add, envelope, frame, at: now, freshID: freshID))
        case .widget(.configure(let configure)):
            note(engine.configureWidget(configure, envelope, frame, at: now, .whenDue))
        case .widget(.remove(let address)): note(engine.removeWidget(address, envelope, frame, at: now, .whenDue))
        case .widget(.reload(let reload)): note(engine.reloadWidgets(reload, envelope, frame, at: now, .whenDue))
        case .widget(.visible(let address)): note(engine.visibleWidget(address, envelope, frame, at: now, .whenDue))
        case .widget(.tap(let tap)): self.tap(tap, envelope, bytes)
        case .deviceEvent:
            let outcome = engine.apply(command, of: frame, at: now, dating: .whenDue, freshID: freshID)
            if case .refused(let refusal) = outcome { dropped.append("\(refusal)") }
        default: dropped.append("\(command.operation)")
        }
    }

    private mutating func tap(_ tap: WidgetTap, _ envelope: Envelope, _ bytes: [UInt8]) {
        guard let widget = engine.findWidget(tap.address, bytes.span), let record = engine.widgets.record(widget) else {
            dropped.append("notFound")
            return
        }
        let tapping: Engine.WidgetTapping
        switch tap.target {
        case .widget: tapping = .open(url: engine.entryURL(of: record))
        case .link(let range):
            let name = Array(bytes[range.indices])
            guard let url = engine.entryLink(named: name, of: record) else {
                dropped.append("no such link")
                return
            }
            tapping = .link(name: name, url: url)
        case .action(let name, let parameters):
            tapping = .action(name: Array(bytes[name.indices]), parameters: parameters.map { Array(bytes[$0.indices]) })
        }
        note(engine.tapWidget(tap.address, tapping, envelope, bytes.span, at: now, .whenDue))
    }

    private func number(_ call: FrameRange, _ bytes: [UInt8]) -> UInt64 {
        UInt64(String(decoding: bytes[call.indices], as: UTF8.self)) ?? 0
    }

    private mutating func register(_ register: ProviderRegister, _ bytes: [UInt8]) {
        guard let widgets = register.widgets, let declarations = try? WidgetDeclarations.read(bytes.span, at: widgets)
        else { return dropped.append("no declarations") }
        for declaration in declarations {
            let verdict = engine.declareWidgetKind(declaration, app: register.app, bytes.span, mayReplace: true, at: now)
            guard case .declared(let kind) = verdict else { return dropped.append("\(verdict)") }
            engine.widgetKindIsProvided(kind, at: now)
        }
    }

    private mutating func answer(_ answer: ProviderAnswer, _ bytes: [UInt8]) {
        guard let call = open.removeValue(forKey: number(answer.call, bytes)),
            let record = engine.widgets.record(call.widget)
        else { return dropped.append("an answer to nothing") }
        guard !call.isAction else {
            engine.widgetAnswered(call.widget, isAction: true, timeline: nil, bytes.span, at: now)
            return
        }
        do throws(BadTimeline) {
            let timeline = try TimelineReading.read(
                bytes.span, entries: answer.entries, policy: answer.policy, needsLogin: answer.needsLogin,
                family: record.family, limit: engine.rules.maximumTimelineEntries)
            engine.widgetAnswered(call.widget, isAction: false, timeline: timeline, bytes.span, at: now)
        } catch {
            dropped.append("\(error.reason)")
            engine.widgetCallFailed(call.widget, isAction: false, .badAnswer, at: now)
        }
    }

    private mutating func note(_ outcome: Engine.WidgetOutcome) {
        switch outcome {
        case .applied, .reloading, .invalidated: break
        case .ignored(_, let reason): dropped.append("\(reason)")
        case .refused(let refusal): dropped.append("\(refusal)")
        }
    }

    /// A call that was made comes to nothing.
    mutating func fail(_ call: UInt64, _ failure: CallFailure) {
        end(call, failure)
        encode([], nil)
    }

    private mutating func end(_ call: UInt64, _ failure: CallFailure, reason: [UInt8] = []) {
        guard let made = open.removeValue(forKey: call) else { return dropped.append("a failure of nothing") }
        engine.widgetCallFailed(made.widget, isAction: made.isAction, failure, reason: reason, at: now)
    }

    /// Lets time pass.
    ///
    /// - Parameter late: how late dates are noticed.
    mutating func wait(_ span: Milliseconds, late: Milliseconds = 0) {
        let target = now + span
        while engine.nextWork() <= target {
            now = min(target, max(now, engine.nextWork() + late))
            _ = engine.fireDue(at: now, dating: late == 0 ? .whenDue : .whenNoticed, limit: 100)
            encode([], nil)
        }
        now = target
    }

    private mutating func encode(_ frame: [UInt8], _ envelope: Envelope?) {
        for event in engine.widgets.events {
            var writer = JSONWriter()
            writer.event(event, epoch: GoldenScenario.epoch, frame: frame.span, envelope: envelope, of: engine)
            events.append(("\(event.name.wireName)", String(decoding: writer.copy(), as: UTF8.self)))
        }
        engine.releaseEvents()
        for call in engine.widgets.takeCalls() {
            switch call.kind {
            case .cancel:
                for (number, known) in open where known.widget == call.widget { cancel(number) }
            case .askTimeline: self.call(call.widget, isAction: false)
            case .perform: self.call(call.widget, isAction: true)
            }
        }
    }

    private mutating func cancel(_ call: UInt64) {
        open[call] = nil
        var writer = JSONWriter()
        writer.providerCancel(call, reason: "superseded")
        calls.append(("provider.cancel", String(decoding: writer.copy(), as: UTF8.self)))
    }

    private mutating func call(_ widget: SlotRef, isAction: Bool) {
        guard let record = engine.widgets.record(widget) else { return }
        lastCall += 1
        open[lastCall] = (widget, isAction)
        var writer = JSONWriter()
        if isAction {
            writer.providerCall(lastCall, performFor: record, now: now, attempt: 1, within: 10_000, of: engine)
        } else {
            writer.providerCall(lastCall, timelineFor: record, now: now, attempt: 1, within: 5_000, of: engine)
        }
        calls.append((isAction ? "widget.perform" : "widget.timeline", String(decoding: writer.copy(), as: UTF8.self)))
    }

    /// Writes a call that no widget makes.
    mutating func ask(_ op: String, _ write: (UInt64, inout JSONWriter, borrowing Engine) -> Void) {
        lastCall += 1
        var writer = JSONWriter()
        write(lastCall, &writer, engine)
        calls.append((op, String(decoding: writer.copy(), as: UTF8.self)))
    }

    /// What a writer makes of a placed widget.
    func written(_ id: String, _ write: (WidgetRecord, inout JSONWriter, borrowing Engine) -> Void) -> String? {
        var text: String?
        for slot in 0..<engine.widgets.slotCount {
            guard let record = engine.widgets.record(at: slot), record.id.description == id else { continue }
            var writer = JSONWriter()
            write(record, &writer, engine)
            text = String(decoding: writer.copy(), as: UTF8.self)
        }
        return text
    }

    /// The widgets that are placed, whole.
    var entities: [String] {
        var entities: [String] = []
        for slot in 0..<engine.widgets.slotCount {
            guard let record = engine.widgets.record(at: slot) else { continue }
            var writer = JSONWriter()
            writer.widget(record, machine: record.machine, revision: record.revision, of: engine)
            entities.append(String(decoding: writer.copy(), as: UTF8.self))
        }
        return entities
    }
}
