import IsletClient
import IsletFilter
import IsletServer

/// What a name in a scenario is the name of.
enum NameRole: Hashable, CaseIterable {
    case app, device, group, id, key
    /// A control's or a widget's kind, and an activity's type: both stand in the same place of a topic.
    case kind

    /// By what an event is told to be of something.
    static let ofEvents: Set<NameRole> = [.group, .id, .key, .kind]

    /// What a member of an entity, or a field of a command, is the name of; nil: of nothing.
    init?(member: String) {
        switch member {
        case "app": self = .app
        case "device": self = .device
        case "group": self = .group
        case "id": self = .id
        case "key": self = .key
        case "kind", "type", "control", "widget": self = .kind
        case _: return nil
        }
    }
}

/// What a name is expected to be, or to have in it.
enum NamePart {
    case whole(String)
    case containing(String)
    /// A regular expression is found in it.
    case matching(String)

    /// As messages have it.
    var text: String {
        switch self {
        case .whole(let name): "'\(name.shortened(to: 60))'"
        case .containing(let part): "containing '\(part.shortened(to: 60))'"
        case .matching(let expression): "matching /\(expression.shortened(to: 60))/"
        }
    }

    /// Whether one of the names is so.
    func isIn(anyOf names: some Sequence<String>) -> Bool {
        switch self {
        case .whole(let text): return names.contains(text)
        case .containing(let part): return names.contains { ScenarioValue.contains($0, part) }
        case .matching(let expression):
            // One that is none is told of where it is read.
            guard let regex = try? Regex(expression) else { return true }
            return names.contains { (try? regex.firstMatch(in: $0)) != nil }
        }
    }
}

/// A name that must be known from elsewhere in the scenario.
struct SoughtName {
    var part: NamePart
    var what: String
    var roles: Set<NameRole>
    var place: ScenarioPlace
}

/// Names by which something is looked for that is not to be there: where no step does anything with it, it is misspelt.
///
/// Only what names something counts as a name, and each for what it names: a value of a user's own may be any text.
extension ScenarioReading {
    /// In bytes: no key or kind is longer.
    private static let nameMax = 256
    /// How many names are looked through for the one that may be meant.
    private static let meantMax = 1_000

    // MARK: What steps say

    private mutating func keep(_ text: String?, _ role: NameRole) {
        guard let text else { return }
        // Of an id any case is read, and the lower one written.
        said[role, default: []].insert(role == .id ? text.lowercased() : text)
    }

    /// Takes in a name that the whole scenario goes by.
    mutating func keep(_ defaults: Scenario.Defaults) {
        keep(defaults.app, .app)
        keep(defaults.type, .kind)
        keep(defaults.kind, .kind)
        keep(defaults.key, .key)
        keep(defaults.device, .device)
    }

    /// Takes in a name of what is looked at.
    mutating func keep(_ name: ScenarioTemplate?, _ role: NameRole) {
        guard case .json(let json)? = name else { return }
        keep(json.string, role)
    }

    /// Takes in what a step does something with.
    mutating func keep(_ action: ScenarioNode.Entry) {
        if Self.verbsOfActivities.contains(action.name) { keep(Self.name(action.value), .key) }
        for entry in action.value.entries ?? [] {
            guard let role = NameRole(member: entry.name) else { continue }
            keep(Self.name(entry.value), role)
        }
    }

    /// Takes in the kinds of a provider.
    mutating func keep(provider node: ScenarioNode) {
        for entry in node.entries ?? [] {
            if entry.name == "app" { keep(Self.name(entry.value), .app) }
            for kind in entry.value.entries ?? [] { keep(kind.name, .kind) }
        }
    }

    /// A name as it is written; nil: no text.
    private static func name(_ node: ScenarioNode) -> String? {
        node.text.flatMap { json($0, isPlain: false).string }
    }

    // MARK: What is looked for

    /// Takes in that nothing of this name is to be there, or to happen: the scenario must know the name from elsewhere.
    mutating func lookFor(_ name: ScenarioTemplate?, _ what: String, _ roles: Set<NameRole>, at place: ScenarioPlace) {
        guard case .json(let json)? = name, let text = json.string else { return }
        soughtNames.append(SoughtName(part: .whole(text), what: what, roles: roles, place: place))
    }

    /// Takes in that nothing is to happen to what a pattern names; of others nobody knows what they are to find.
    mutating func lookFor(_ pattern: ScenarioPattern, _ what: String, _ roles: Set<NameRole>, at place: ScenarioPlace) {
        switch pattern {
        case .equals(let name): lookFor(name, what, roles, at: place)
        case .oneOf(let patterns), .all(let patterns):
            for pattern in patterns { lookFor(pattern, what, roles, at: place) }
        case .matches(let expression):
            soughtNames.append(SoughtName(part: .matching(expression), what: what, roles: roles, place: place))
        case .contains(.equals(.json(let json))):
            guard let part = json.string else { return }
            soughtNames.append(SoughtName(part: .containing(part), what: what, roles: roles, place: place))
        case .members, .elements, .absent, .present, .isThere, .unset, .not, .compare, .contains, .count: break
        }
    }

    /// Notes the names that no step says.
    mutating func checkSoughtNames() {
        for sought in soughtNames {
            let known = sought.roles.compactMap { said[$0] }
            if known.contains(where: { sought.part.isIn(anyOf: $0) }) { continue }
            var meant: String?
            if case .whole(let text) = sought.part {
                if sought.roles.contains(.id), said[.id]?.contains(text.lowercased()) == true { continue }
                let near = known.joined().filter { $0.utf8.count <= Self.nameMax }.sorted().prefix(Self.meantMax)
                meant = Spelling.closest(to: text, among: Array(near)).map { "; did you mean '\($0)'?" }
            }
            note(
                sought.place,
                "no step does anything with \(sought.what) \(sought.part.text): nothing would be looked at"
                    + (meant ?? ""))
            guard problems.count < Self.problemsMax else { return }
        }
    }
}
