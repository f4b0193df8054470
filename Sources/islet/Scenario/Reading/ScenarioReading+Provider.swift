import IsletClient
import IsletFilter

extension ScenarioReading {
    private static let commonBehaviour = ["options", "delay", "fail", "silent", "message"]
    /// How a kind of a family answers.
    private static func behaviourMembers(_ family: String) -> [String] {
        (family == "control" ? ["value", "answer"] : ["timeline", "timelines"]) + commonBehaviour
    }
    private static let controlMembers = [
        "template", "displayName", "description", "tint", "actionHint", "previewValue", "hasValue", "parameters",
        "reloadsSiblings", "privacySensitive", "authenticationPolicy", "promptsForUserConfiguration", "valueDeadline",
        "actionDeadline",
    ]
    private static let widgetMembers = [
        "families", "displayName", "description", "parameters", "placeholder", "promptsForUserConfiguration",
        "providesRelevance", "providesRecommendations", "supplementalFamilies", "rendering", "timelineDeadline",
        "actionDeadline",
    ]
    /// Long enough for a machine that is busy with other things.
    private static let usualDeadline: Int64 = 30_000

    /// The provider's part.
    mutating func provider(_ node: ScenarioNode) -> ProviderScript? {
        guard let entries = members(node, of: "provider", ["app", "controls", "widgets"]) else { return nil }
        var script = ProviderScript(app: defaults.app)
        for entry in entries {
            switch entry.name {
            case "app": script.app = text(entry) ?? script.app
            case let group:
                let family = group == "controls" ? "control" : "widget"
                guard let kinds = entry.value.entries, !kinds.isEmpty else {
                    note(entry.value.place, "\(group) is a mapping of kinds, and this is \(entry.value.kind)")
                    continue
                }
                script.kinds += kinds.compactMap { kind($0, family) }
            }
        }
        if script.kinds.isEmpty { note(node.place, "a provider has controls or widgets") }
        return script
    }

    private mutating func kind(_ entry: ScenarioNode.Entry, _ family: String) -> ProviderScript.Kind? {
        let isControl = family == "control"
        let behaviourMembers = Self.behaviourMembers(family)
        let known = (isControl ? Self.controlMembers : Self.widgetMembers) + behaviourMembers
        guard let members = members(entry.value, of: "a kind of \(family)", known) else { return nil }
        var declaration: RawObject = ["kind": .string(entry.name)]
        for member in members where !behaviourMembers.contains(member.name) {
            if member.name.hasSuffix("Deadline") {
                declaration[member.name] = span(member).map { .integer($0.milliseconds) }
            } else {
                declaration[member.name] = plain(member.value)
            }
        }
        let behaviour = behaviour(members, of: [family])
        if isControl {
            if declaration["template"] == nil {
                declaration["template"] = .string(behaviour.value?.bool == nil ? "button" : "toggle")
            }
            if declaration["hasValue"] == nil { declaration["hasValue"] = .bool(behaviour.value != nil) }
            if declaration["previewValue"] == nil { declaration["previewValue"] = behaviour.value }
        } else if declaration["families"] == nil {
            declaration["families"] = .array([.string("systemSmall")])
        }
        for name in isControl ? ["valueDeadline", "actionDeadline"] : ["timelineDeadline", "actionDeadline"]
        where declaration[name] == nil {
            declaration[name] = .integer(Self.usualDeadline)
        }
        return ProviderScript.Kind(family: family, name: entry.name, declaration: declaration, behaviour: behaviour)
    }

