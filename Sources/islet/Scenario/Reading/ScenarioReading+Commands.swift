import IsletClient
import IsletCore
import IsletFilter
import IsletProtocol

extension ScenarioReading {
    /// The ops by their names.
    static let operations = Dictionary(uniqueKeysWithValues: OperationName.allCases.map { ("\($0.name)", $0) })
    /// Ops that make sense only on a connection of their own, or have no answer.
    private static let unusable = [
        "stream.applied", "bulk.", "provider.register", "provider.answer", "provider.fail",
        "provider.pong", "provider.drain", "provider.leave",
    ]

    /// What a step does.
    mutating func action(_ entry: ScenarioNode.Entry, provider: ProviderScript?) -> ScenarioStep.Action? {
        switch entry.name {
        case "send": return send(entry.value).map { .command($0) }
        case "advance": return advance(entry).map { .command($0) }
        case "to": return move(entry).map { .command($0) }
        case "provider": return provider.map { .provider(changes(entry.value, of: $0)) } ?? .provider([])
        case "device": return device(entry).map { .command($0) }
        case "settings": return short("settings.set", entry, text: nil).map { .command($0) }
        case "start", "update", "end", "dismiss", "renew", "heartbeat":
            return short("activity.\(entry.name)", entry, text: "key").map { .command($0) }
        case let verb: return placed(verb, entry).map { .command($0) }
        }
    }

    // MARK: As the contract has it

    private mutating func send(_ node: ScenarioNode) -> ScenarioCommandForm? {
        guard let entries = node.entries else {
            note(node.place, "send is a command of the contract, and this is \(node.kind)")
            return nil
        }
        guard let op = entries.first(where: { $0.name == "op" }), let name = op.value.text else {
            note(node.place, "a command has an op")
            return nil
        }
        guard let operation = Self.operations[name] else {
            noteUnknown("op", name, at: op.value.place, among: Self.operations.keys.sorted())
            return nil
        }
        if Self.unusable.contains(where: { name.hasPrefix($0) }) {
            note(op.value.place, "'\(name)' is no command for a scenario")
            return nil
        }
        if let ack = entries.first(where: { $0.name == "ack" }) {
            note(ack.place, "without an answer there is nothing to be expected: leave ack out")
        }
        var fields: [ScenarioTemplate.Member] = []
        for entry in entries where entry.name != "op" { fields.append(field(entry, of: operation)) }
        if operation == .clockAdvance { moveClock(entries) }
        return ScenarioCommandForm(op: name, fields: filled(fields, operation))
    }

    /// A field of a command; spans stand for milliseconds in `by` of a clock.
    private mutating func field(_ entry: ScenarioNode.Entry, of op: OperationName) -> ScenarioTemplate.Member {
        if op == .clockAdvance, entry.name == "by", let text = entry.value.text, let span = Span(argument: text) {
            return .init(name: "by", value: .json(.integer(span.milliseconds)))
        }
        return .init(
            name: entry.name,
            value: template(entry.value, of: entry.name, isPayload: ScenarioNames.isPayload(entry.name)))
    }

    /// The fields with what the scenario says for all steps; null leaves it out.
    private func filled(_ fields: [ScenarioTemplate.Member], _ op: OperationName) -> [ScenarioTemplate.Member] {
        let present = Set(fields.map(\.name))
        var all: [ScenarioTemplate.Member] = []
        func fill(_ field: Field, _ text: String?) {
            guard let text, op.fields.contains(field), !present.contains("\(field.name)") else { return }
            all.append(.init(name: "\(field.name)", value: .json(.string(text))))
        }
        switch op {
        case .timerList, .slotList, .subscriberList, .problemList, .entityFind: break
        case .deviceEvent:
            let event = fields.first { $0.name == "event" }?.value.text ?? ""
            if DeviceCommand.Event(rawValue: event)?.namesAnApp == true { fill(.app, defaults.app) }
            fill(.device, defaults.device)
        case .activityStart:
            fill(.app, defaults.app)
            fill(.type, defaults.type)
            fill(.device, defaults.device)
        case .controlAdd, .widgetAdd:
            fill(.app, defaults.app)
            fill(.kind, defaults.kind)
            fill(.device, defaults.device)
        case .settingsSet, .settingsGet, .widgetStack:
            fill(.app, defaults.app)
            fill(.device, defaults.device)
        case _:
            fill(.app, defaults.app)
            if present.contains("key"), !present.contains("id"), op != .activityList { fill(.device, defaults.device) }
        }
        return all + fields
    }

    // MARK: Short forms

    /// Members that a short form takes: the fields of its op.
    private func fieldNames(_ op: OperationName) -> [String] {
        Field.allCases.filter { op.fields.contains($0) && ![.op, .ack].contains($0) }.map { "\($0.name)" }
    }

