import IsletClient
import IsletFilter

extension ScenarioReading {
    /// What a step does; one of them at most.
    static let actions = [
        "send", "start", "update", "end", "dismiss", "renew", "heartbeat", "tap", "add", "configure", "set", "reload",
        "remove", "device", "settings", "advance", "to", "provider",
    ]
    /// Those whose bare text is the key of an activity.
    static let verbsOfActivities = ["start", "update", "end", "dismiss", "renew", "heartbeat", "tap"]
    /// What is expected, and all else that a step may say.
    private static let others = ["expect", "state", "events", "no events", "within", "as", "note"]

    /// One step.
    mutating func step(_ node: ScenarioNode, provider: ProviderScript?) -> ScenarioStep? {
        guard let entries = members(node, of: "a step", Self.actions + Self.others) else { return nil }
        var step = ScenarioStep(place: node.place, title: title(node, entries))
        let actions = entries.filter { Self.actions.contains($0.name) }
        if actions.count > 1 {
            note(actions[1].place, "a step does one thing: '\(actions[0].name)' or '\(actions[1].name)'")
        }
        if let action = actions.first {
            keep(action)
            step.action = self.action(action, provider: provider)
        }
        for entry in entries {
            switch entry.name {
            case "within":
                if let span = span(entry) {
                    if span.milliseconds > Self.patienceMax {
                        note(entry.value.place, "within is at most 10 minutes of real time")
                    }
                    step.within = span.duration
                }
            case "state":
                step.checks += states(entry.value)
            case "events":
                if let expectation = events(entry.value) {
                    step.checks.append(ScenarioCheck(place: entry.place, expectation: expectation))
                }
            case "no events":
                step.checks.append(ScenarioCheck(place: entry.place, expectation: .noEvents(noEvents(entry.value))))
            case _: break
            }
        }
        readExpectation(entries, &step)
        readCapture(entries, &step)
        let isUnderstood = entries.count == node.entries?.count
        let isLookedAt = entries.contains { ["state", "events", "no events"].contains($0.name) }
        if isUnderstood, !isLookedAt {
            if actions.isEmpty {
                note(node.place, "this step does nothing and expects nothing")
            } else if let within = entries.first(where: { $0.name == "within" }) {
                note(within.place, "within is how long state, events or no events may take, and here is none of them")
            }
        }
        return step
    }

    /// In real time.
    private static let patienceMax: Int64 = 600_000

    /// Such as `advance 4h`, `start order-1`, `state order-1`.
    private func title(_ node: ScenarioNode, _ entries: [ScenarioNode.Entry]) -> String {
        if let note = entries.first(where: { $0.name == "note" })?.value.text { return note.shortened(to: 80) }
        let order = Self.actions + Self.others
        guard let entry = entries.min(by: { order.firstIndex(of: $0.name) ?? 0 < order.firstIndex(of: $1.name) ?? 0 })
        else { return "a step" }
        var about = entry.value.text
        if about == nil, let inner = entry.value.entries {
            let names = ["op", "key", "id", "control", "widget", "event", "in order"]
            about = inner.first { names.contains($0.name) }?.value.text ?? inner.first?.name
        }
        if about == nil, let first = entry.value.elements?.first?.text { about = first + " …" }
        return [entry.name, about].compactMap(\.self).joined(separator: " ").shortened(to: 80)
    }

    // MARK: The answer

    /// What the answer is expected to be. Where a command says nothing of it: taken, and not ignored.
    private mutating func readExpectation(_ entries: [ScenarioNode.Entry], _ step: inout ScenarioStep) {
        let expect = entries.first { $0.name == "expect" }
        guard case .command = step.action else {
            let hasAction = entries.contains { Self.actions.contains($0.name) && $0.name != "provider" }
            if let expect, !hasAction {
                note(expect.place, "expect is about the answer to a command, and here is none")
            }
            return
        }
        let pattern = expect.map { answer($0.value) } ?? Self.taken
        step.checks.insert(
            ScenarioCheck(place: expect?.place ?? step.place, expectation: .answer(pattern)), at: 0)
    }

