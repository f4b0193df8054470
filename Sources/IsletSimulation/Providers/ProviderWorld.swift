import IsletOracle

/// What is true of controls, whoever is asked, and the processes that are asked.
struct ProviderWorld {
    struct Truth {
        var isOn = false
        var count: Int64 = 0
        var isDisabled = false
        /// The change of the world that nobody told the service of; 0: it knows, or can find out.
        var untold = 0
    }

    /// At most this many processes at a time.
    private static let maximumProcesses = 6

    var truths: [String: Truth] = [:]
    var processes: [ProviderProcess] = []
    /// Of the apps that were deployed anew: whether they are of the newer version.
    private(set) var newer: [String: Bool] = [:]
    /// Everybody answers at once and as it should.
    var isCalm = false
    /// How often something changed that the service has to be told of.
    private(set) var changes = 0
    private var made = 0
    private var marks = 0

    static func isProvider(_ routingID: [UInt8]) -> Bool { routingID.starts(with: Array("prov".utf8)) }

    /// Whether another process may come without one that goes.
    var hasRoom: Bool { processes.count < Self.maximumProcesses }

    // MARK: Processes

    /// A new process.
    ///
    /// - Parameter namesake: the id of another one that it has too; nil: one of its own.
    mutating func spawn(
        _ random: inout SimRandom, app: String, allKinds: Bool, misbehaviour: Int, at now: Int64,
        namesake: String? = nil
    ) {
        if processes.count >= Self.maximumProcesses {
            let leaver =
                processes.firstIndex { !$0.isConnected } ?? processes.firstIndex { $0.app == app }
                ?? processes.indices.first { !isNeeded($0) } ?? 0
            processes.remove(at: leaver)
        }
        made += 1
        var kinds = WitnessedKind.all
        if !allKinds { kinds = kinds.filter { _ in !random.oneIn(3) } }
        if kinds.isEmpty { kinds = WitnessedKind.all }
        var widgets = WitnessedWidgetKind.all
        if !allKinds { widgets = widgets.filter { _ in !random.oneIn(3) } }
        if widgets.isEmpty { widgets = WitnessedWidgetKind.all }
        let hex = String(made, radix: 16)
        processes.append(
            ProviderProcess(
                id: namesake ?? "eeeeeeee-0000-4000-8000-" + String(repeating: "0", count: 12 - hex.count) + hex,
                number: made,
                app: app, kinds: kinds, widgets: widgets, capacity: random.oneIn(3) ? 1 : 16,
                isNewer: newer[app] ?? false, misbehaviour: misbehaviour,
                registration: .wanted(at: now)))
    }

    /// An app is deployed anew: all of its processes end, and those that come declare its kinds otherwise.
    mutating func redeploy(_ app: String) {
        processes.removeAll { $0.app == app }
        newer[app] = !(newer[app] ?? false)
    }

    /// The service ended and is back: whoever lives connects again after a while, and may say old things first.
    mutating func serviceIsBack(_ random: inout SimRandom, at now: Int64) {
        for index in processes.indices { processes[index].registration = .wanted(at: now + random.below(400 as Int64)) }
    }

    func isServed(_ app: String) -> Bool {
        let here = processes.filter { $0.app == app && $0.isConnected && !$0.isHanging && $0.registration == .done }
        let (kinds, widgets) = (here.flatMap(\.kinds), here.flatMap(\.widgets))
        return WitnessedKind.all.allSatisfy { kinds.contains($0) }
            && WitnessedWidgetKind.all.allSatisfy { widgets.contains($0) }
    }

    /// Whether without it its app would not be served any more.
    private func isNeeded(_ index: Int) -> Bool {
        var others = self
        let app = others.processes.remove(at: index).app
        return isServed(app) && !others.isServed(app)
    }

    // MARK: The truth