    /// A step that makes kinds answer otherwise.
    mutating func changes(_ node: ScenarioNode, of script: ProviderScript) -> [ProviderScript.Change] {
        guard let entries = members(node, of: "the provider", script.kinds.map(\.name)) else { return [] }
        if node.entries?.isEmpty == true { note(node.place, "nothing is said of how any kind answers from now on") }
        return entries.compactMap { entry in
            // A kind of both families may say what either says.
            let families = script.kinds.filter { $0.name == entry.name }.map(\.family)
            let known = families.flatMap(Self.behaviourMembers)
            let what = "a kind of \(families.joined(separator: " and "))"
            guard let members = members(entry.value, of: what, known) else { return nil }
            if entry.value.entries?.isEmpty == true {
                note(entry.value.place, "nothing is said of how '\(entry.name)' answers from now on")
            }
            return ProviderScript.Change(kind: entry.name, behaviour: behaviour(members, of: families))
        }
    }

    private mutating func behaviour(
        _ members: [ScenarioNode.Entry], of families: [String]
    ) -> ProviderScript.Behaviour {
        var behaviour = ProviderScript.Behaviour()
        let timelines = members.filter { ["timeline", "timelines"].contains($0.name) }
        if timelines.count > 1 { note(timelines[1].place, "timeline or timelines, not both") }
        for member in members {
            switch member.name {
            case "value": behaviour.value = plain(member.value)
            case "options": behaviour.options = plain(member.value)
            case "answer":
                behaviour.answer = plain(member.value).object
                if behaviour.answer == nil {
                    note(member.value.place, "answer is a mapping, and this is \(member.value.kind)")
                }
            case "timeline": behaviour.timelines = [timeline(member.value)]
            case "timelines":
                guard let elements = member.value.elements, !elements.isEmpty else {
                    note(member.value.place, "timelines is a list, and this is \(member.value.kind)")
                    continue
                }
                behaviour.timelines = elements.map { timeline($0) }
            case "delay": behaviour.delay = span(member)?.duration
            case "message": behaviour.message = text(member)
            case "fail": behaviour.failures = counts(member, of: families)
            case "silent": behaviour.silences = counts(member, of: families)
            case _: break
            }
        }
        return behaviour
    }

    private mutating func timeline(_ node: ScenarioNode) -> ScenarioTemplate {
        _ = members(node, of: "a timeline", ["entries", "policy", "needsLogin"])
        for entry in node.entries?.first(where: { $0.name == "entries" })?.value.elements ?? [] {
            _ = members(entry, of: "an entry", ["date", "content", "relevance", "url", "links"])
        }
        return template(node)
    }

    /// `perform`: once; `[value, perform]`: each as often as it is named; `{perform: 2}`: twice.
    private mutating func counts(_ member: ScenarioNode.Entry, of families: [String]) -> [String: Int] {
        let sorts = families.flatMap(ProviderScript.sorts)
        var counts: [String: Int] = [:]
        if member.value.entries?.isEmpty == true || member.value.elements?.isEmpty == true {
            note(member.value.place, "\(member.name) is \(member.value.kind): no call is named")
        }
        if let entries = member.value.entries {
            for entry in entries {
                guard let text = entry.value.text, let count = Int(text), count >= 0 else {
                    note(entry.value.place, "\(entry.name) is how many calls, and this is \(entry.value.kind)")
                    continue
                }
                checkSort(entry.name, entry.place, among: sorts)
                counts[entry.name] = count
            }
        } else {
            for node in member.value.elements ?? [member.value] {
                checkSort(node.text ?? node.kind, node.place, among: sorts)
                if let sort = node.text { counts[sort, default: 0] += 1 }
            }
        }
        return counts
    }

    private mutating func checkSort(_ name: String, _ place: ScenarioPlace, among sorts: [String]) {
        guard !sorts.contains(name) else { return }
        noteUnknown("call of a provider", name, at: place, among: sorts)
    }

    /// A value without holes: what the provider says is known before any answer is.
    private mutating func plain(_ node: ScenarioNode) -> RawJSON {
        do throws(ScenarioMiss) {
            return try template(node, isPayload: true).json(ScenarioScope(now: 0))
        } catch {
            note(node.place, "what a provider says is a value, and takes no part of an answer: \(error.text)")
            return .null
        }
    }
}