    private static let isOK = ScenarioPattern.Member(name: "ok", pattern: .equals(.json(.bool(true))))
    private static let isNotOK = ScenarioPattern.Member(name: "ok", pattern: .equals(.json(.bool(false))))
    private static let isNotIgnored = ScenarioPattern.Member(
        name: "outcome", pattern: .not(.equals(.json(.string("ignored")))))
    private static let isIgnored = ScenarioPattern.Member(
        name: "outcome", pattern: .equals(.json(.string("ignored"))))
    static let taken = ScenarioPattern.members([isOK, isNotIgnored])

    private mutating func answer(_ node: ScenarioNode) -> ScenarioPattern {
        if let text = node.text {
            switch text {
            case "ok": return Self.taken
            case "ignored": return .members([Self.isOK, Self.isIgnored])
            case "refused": return .members([Self.isNotOK])
            case _:
                noteUnknown("expectation", text, at: node.place, among: ["ok", "ignored", "refused"])
                return Self.taken
            }
        }
        guard let entries = node.entries, !entries.isEmpty else {
            note(node.place, "expect is ok, ignored, refused, or members of the answer, and this is \(node.kind)")
            return Self.taken
        }
        var members: [ScenarioPattern.Member] = []
        for entry in entries {
            let isCode = entry.name == "error" && entry.value.text != nil
            let kind = isCode ? FilterKind.words(Self.errorCodes) : Self.kind(ofAnswer: entry.name)
            let name = isCode ? "error code" : entry.name == "ignored" ? "reason" : entry.name
            check(entry.value, kind, of: name, noun: Self.subjects[entry.name]?.noun)
            switch entry.name {
            case "ignored":
                let reason = pattern(entry.value)
                members += Self.isAbsent(reason)
                    ? [Self.isNotIgnored] : [Self.isIgnored, .init(name: "reason", pattern: reason)]
            case "error" where isCode:
                let code = pattern(entry.value)
                let error = Self.isAbsent(code) ? code : .members([.init(name: "code", pattern: code)])
                members.append(.init(name: "error", pattern: error))
            case let name:
                if !Self.answerMembers.contains(name) {
                    noteUnknown(
                        "member of an answer", name, at: entry.place, among: ["ignored"] + Self.answerMembers)
                }
                members.append(.init(name: name, pattern: pattern(entry.value, of: name)))
            }
        }
        let names = Set(members.map(\.name))
        var implied: [ScenarioPattern.Member] = []
        let isRefusal = members.contains { $0.name == "error" && !Self.isAbsent($0.pattern) }
        if !names.contains("ok") { implied.append(isRefusal ? Self.isNotOK : Self.isOK) }
        if names.isDisjoint(with: ["outcome", "reason", "error", "ok"]) { implied.append(Self.isNotIgnored) }
        return .members(implied + members)
    }

    private static func isAbsent(_ pattern: ScenarioPattern) -> Bool {
        switch pattern {
        case .absent, .isThere(false, _): true
        case .equals, .members, .elements, .present, .isThere, .unset, .oneOf, .not, .all, .compare, .matches,
            .contains, .count:
            false
        }
    }

    /// The members that answers have, in proto-json/schemas/answers: one that there is not is always absent.
    private static let answerMembers = [
        "ok", "outcome", "reason", "error", "activity", "control", "widget", "group", "seq", "now", "req", "activities",
        "at", "budget", "byWhat", "bytes", "calls", "callsTotal", "complete", "controls", "count", "counts", "decisions",
        "device", "devices",
        "digest", "entities", "epoch", "events", "exact", "found", "hours", "info", "items", "kinds", "later",
        "maximumPerApp", "maximumPerDevice", "next", "options", "overdue", "pingEvery", "pingLimit", "preview",
        "problems", "provider", "providers", "recommendations", "settings", "silent", "silentTotal",
        "sinceRevision", "snapshot", "stack",
        "stats", "subscribers", "timeline", "timers", "total", "widgets",
    ]

    // MARK: Names

    private mutating func readCapture(_ entries: [ScenarioNode.Entry], _ step: inout ScenarioStep) {
        guard let entry = entries.first(where: { $0.name == "as" }) else { return }
        guard let name = entry.value.text, ScenarioReference("$" + name)?.path == [] else {
            note(entry.value.place, "as is a name of letters, digits, - and _")
            return
        }
        guard case .command = step.action else {
            return note(entry.place, "as names the answer to a command, and here is none")
        }
        if names.contains(name) { note(entry.value.place, "'\(name)' is the name of an earlier answer already") }
        names.append(name)
        step.capture = name
    }
}