    /// Something changes by itself.
    mutating func change(_ id: String, _ random: inout SimRandom) {
        var truth = truths[id] ?? Truth()
        truth.isOn.toggle()
        truth.count += 1
        truth.isDisabled = random.oneIn(6)
        truths[id] = truth
        doubt(id)
    }

    /// The service does not know what is true now, and nobody can tell it but a reload.
    mutating func doubt(_ id: String) {
        changes += 1
        truths[id, default: Truth()].untold = changes
    }

    /// The service was told of everything up to a change.
    mutating func told(_ id: String, through change: Int) {
        if let untold = truths[id]?.untold, untold <= change { truths[id]?.untold = 0 }
    }

    mutating func perform(_ effect: ProviderProcess.Effect) {
        var truth = truths[effect.control] ?? Truth()
        if let isOn = effect.isOn { truth.isOn = isOn }
        truth.count += 1
        truths[effect.control] = truth
    }

    func value(_ id: String, _ kind: WitnessedKind) -> JSON {
        let truth = truths[id] ?? Truth()
        return kind.isToggle ? .bool(truth.isOn) : .integer(truth.count)
    }

    // MARK: What the service sends

    /// A frame comes to a connection; false where there is none.
    ///
    /// - Parameter called: told of every call that somebody reads.
    mutating func receive(
        _ peer: [UInt8], _ frame: [UInt8], _ random: inout SimRandom, at now: Int64, called: (JSON) -> Void
    ) -> Bool {
        guard let index = processes.firstIndex(where: { $0.peer == peer && $0.isConnected }), let value = JSON(frame)
        else { return false }
        if receiveWidget(value, index, &random, at: now, called: called) { return true }
        switch value["op"]?.string {
        case "control.value", "control.perform":
            called(value)
            if value["op"] == .string("control.value") {
                answerValue(value, index, &random, at: now)
            } else {
                perform(value, index, &random, at: now)
            }
        case "control.options":
            say(index, "\"call\":\(value["call"]?.text ?? "")" + ",\"value\":[{\"value\":\"a\"}]", at: now)
        case "provider.cancel":
            // Some go on and answer late.
            if random.oneIn(2), let call = value["call"]?.string {
                processes[index].outputs.removeAll { $0.call == call }
            }
        case "provider.ping":
            if isCalm || !random.percent(processes[index].misbehaviour / 4) {
                output(index, "provider.pong", nil, at: now + random.below(20 as Int64))
            }
        case "provider.dropped": processes[index].registration = .wanted(at: now + random.below(2_000 as Int64))
        default: break
        }
        return true
    }

    mutating func say(_ index: Int, _ fields: String, at now: Int64) {
        output(index, "provider.answer", fields, at: now)
    }

    mutating func output(
        _ index: Int, _ op: String, _ fields: String?, at: Int64, as id: String? = nil,
        effect: ProviderProcess.Effect? = nil, value: ProviderProcess.Told? = nil,
        timeline: WitnessedTimeline? = nil, relevance: ProviderProcess.ToldRelevance? = nil, call: String? = nil,
        failure: SaidReason? = nil
    ) {
        let rest = fields.map { "," + $0 } ?? ""
        let frame = "{\"op\":\"\(op)\",\"provider\":\"\(id ?? processes[index].id)\"\(rest)}"
        processes[index].outputs.append(
            ProviderProcess.Output(
                at: at, frame: frame, effect: effect, value: value, timeline: timeline, relevance: relevance,
                call: call, failure: failure))
    }

    /// A call is failed, mostly for a reason.
    mutating func fail(
        _ index: Int, _ call: String, _ fields: String, _ random: inout SimRandom, at: Int64,
        effect: ProviderProcess.Effect? = nil
    ) {
        let reason = SaidReason.random(&random)
        output(index, "provider.fail", fields + reason.field, at: at, effect: effect, call: call, failure: reason)
    }

    /// A name that nothing else has that is told.
    mutating func nextMark() -> String {
        marks += 1
        return "m\(marks)"
    }

