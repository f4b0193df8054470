import IsletClient
import IsletCore
import IsletFilter
import IsletProtocol

extension ScenarioReading {
    // MARK: States

    /// The states of what is there.
    private static func states(of family: String) -> [String] {
        (subjects[family]?.words(of: "state") ?? []).filter { $0 != "removed" }
    }

    /// What is expected of an entity that is not there.
    private static let gone = "gone"
    private static let addresses = ["key", "id", "activity", "control", "widget"]

    /// One entity, several in a list, or names with their states.
    mutating func states(_ node: ScenarioNode) -> [ScenarioCheck] {
        let checks = readStates(node)
        for check in checks {
            guard case .state(let subject, let state) = check.expectation else { continue }
            let isActivity = subject.family == "activity"
            let parts: [(what: String, role: NameRole, name: ScenarioTemplate?)] = [
                (isActivity ? "a key" : "a kind", isActivity ? .key : .kind, subject.name),
                ("an app", .app, subject.app), ("a device", .device, subject.device),
            ]
            for (index, part) in parts.enumerated() {
                switch state {
                case .gone: lookFor(part.name, part.what, index == 0 ? [part.role, .id] : [part.role], at: check.place)
                case .members: keep(part.name, part.role)
                }
            }
        }
        return checks
    }

    private mutating func readStates(_ node: ScenarioNode) -> [ScenarioCheck] {
        if node.elements?.isEmpty == true || node.entries?.isEmpty == true {
            note(node.place, "state is empty: nothing would be looked at")
        }
        if let elements = node.elements { return elements.flatMap { readStates($0) } }
        if node.text != nil, !node.isNull, let key = defaults.key {
            // Of the scenario's one activity.
            var subject = subject(family: "activity", .json(.string(key)), title: key)
            subject.isKey = true
            return [ScenarioCheck(place: node.place, expectation: .state(subject, state(node, family: "activity")))]
        }
        guard let entries = node.entries else {
            note(
                node.place,
                "state is a mapping such as {key: order-1, is: stale} or {order-1: stale}, and this is \(node.kind)")
            return []
        }
        if entries.contains(where: { Self.addresses.contains($0.name) }) || isOfDefault(entries) {
            return longState(node, entries).map { [$0] } ?? []
        }
        if let entry = entries.first(where: { Self.activityMembers.contains($0.name) }) {
            note(entry.place, "of which entity? A state says key:, id:, control: or widget:, or {order-1: stale}")
            return []
        }
        return entries.map { entry in
            let name: ScenarioTemplate =
                reference(entry.name, at: entry.place).map { .reference($0) } ?? .json(.string(entry.name))
            let subject = subject(family: "activity", name, title: entry.name)
            return ScenarioCheck(
                place: entry.place, expectation: .state(subject, state(entry.value, family: "activity")))
        }
    }

    /// Whether a mapping without an address is about the scenario's one activity.
    private func isOfDefault(_ entries: [ScenarioNode.Entry]) -> Bool {
        defaults.key != nil && entries.contains { Self.activityMembers.contains($0.name) }
    }

    /// Names that are not taken for keys.
    private static let activityMembers = [
        "is", "attributes", "contentState", "staleDate", "relevanceScore", "revision", "state", "dismissAt", "endedAt",
        "next", "cause",
    ]

    private func subject(family: String, _ name: ScenarioTemplate, title: String) -> ScenarioSubject {
        ScenarioSubject(
            family: family, name: name, app: .json(.string(defaults.app)),
            device: defaults.device.map { .json(.string($0)) }, title: title)
    }

