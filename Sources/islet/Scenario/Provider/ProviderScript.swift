import IsletClient

/// What a scenario's provider says to the calls of the service: values of controls, timelines of widgets, failures.
struct ProviderScript: Sendable {
    /// A kind and how it answers.
    struct Kind: Sendable {
        /// `control` or `widget`.
        var family: String
        var name: String
        /// As `provider.register` declares it.
        var declaration: RawObject
        var behaviour = Behaviour()
        /// What actions have made of the value of each control.
        var values: [String: RawJSON] = [:]
        /// How many timelines were asked for.
        var asked = 0
    }

    /// How a kind answers; nil and empty: as before.
    struct Behaviour: Sendable {
        /// What a control holds.
        var value: RawJSON?
        /// What stands beside the value, such as a status.
        var answer: RawObject?
        var options: RawJSON?
        /// The timelines one after the other; the last stays.
        var timelines: [ScenarioTemplate] = []
        /// In real time, before each answer.
        var delay: Duration?
        /// How many of the next calls of each sort (`value`, `perform`, `timeline` …) fail.
        var failures: [String: Int] = [:]
        /// How many are never answered.
        var silences: [String: Int] = [:]
        var message: String?
    }

    /// A kind that answers otherwise from now on.
    struct Change: Sendable {
        var kind: String
        var behaviour: Behaviour
    }

    /// What becomes of a call.
    enum Reply: Sendable, Hashable {
        case answer(RawObject)
        case failure(String)
        /// It is never answered.
        case silence
    }

    var app: String
    var kinds: [Kind] = []

    /// The sorts of calls to kinds of a family, which may fail or be silent.
    static func sorts(of family: String) -> [String] {
        family == "control"
            ? ["value", "perform", "options"]
            : ["timeline", "snapshot", "perform", "options", "recommendations", "relevance"]
    }

    /// Takes a change in: what it does not say stays.
    mutating func apply(_ change: Change) {
        for index in kinds.indices where kinds[index].name == change.kind {
            let new = change.behaviour
            var kind = kinds[index]
            if let value = new.value {
                kind.behaviour.value = value
                kind.values = [:]
            }
            if let answer = new.answer { kind.behaviour.answer = answer }
            if let options = new.options { kind.behaviour.options = options }
            if !new.timelines.isEmpty {
                kind.behaviour.timelines = new.timelines
                kind.asked = 0
            }
            if let delay = new.delay { kind.behaviour.delay = delay }
            if let message = new.message { kind.behaviour.message = message }
            kind.behaviour.failures.merge(new.failures) { $1 }
            kind.behaviour.silences.merge(new.silences) { $1 }
            kinds[index] = kind
        }
    }

    /// What is said to a call, and after which real time; nil: it is no call, or of no kind that is declared.
    mutating func reply(to call: RawObject) -> (reply: Reply, delay: Duration)? {
        guard let op = call["op"]?.string, let kindName = call["kind"]?.string else { return nil }
        let parts = op.split(separator: ".").map(String.init)
        guard parts.count == 2, Self.sorts(of: parts[0]).contains(parts[1]),
            let index = kinds.firstIndex(where: { $0.family == parts[0] && $0.name == kindName })
        else { return nil }
        let delay = kinds[index].behaviour.delay ?? .zero
        if Self.take(parts[1], from: &kinds[index].behaviour.silences) { return (.silence, delay) }
        if Self.take(parts[1], from: &kinds[index].behaviour.failures) {
            return (.failure(kinds[index].behaviour.message ?? "as the scenario has it"), delay)
        }
        return (answer(to: call, sort: parts[1], &kinds[index]), delay)
    }

    private static func take(_ sort: String, from counts: inout [String: Int]) -> Bool {
        guard let count = counts[sort], count > 0 else { return false }
        counts[sort] = count - 1
        return true
    }

    private func answer(to call: RawObject, sort: String, _ kind: inout Kind) -> Reply {
        switch (kind.family, sort) {
        case ("control", "value"):
            let id = call["control"]?.string ?? ""
            var members: RawObject = ["value": kind.values[id] ?? kind.behaviour.value ?? .null]
            for member in kind.behaviour.answer?.members ?? [] { members[member.name] = member.value }
            return .answer(members)
        case ("control", "perform"):
            // What a toggle is to be, it then is.
            if let value = call["value"], !value.isNull, let id = call["control"]?.string { kind.values[id] = value }
            return .answer([:])
        case ("widget", "timeline"):
            let timelines = kind.behaviour.timelines
            guard !timelines.isEmpty else { return .failure("the scenario has no timeline of \(kind.name)") }
            let timeline = timelines[min(kind.asked, timelines.count - 1)]
            kind.asked += 1
            return members(timeline, call)
        case ("widget", "snapshot"):
            guard let timeline = kind.behaviour.timelines.first,
                case .answer(let members) = members(timeline, call), let first = members["entries"]?.elements?.first
            else { return .failure("the scenario has no timeline of \(kind.name)") }
            return .answer(["entries": .array([first])])
        case (_, "options"), (_, "recommendations"), (_, "relevance"):
            return .answer(["value": kind.behaviour.options ?? .array([])])
        case (_, _): return .answer([:])
        }
    }

    /// A timeline whose dates count from the call's.
    private func members(_ timeline: ScenarioTemplate, _ call: RawObject) -> Reply {
        do throws(ScenarioMiss) {
            let json = try timeline.json(ScenarioScope(now: call["now"]?.integer ?? 0))
            return json.object.map { .answer($0) } ?? .failure("the timeline is no mapping")
        } catch {
            return .failure(error.text)
        }
    }

    /// The command that registers it.
    func registration(id: String) -> RawObject {
        var command: RawObject = [
            "op": .string("provider.register"), "req": .string("register"), "app": .string(app),
            "provider": .string(id), "capacity": .integer(64),
        ]
        let controls = kinds.filter { $0.family == "control" }.map(\.declaration.json)
        let widgets = kinds.filter { $0.family == "widget" }.map(\.declaration.json)
        if !controls.isEmpty { command["kinds"] = .array(controls) }
        if !widgets.isEmpty { command["widgets"] = .array(widgets) }
        return command
    }
}
