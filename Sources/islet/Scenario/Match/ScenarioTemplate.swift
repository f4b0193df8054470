package import IsletClient
import IsletFilter

/// What names and dates mean while a scenario is played.
package struct ScenarioScope: Sendable {
    /// Domain time when the step began, which spans count from.
    package var now: Int64
    /// The answers that steps have given a name.
    package var answers: [String: RawObject] = [:]

    package init(now: Int64, answers: [String: RawObject] = [:]) {
        self.now = now
        self.answers = answers
    }
}

/// A name of an earlier answer, and the way into it: `$first`, `$first.activity.revision`.
struct ScenarioReference: Sendable, Hashable {
    var name: String
    var path: [String]

    /// As it is written.
    var text: String { "$" + ([name] + path).joined(separator: ".") }

    /// Reads `$name` and `$name.member.member`; nil for every other text.
    init?(_ text: String) {
        guard text.hasPrefix("$"), !text.hasPrefix("$$") else { return nil }
        let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, first.first?.isLetter == true,
            parts.allSatisfy({ part in
                !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
            })
        else { return nil }
        name = first
        path = Array(parts.dropFirst())
    }

    /// The value; without a path it is the id of what the answer is about.
    func value(in scope: ScenarioScope) throws(ScenarioMiss) -> RawJSON {
        guard let answer = scope.answers[name] else { throw ScenarioMiss("\(text): no step before has named that") }
        guard !path.isEmpty else {
            guard let id = ScenarioEntity.of(answer)?["id"] else {
                throw ScenarioMiss("\(text): that answer is about no entity: name a member, such as \(text).seq")
            }
            return id
        }
        var value = answer.json
        for member in path {
            guard let next = value.object?[member] else {
                throw ScenarioMiss("\(text): there is no '\(member)' in \(value.description.shortened(to: 120))")
            }
            value = next
        }
        return value
    }
}

/// Why something cannot be said or compared while a scenario is played.
struct ScenarioMiss: Error, Sendable {
    var text: String

    init(_ text: String) {
        self.text = text
    }
}

/// The entities in answers and events.
enum ScenarioEntity {
    static let families = ["activity", "control", "widget", "group"]

    /// The members that never change, and that later events therefore do not carry.
    static let constants: [String: [String]] = [
        "activity": ["app", "type", "key", "device", "attributes", "style", "pushType", "renews"],
        "control": ["app", "kind", "device", "template", "addedAt"],
        "widget": ["app", "kind", "family", "device", "addedAt"],
    ]

    /// A whole entity, in which it is told as in an event that a flag is not set.
    static func tellingMarks(of entity: RawObject, _ family: String) -> RawObject {
        var entity = entity
        for name in ScenarioReading.subjects[family]?.marks ?? [] where entity[name] == nil { entity[name] = .null }
        return entity
    }

    /// What never changes of an entity.
    static func constants(of entity: RawObject, _ family: String) -> RawObject {
        var all = RawObject()
        for name in constants[family] ?? [] { all[name] = entity[name] }
        return all
    }

    /// Whose event it is: `activity` of `activity.updated`.
    static func family(of event: String) -> String { String(event.prefix { $0 != "." }) }

    /// The entity that an answer is about.
    static func of(_ answer: RawObject) -> RawObject? {
        for family in families {
            if let entity = answer[family]?.object { return entity }
        }
        return nil
    }
}

/// JSON with holes: names of earlier answers, and dates that count from now.
indirect enum ScenarioTemplate: Sendable {
    struct Member: Sendable {
        var name: String
        var value: ScenarioTemplate
    }

    case json(RawJSON)
    case reference(ScenarioReference)
    case moment(Moment)
    case object([Member])
    case list([ScenarioTemplate])

    /// The JSON that it stands for now.
    func json(_ scope: ScenarioScope) throws(ScenarioMiss) -> RawJSON {
        switch self {
        case .json(let json): return json
        case .reference(let reference): return try reference.value(in: scope)
        case .moment(let moment): return .integer(try moment.checked(now: scope.now))
        case .object(let members):
            var all: [RawObject.Member] = []
            for member in members { all.append(.init(member.name, try member.value.json(scope))) }
            return .object(all)
        case .list(let elements):
            var all: [RawJSON] = []
            for element in elements { all.append(try element.json(scope)) }
            return .array(all)
        }
    }

    /// As people read it.
    var text: String {
        switch self {
        case .json(let json): json.string ?? json.description
        case .reference(let reference): reference.text
        case .moment(.fromNow(let milliseconds)): "now + \(TimeText.span(milliseconds))"
        case .moment(.at(let milliseconds)): TimeText.full(milliseconds)
        case .object(let members):
            "{" + members.map { "\($0.name): \($0.value.text)" }.joined(separator: ", ") + "}"
        case .list(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
        }
    }
}

extension Moment {
    /// The date, where it can be told in 64 bits.
    func checked(now: Int64) throws(ScenarioMiss) -> Int64 {
        guard let date = milliseconds(now: now) else { throw ScenarioMiss("a date beyond all dates") }
        return date
    }
}