    /// `{key: order-1, is: stale, contentState: {…}}`.
    private mutating func longState(_ node: ScenarioNode, _ entries: [ScenarioNode.Entry]) -> ScenarioCheck? {
        let found = entries.filter { Self.addresses.contains($0.name) }
        if found.count > 1 {
            note(
                found[1].place,
                "one entity at a time: '\(found[0].name)' or '\(found[1].name)'; several stand in a list")
        }
        let address = found.first
        let family = address.map { ["control", "widget"].contains($0.name) ? $0.name : "activity" } ?? "activity"
        var name = ScenarioTemplate.json(.string(defaults.key ?? ""))
        if let address {
            guard let text = address.value.text, !text.isEmpty else {
                note(address.value.place, "\(address.name) is a name, and this is \(address.value.kind)")
                return nil
            }
            name = reference(text, at: address.value.place).map { .reference($0) } ?? .json(.string(text))
        }
        var subject = subject(family: family, name, title: address?.value.text ?? defaults.key ?? "")
        switch address?.name {
        case "key", nil: subject.isKey = true
        case "id": subject.isKey = false
        case _: break
        }
        var isGone = false
        var members: [ScenarioPattern.Member] = []
        for entry in entries where !Self.addresses.contains(entry.name) {
            switch entry.name {
            case "app": subject.app = named(entry.value)
            case "device": subject.device = entry.value.isNull ? nil : named(entry.value)
            case "is":
                switch state(entry.value, family: family) {
                case .gone: isGone = true
                case .members(let state): members += state
                }
            case _: members.append(member(entry, family: family))
            }
        }
        if isGone, !members.isEmpty { note(node.place, "what is gone has no members") }
        return ScenarioCheck(
            place: node.place, expectation: .state(subject, isGone ? .gone : .members(members)))
    }

    /// A state by its name, several, or members.
    private mutating func state(_ node: ScenarioNode, family: String) -> ScenarioState {
        let known = Self.states(of: family) + [Self.gone]
        if let text = node.text, !node.isNull {
            if text == Self.gone { return .gone }
            if text != "present", !known.contains(text) {
                noteUnknown(
                    "state of \(family == "activity" ? "an" : "a") \(family)", text, at: node.place, among: known)
            }
            if text == "present" { return .members([]) }
            return .members([.init(name: "state", pattern: .equals(.json(.string(text))))])
        }
        guard let entries = node.entries else {
            note(node.place, "a state is one of \(known.joined(separator: ", ")), and this is \(node.kind)")
            return .members([])
        }
        guard !entries.isEmpty else {
            note(node.place, "a state is empty: nothing would be looked at; that it is there is 'present'")
            return .members([])
        }
        if entries.allSatisfy({ ScenarioPattern.words.contains($0.name) }) {
            check(node, .words(Self.states(of: family)), of: "state")
            return .members([.init(name: "state", pattern: pattern(node))])
        }
        var isGone = false
        var members: [ScenarioPattern.Member] = []
        for entry in entries {
            guard entry.name == "is" else {
                members.append(member(entry, family: family))
                continue
            }
            switch state(entry.value, family: family) {
            case .gone: isGone = true
            case .members(let inner): members += inner
            }
        }
        if isGone, !members.isEmpty { note(node.place, "what is gone has no members") }
        return isGone ? .gone : .members(members)
    }

    /// A member of an entity, which must be one that it can have: one that there is not is always absent.
    private mutating func member(_ entry: ScenarioNode.Entry, family: String) -> ScenarioPattern.Member {
        let known = Self.subjects[family]?.members ?? []
        if let field = known.first(where: { $0.name == entry.name }) {
            let kind = entry.name == "state" ? FilterKind.words(Self.states(of: family)) : field.kind
            check(entry.value, kind, of: entry.name)
        } else {
            noteUnknown(
                "member of \(Self.subjects[family]?.noun ?? family)", entry.name, at: entry.place,
                among: known.map(\.name))
        }
        return .init(
            name: entry.name,
            pattern: pattern(entry.value, of: entry.name, isPayload: ScenarioNames.isPayload(entry.name)))
    }

    // MARK: Events

