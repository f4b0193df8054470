/// Judges the events of controls one by one as they are handed to the journal, and the calls that providers get: not by
/// foretelling them, but by what may follow what.
///
/// It knows the rules by itself and shares no code with what it judges. After a crash it reads what was kept again.
package final class ControlWitness {
    /// By topic.
    package private(set) var controls: [String: WitnessedControl] = [:]
    private var topics: [String: String] = [:]
    /// How often a control was placed under each id after the first time, whatever its app and kind.
    private var lives: [String: Int] = [:]
    /// Taps by their client and `req`: the value that was asked for (nil: the opposite), and which devices were locked each time that
    /// it was executed.
    var taps: [String: (isOn: Bool?, locked: Set<String>)] = [:]
    /// The calls that reached a provider, by their numbers.
    package internal(set) var calls: [String: WitnessedCall] = [:]
    /// How often each revision of a topic was asked for in each run of the service.
    var attempts: [String: Int] = [:]
    /// What providers answered, by the mark in each answer.
    var answers: [String: WitnessedAnswer] = [:]
    /// What providers said of the calls that they failed.
    var said = SaidReasons()
    /// What was wrong first.
    package internal(set) var complaint: String?

    package init() {}

    package func control(id: String) -> WitnessedControl? { topics[id].flatMap { controls[$0] } }
    func topic(id: String) -> String? { topics[id] }

    /// Whether a control of this id ever stood like this.
    package func everWas(_ entity: [String: JSON], isRead: Bool) -> Bool {
        controls.values.contains { .string($0.id) == entity["id"] && $0.everWas(entity, isRead: isRead) }
    }

    /// How many controls are listed.
    package var listedCount: Int { controls.values.count { $0.isListed } }

    /// The listed controls of an app, by topic.
    package func listed(_ app: String) -> [String: WitnessedControl] {
        controls.filter { $0.value.app == app && $0.value.isListed }
    }

    /// The ids of an app's controls, those that are gone among them, in a fixed order.
    package func ids(_ app: String) -> [String] {
        controls.values.filter { $0.app == app }.map(\.id).sorted()
    }

    package static func isOfControl(_ topic: String) -> Bool { topic.contains("/control/") }

    /// A crash: everything is read again.
    package func forget() {
        controls.removeAll()
        topics.removeAll()
        lives.removeAll()
    }

    /// A tap or a set is executed.
    package func noteTap(_ name: String, isOn: Bool?, locked: Set<String>) {
        taps[name] = (isOn, taps[name]?.locked.intersection(locked) ?? locked)
    }

    func complain(_ isRight: Bool, _ what: @autoclosure () -> String) {
        if !isRight, complaint == nil { complaint = what() }
    }

    // MARK: Events

    /// An event was handed to the journal.
    package func read(_ event: JSON, topic: String) {
        let parts = topic.split(separator: "/").map(String.init)
        guard parts.count == 4, parts[1] == "control", let kind = WitnessedKind.named(parts[2]),
            let patch = event["control"]?.object, let full = event["event"]?.string, full.hasPrefix("control."),
            patch["id"] == .string(parts[3])
        else { return complain(false, "an event of no control: \(event.text)") }
        let name = String(full.dropFirst(8))
        var control = controls[topic] ?? WitnessedControl(id: parts[3], app: parts[0], kind: kind)
        if event["from"] == nil {
            if !control.isListed, control.revision > 0 { control.isPlacedAgain() }
            // One that is placed again under its id may be of another app or kind, and so under another topic.
            lives[control.id] = lives[control.id].map { $0 + 1 } ?? 0
            control.life = lives[control.id] ?? 0
        }
        let before = control.entity
        var entity = before
        for (member, value) in patch { entity[member] = value == .null ? nil : value }
        func check(_ isRight: Bool, _ what: String) {
            complain(isRight, "\(what): \(event.text)\n    before: \(JSON.object(before).text)")
        }
        check(event["from"] == before["state"], "from is not where it was")
        check(entity["state"] == event["to"] && entity["cause"] == event["cause"], "the patch and the event differ")
        check(entity["revision"] == .integer(Int64(control.revision + 1)), "another revision")
        let targets = ControlPassages.targets(name, from: before["state"]?.string)
        check(targets.contains(event["to"]?.string ?? ""), "no legal next state")
        check(ControlPassages.causes(name).contains(event["cause"]?.string ?? ""), "no cause of this event")
        control.past.append(entity, after: event)
        control.state = entity["state"]?.string ?? ""
        let passage = ControlPassage(name: name, event: event, before: before, after: entity)
        checkContent(passage, control, check)
        follow(passage, &control, check)
        checkNext(passage, control, check)
        controls[topic] = control
        topics[control.id] = topic
    }
}

/// One event between two stands of a control.
struct ControlPassage {
    let name: String
    let event: JSON
    let before: [String: JSON]
    let after: [String: JSON]

    var from: String? { before["state"]?.string }
    var to: String { after["state"]?.string ?? "" }
    var cause: String { after["cause"]?.string ?? "" }
    var at: Int64 { event["at"]?.integer ?? 0 }
    /// Who asked for it: the client and the `req`.
    var asker: String? { event["by"]?["req"]?.string.map { "\(event["by"]?["client"]?.string ?? "") \($0)" } }
    var isRedacted: Bool { after["isRedacted"]?.bool ?? false }
    /// Whether what it shows can be compared with what it showed.
    var isSeen: Bool { !isRedacted && before["isRedacted"]?.bool != true }
}