    /// A short form whose members are the fields of an op.
    ///
    /// - Parameter text: which field a bare text is.
    private mutating func short(
        _ name: String, _ entry: ScenarioNode.Entry, text: String?, extra: [ScenarioTemplate.Member] = [],
        skipping: Set<String> = []
    ) -> ScenarioCommandForm? {
        guard let op = Self.operations[name] else { return nil }
        var fields = extra
        if let bare = entry.value.text, !entry.value.isNull {
            guard let text else {
                note(entry.value.place, "\(entry.name) is a mapping of the fields of \(name)")
                return nil
            }
            let value = template(entry.value)
            if case .reference = value {
                fields.append(.init(name: "id", value: value))
            } else {
                fields.append(.init(name: text, value: .json(.string(bare))))
            }
        } else if !entry.value.isNull {
            guard let entries = entry.value.entries else {
                note(
                    entry.value.place,
                    "\(entry.name) is a mapping of the fields of \(name), and this is \(entry.value.kind)")
                return nil
            }
            let known = fieldNames(op)
            for member in entries where !skipping.contains(member.name) {
                guard known.contains(member.name) else {
                    noteUnknown("field of \(name)", member.name, at: member.place, among: known)
                    continue
                }
                let isName = Self.textNames.contains(member.name)
                fields.append(
                    isName ? .init(name: member.name, value: named(member.value)) : field(member, of: op))
            }
        }
        let present = Set(fields.map(\.name))
        if name.hasPrefix("activity."), present.isDisjoint(with: ["key", "id"]), let key = defaults.key {
            fields.append(.init(name: "key", value: .json(.string(key))))
        }
        if op == .activityStart {
            for name in ["attributes", "contentState"] where !present.contains(name) {
                fields.append(.init(name: name, value: .json(.object([]))))
            }
        }
        return ScenarioCommandForm(op: name, fields: filled(fields, op))
    }

    /// Of what is placed: `add`, `tap` and others, with `control: Torch` or `widget: Weather`. One taps activities too.
    private mutating func placed(_ verb: String, _ entry: ScenarioNode.Entry) -> ScenarioCommandForm? {
        let address = entry.value.entries?.first { $0.name == "control" || $0.name == "widget" }
        guard let address else {
            if verb == "tap" { return short("activity.tap", entry, text: "key") }
            note(entry.value.place, "\(verb) says control: or widget:, with its kind or a $name")
            return nil
        }
        let family = address.name
        guard Self.operations["\(family).\(verb)"] != nil else {
            note(address.place, "there is no \(family).\(verb)")
            return nil
        }
        // What is added may have an id of its own; else the name stands for one.
        for member in entry.value.entries ?? [] where member.name == "kind" || member.name == "id" && verb != "add" {
            note(member.place, "'\(family)' says already which one it is: leave '\(member.name)' out")
            return nil
        }
        let name = template(address.value)
        guard case .json(let json) = name else {
            return short(
                "\(family).\(verb)", entry, text: nil, extra: [.init(name: "id", value: name)], skipping: [family])
        }
        guard json.string != nil else {
            note(address.value.place, "\(family) is a kind or a $name, and this is \(address.value.kind)")
            return nil
        }
        if verb == "add" {
            return short(
                "\(family).add", entry, text: nil, extra: [.init(name: "kind", value: name)], skipping: [family])
        }
        var form = short("\(family).\(verb)", entry, text: nil, skipping: [family])
        form?.placed = .init(family: family, kind: name)
        return form
    }

    private mutating func device(_ entry: ScenarioNode.Entry) -> ScenarioCommandForm? {
        let event =
            entry.value.text.map { ($0, entry.value.place) }
            ?? entry.value.entries?.first { $0.name == "event" }.flatMap { member in
                member.value.text.map { ($0, member.value.place) }
            }
        if let (name, place) = event, DeviceCommand.Event(rawValue: name) == nil {
            noteUnknown("event of a device", name, at: place, among: DeviceCommand.Event.allCases.map(\.rawValue))
            return nil
        }
        let form = short("device.event", entry, text: "event")
        if let form, !form.fields.contains(where: { $0.name == "device" }) {
            note(entry.place, "which device? Say device: here or for the whole scenario")
        }
        return form
    }

    // MARK: The clock

    private mutating func advance(_ entry: ScenarioNode.Entry) -> ScenarioCommandForm? {
        if entry.value.text?.hasPrefix("-") == true {
            note(entry.value.place, "the clock would go back, and only goes forward")
            return nil
        }
        guard let span = span(entry) else { return nil }
        if let stands = now {
            let date = stands.addingClamped(span.milliseconds)
            guard date < Moment.plausible.upperBound else {
                note(entry.value.place, "the clock would stand beyond all dates of the contract, which end in 2286")
                return nil
            }
            now = date
        }
        return ScenarioCommandForm(
            op: "clock.advance", fields: [.init(name: "by", value: .json(.integer(span.milliseconds)))])
    }

    private mutating func move(_ entry: ScenarioNode.Entry) -> ScenarioCommandForm? {
        guard let text = entry.value.text, case .at(let date) = Moment(argument: text), Moment.plausible.contains(date)
        else {
            note(entry.value.place, "to is a date in UTC such as 2026-01-31T09:00Z; by a length of time: advance: 4h")
            return nil
        }
        if let now, date < now {
            note(
                entry.value.place,
                "the clock would go back: it stands at \(TimeText.full(now)) by then, and only goes forward")
        }
        now = date
        return ScenarioCommandForm(op: "clock.advance", fields: [.init(name: "to", value: .json(.integer(date)))])
    }

    /// A clock that is moved by a command of the contract is followed as far as its fields are plain.
    private mutating func moveClock(_ entries: [ScenarioNode.Entry]) {
        for entry in entries {
            let text = entry.value.text ?? ""
            switch entry.name {
            case "by":
                let span = Int64(text) ?? Span(text)?.milliseconds
                now = span.flatMap { span in now.map { $0.addingClamped(span) } }
            case "to":
                guard case .at(let date)? = Moment(text) else {
                    now = nil
                    continue
                }
                now = date
            case _: break
            }
        }
    }
}
