import IsletCore
import IsletProtocol

/// Controls and their provider without sockets: commands go through the decoder into an engine, and its events and calls
/// are encoded.
struct GoldenControls: ~Copyable {
    private var engine = Engine(rules: .standard, start: GoldenScenario.begin)
    private var decoder = CommandDecoder()
    private(set) var now = GoldenScenario.begin
    private var made: UInt64 = 0
    private var lastCall: UInt64 = 0
    /// What each call that was made is for.
    private var open: [UInt64: (control: SlotRef, isAction: Bool)] = [:]
    /// The events, each as its name and its bytes.
    private(set) var events: [(name: String, json: String)] = []
    /// What goes to the provider.
    private(set) var calls: [(op: String, json: String)] = []
    /// What the engine refused or ignored.
    private(set) var dropped: [String] = []

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
        case .controlAdd(let add): note(engine.addControl(add, envelope, frame, at: now, freshID: freshID))
        case .controlConfigure(let configure):
            note(engine.configureControl(configure, envelope, frame, at: now, .whenDue))
        case .controlRemove(let address): note(engine.removeControl(address, envelope, frame, at: now, .whenDue))
        case .controlTap(let address):
            note(engine.tapControl(address, isOn: nil, envelope, frame, at: now, .whenDue))
        case .controlReload(let reload): note(engine.reloadControls(reload, envelope, frame, at: now, .whenDue))
        case .providerAnswer(let answer):
            guard let call = open.removeValue(forKey: number(answer.call, bytes)) else { return }
            let isTaken = engine.controlAnswered(call.control, isAction: call.isAction, answer, frame, at: now)
            if !isTaken { dropped.append("bad answer") }
        case .providerFail(let fail):
            let reason = fail.message.map { FailureReason.json(of: $0, in: frame) } ?? []
            end(number(fail.call, bytes), .threw, reason: reason)
        case .deviceEvent:
            if case .refused(let refusal) = engine.apply(
                command, of: frame, at: now, dating: .whenDue, freshID: freshID)
            {
                dropped.append("\(refusal)")
            }
        default: dropped.append("\(command.operation)")
        }
    }

    private func number(_ call: FrameRange, _ bytes: [UInt8]) -> UInt64 {
        UInt64(String(decoding: bytes[call.indices], as: UTF8.self)) ?? 0
    }

    private mutating func register(_ register: ProviderRegister, _ bytes: [UInt8]) {
        guard let kinds = register.kinds, let declarations = try? KindDeclarations.read(bytes.span, at: kinds)
        else { return }
        for declaration in declarations {
            let verdict = engine.declareControlKind(declaration, app: register.app, bytes.span, mayReplace: true, at: now)
            guard case .declared(let kind) = verdict else { return dropped.append("\(verdict)") }
            engine.controlKindIsProvided(kind, at: now)
        }
    }

    private mutating func note(_ outcome: Engine.ControlOutcome) {
        switch outcome {
        case .applied, .reloading: break
        case .ignored(_, let reason): dropped.append("\(reason)")
        case .refused(let refusal): dropped.append("\(refusal)")
        case .notAToggle: dropped.append("notAToggle")
        }
    }

    /// A call that was made comes to nothing.
    mutating func fail(_ call: UInt64, _ failure: CallFailure) {
        end(call, failure)
        encode([], nil)
    }

    private mutating func end(_ call: UInt64, _ failure: CallFailure, reason: [UInt8] = []) {
        guard let made = open.removeValue(forKey: call) else { return }
        engine.controlCallFailed(made.control, isAction: made.isAction, failure, reason: reason, at: now)
    }

    /// Lets time pass.
    mutating func wait(_ span: Milliseconds) {
        let target = now + span
        while engine.nextWork() <= target {
            now = max(now, engine.nextWork())
            _ = engine.fireDue(at: now, dating: .whenDue, limit: 100)
            encode([], nil)
        }
        now = target
    }

    private mutating func encode(_ frame: [UInt8], _ envelope: Envelope?) {
        for event in engine.controls.events {
            var writer = JSONWriter()
            writer.event(event, epoch: GoldenScenario.epoch, frame: frame.span, envelope: envelope, of: engine)
            events.append(("\(event.name.wireName)", String(decoding: writer.copy(), as: UTF8.self)))
        }
        engine.releaseEvents()
        for call in engine.controls.takeCalls() {
            switch call.kind {
            case .cancel:
                for (number, known) in open where known.control == call.control { cancel(number) }
            case .askValue: self.call(call.control, isAction: false)
            case .perform: self.call(call.control, isAction: true)
            }
        }
    }

    private mutating func cancel(_ call: UInt64) {
        open[call] = nil
        var writer = JSONWriter()
        writer.providerCancel(call, reason: "superseded")
        calls.append(("provider.cancel", String(decoding: writer.copy(), as: UTF8.self)))
    }

    private mutating func call(_ control: SlotRef, isAction: Bool) {
        guard let record = engine.controls.record(control) else { return }
        lastCall += 1
        open[lastCall] = (control, isAction)
        var writer = JSONWriter()
        writer.providerCall(lastCall, record, attempt: 1, within: isAction ? 10_000 : 1_000, of: engine)
        calls.append(
            (isAction ? "control.perform" : "control.value", String(decoding: writer.copy(), as: UTF8.self)))
    }

    /// Asks for the options of a parameter of the first kind that was declared.
    mutating func askOptions(_ parameter: String, _ configuration: String?) {
        lastCall += 1
        var writer = JSONWriter()
        writer.providerCall(
            lastCall, optionsOf: 0, Array(parameter.utf8), configuration.map { Array($0.utf8) }, attempt: 1,
            within: 1_000, of: engine)
        calls.append(("control.options", String(decoding: writer.copy(), as: UTF8.self)))
    }

    /// The controls that are placed, whole.
    var entities: [String] {
        var entities: [String] = []
        for slot in 0..<engine.controls.slotCount {
            guard let record = engine.controls.record(at: slot) else { continue }
            var writer = JSONWriter()
            writer.control(record, machine: record.machine, revision: record.revision, of: engine)
            entities.append(String(decoding: writer.copy(), as: UTF8.self))
        }
        return entities
    }
}