    /// The names of all events.
    static let eventNames =
        ActivityEventName.allCases.map { "\($0.wireName)" } + ControlEventName.allCases.map { "\($0.wireName)" }
        + WidgetEventName.allCases.map { "\($0.wireName)" } + ["group.set", "group.deleted", "group.notified"]

    /// A list, in which events are in their order, or a mapping that says how strict it is.
    mutating func events(_ node: ScenarioNode) -> ScenarioCheck.Expectation? {
        if node.elements?.isEmpty == true || node.entries?.isEmpty == true { noteEmptyEvents(node) }
        if node.elements != nil || node.text != nil { return .events(eventList(node), .inOrder) }
        let orders = ScenarioEventOrder.allCases.map(\.rawValue)
        guard let entries = node.entries, !entries.contains(where: { $0.name == "event" || $0.name == "of" }) else {
            return .events([event(node)].compactMap(\.self), .inOrder)
        }
        guard let entries = members(node, of: "events", orders) else { return nil }
        guard entries.count == 1, let entry = entries.first, let order = ScenarioEventOrder(rawValue: entry.name) else {
            note(node.place, "events is a list, or one of \(orders.joined(separator: ", ")) with a list")
            return nil
        }
        if order != .exactly, entry.value.elements?.isEmpty == true { noteEmptyEvents(node) }
        return .events(eventList(entry.value), order)
    }

    private mutating func noteEmptyEvents(_ node: ScenarioNode) {
        note(node.place, "events is empty: nothing would be looked at; that none comes is 'no events: true'")
    }

    /// `true`: none at all; else those that must not come.
    mutating func noEvents(_ node: ScenarioNode) -> [ScenarioEventPattern] {
        if node.text == "true" { return [] }
        if node.text == "false" { note(node.place, "leave it out, or say which events must not come") }
        let patterns = eventList(node)
        for pattern in patterns {
            lookFor(pattern.subject, "a key or kind", NameRole.ofEvents, at: pattern.place)
            guard case .members(let members) = pattern.members else { continue }
            for member in members {
                guard case .members(let inner) = member.pattern else { continue }
                for name in inner {
                    guard let role = NameRole(member: name.name), role != .id else { continue }
                    lookFor(name.pattern, "the \(name.name)", [role], at: pattern.place)
                }
            }
        }
        return patterns
    }

    private mutating func eventList(_ node: ScenarioNode) -> [ScenarioEventPattern] {
        guard let elements = node.elements else { return [event(node)].compactMap(\.self) }
        return elements.compactMap { event($0) }
    }

    private mutating func event(_ node: ScenarioNode) -> ScenarioEventPattern? {
        if let text = node.text, !node.isNull {
            checkEvent(text, at: node.place)
            return ScenarioEventPattern(name: text, subject: nil, members: .anything, place: node.place, title: text)
        }
        guard let entries = node.entries else {
            note(node.place, "an event is its name, or a mapping with event: and members, and this is \(node.kind)")
            return nil
        }
        var pattern = ScenarioEventPattern(
            name: nil, subject: nil, members: .anything, place: node.place, title: "")
        var members: [ScenarioPattern.Member] = []
        let name = entries.first { $0.name == "event" }?.value.text
        let known = Self.members(ofEvent: name)
        for entry in entries {
            switch entry.name {
            case "event":
                pattern.name = text(entry)
                if let name = pattern.name { checkEvent(name, at: entry.value.place) }
            case "of":
                guard let text = entry.value.text, !entry.value.isNull, !text.isEmpty else {
                    note(entry.value.place, "of is a key, a kind or a $name, and this is \(entry.value.kind)")
                    continue
                }
                let reference = reference(text, at: entry.value.place)
                pattern.subject = reference.map { .reference($0) } ?? .json(Self.json(text, isPlain: false))
            case let member where known.contains(member):
                check(
                    entry.value, Self.kind(ofEvent: name, member), of: member, noun: Self.subjects[member]?.noun)
                checkEdge(entry.value, ofEvent: name, member)
                isInEvent = true
                members.append(.init(name: member, pattern: self.pattern(entry.value, of: member)))
                isInEvent = false
            case let member where Self.eventMembers.contains(member):
                note(entry.place, "\(name ?? "an event") never has '\(member)'")
            case let member:
                noteUnknown("member of an event", member, at: entry.place, among: ["event", "of"] + known)
            }
        }
        pattern.members = .members(members)
        let parts = [pattern.name ?? "an event", pattern.subject.map { "of \($0.text)" }]
        pattern.title = parts.compactMap(\.self).joined(separator: " ")
        if !members.isEmpty { pattern.title += " with \(pattern.members.text)" }
        return pattern
    }