    /// What is true when it is asked is told, sooner or later or not at all.
    private mutating func answerValue(_ frame: JSON, _ index: Int, _ random: inout SimRandom, at now: Int64) {
        guard let call = frame["call"]?.string, let control = frame["control"]?.string,
            let kind = WitnessedKind.named(frame["kind"]?.string ?? "")
        else { return }
        let mark = nextMark()
        let truth = truths[control] ?? Truth()
        let told = ProviderProcess.Told(
            call: call, mark: mark, value: value(control, kind), isDisabled: truth.isDisabled,
            isActive: random.oneIn(3) ? random.oneIn(2) : nil)
        var fields = "\"call\":\"\(call)\",\"value\":\(told.value.text),\"status\":\"\(told.mark)\""
        if told.isDisabled { fields += ",\"disabled\":true" }
        if let isActive = told.isActive { fields += ",\"isActive\":\(isActive)" }
        if random.oneIn(4) { fields += ",\"tint\":\"red\"" }
        func answer(after span: Int64) {
            output(index, "provider.answer", fields, at: now + span, value: told, call: call)
        }
        guard !isCalm, random.percent(processes[index].misbehaviour) else {
            return answer(after: isCalm ? 0 : random.below(random.oneIn(3) ? 120 : 4))
        }
        switch random.below(8) {
        case 0: answer(after: random.below(3_000 as Int64))
        case 1:
            answer(after: 0)
            answer(after: random.below(400 as Int64))
        case 2:
            // A button may say anything, but not nothing, and not too much.
            let wrong = ["\"x\"", "[1]", "", "\"" + String(repeating: "y", count: 5_000) + "\""]
            let value = wrong[random.below(kind.isToggle ? 4 : 2) + (kind.isToggle ? 0 : 2)]
            let rest = value.isEmpty ? "" : ",\"value\":\(value)"
            output(index, "provider.answer", "\"call\":\"\(call)\"\(rest)", at: now + random.below(50 as Int64))
        case 3: break
        case 4:
            let fields = "\"call\":\"\(call)\",\"retryable\":\(random.oneIn(2))"
            fail(index, call, fields, &random, at: now + random.below(80 as Int64))
        case 5:
            // Of another process, or to another call.
            let stranger = "eeeeeeee-0000-4000-8000-00000000ffff"
            output(index, "provider.answer", fields, at: now, as: stranger)
            output(index, "provider.answer", "\"call\":\"77\",\"value\":true", at: now)
        case 6: processes[index].isConnected = false
        default: processes[index].isHanging = true
        }
    }

    /// An action takes effect when it is asked for, or when it is answered.
    private mutating func perform(_ frame: JSON, _ index: Int, _ random: inout SimRandom, at now: Int64) {
        guard let call = frame["call"]?.string, let control = frame["control"]?.string else { return }
        let effect = ProviderProcess.Effect(control: control, isOn: frame["value"]?.bool)
        let isLate = random.oneIn(3)
        if !isLate { perform(effect) }
        let later = isLate ? effect : nil
        let fields = "\"call\":\"\(call)\"" + (random.oneIn(3) ? ",\"status\":\"done\"" : "")
        guard !isCalm, random.percent(processes[index].misbehaviour) else {
            let span = isCalm ? 0 : random.below(random.oneIn(3) ? 150 : 4)
            return output(index, "provider.answer", fields, at: now + Int64(span), effect: later, call: call)
        }
        switch random.below(6) {
        case 0:
            let at = now + random.below(6_000 as Int64)
            output(index, "provider.answer", fields, at: at, effect: later, call: call)
        case 1:
            output(index, "provider.answer", fields, at: now, effect: later, call: call)
            output(index, "provider.answer", fields, at: now + random.below(100 as Int64))
        case 2:
            let at = now + random.below(100 as Int64)
            fail(index, call, "\"call\":\"\(call)\"", &random, at: at, effect: later)
        case 3: break
        case 4: processes[index].isConnected = false
        default: processes[index].isHanging = true
        }
    }
}