    /// Looks for a state or a cause that other events have and this one never.
    private mutating func checkEdge(_ node: ScenarioNode, ofEvent event: String?, _ member: String) {
        guard let event, let edges = EventEdges.all[event], problems.last?.place != node.place else { return }
        checkPresence(node, ofEvent: event, member, edges)
        switch member {
        case "from": check(node, .words(edges.from), of: "state that \(event) comes from")
        case "to": check(node, .words(edges.to), of: "state that \(event) leads to")
        case "cause": check(node, .words(edges.causes), of: "cause of \(event)")
        case "activity", "control", "widget": checkEntity(node, ofEvent: event, member, edges)
        case _: break
        }
    }

    /// Looks at what is expected of an entity as its event has left it.
    private mutating func checkEntity(
        _ node: ScenarioNode, ofEvent event: String, _ family: String, _ edges: EventEdges
    ) {
        for entry in node.entries ?? [] where problems.last?.place != entry.value.place {
            switch entry.name {
            case "state": check(entry.value, .words(edges.to), of: "state that \(event) leads to")
            // A tap changes nothing: the activity keeps the cause of its last change.
            case "cause" where family == "activity" && event != "activity.tapped":
                check(entry.value, .words(edges.causes), of: "cause of \(event)")
            case "equals", "not": checkEntity(entry.value, ofEvent: event, family, edges)
            case "one of", "all of":
                for element in entry.value.elements ?? [] { checkEntity(element, ofEvent: event, family, edges) }
            case _: break
            }
        }
    }

    /// Looks for what an event is expected to be without and always has, or to have and never has.
    private mutating func checkPresence(
        _ node: ScenarioNode, ofEvent event: String, _ member: String, _ edges: EventEdges
    ) {
        if let entry = node.entries?.first, node.entries?.count == 1, entry.name == "not" {
            return checkPresence(entry.value, ofEvent: event, member, edges)
        }
        guard !event.hasPrefix("group."), let isPresent = Self.isPresence(node) else { return }
        switch member {
        case "from" where edges.from.isEmpty:
            if isPresent { note(node.place, "\(event) never has 'from'") }
        // It begins an activity, or follows its schedule.
        case "from" where event == "activity.started": break
        case "from", "to", "cause", "at", "seq", "epoch", "activity", "control", "widget":
            if !isPresent { note(node.place, "\(event) always has '\(member)'") }
        case _: break
        }
    }

    /// Whether a member is expected to be there, with whatever value; nil where something else is expected of it.
    private static func isPresence(_ node: ScenarioNode) -> Bool? {
        switch node.content {
        case .scalar("present", true): return true
        case .scalar("absent", true): return false
        case .scalar: return node.isNull ? false : nil
        case .list: return nil
        case .mapping(let entries):
            guard entries.count == 1, let entry = entries.first, ["absent", "present"].contains(entry.name),
                let isSo = json(entry.value.text ?? "", isPlain: true).bool
            else { return nil }
            return (entry.name == "present") == isSo
        }
    }

    private mutating func checkEvent(_ name: String, at place: ScenarioPlace) {
        guard !Self.eventNames.contains(name) else { return }
        noteUnknown("event", name, at: place, among: Self.eventNames)
    }
}
